import { escapeIdentifier, type Client } from 'pg';
import { openClient, type ConnectionConfig } from './config.ts';

export interface Listening {
  unlisten(): Promise<void>;
}

const againMs = 250;

/** Listens on a channel over a connection of its own. While that is lost nothing is heard; it is made again until `unlisten`. */
export async function listenOn(
  opening: ConnectionConfig,
  channel: string,
  hear: (payload: string) => void,
): Promise<Listening> {
  let stopped = false;
  let client: Client | undefined;

  const open = async (): Promise<void> => {
    const next = new opening.Client({ ...opening.config, keepAlive: true });
    client = next;
    next.on('notification', ({ payload }) => hear(payload ?? ''));
    // Its end follows.
    next.on('error', () => {});
    next.on('end', () => void reopen());
    await openClient(next, opening);
    await next.query(`listen ${escapeIdentifier(channel)}`);
  };

  const reopen = async (): Promise<void> => {
    if (stopped) return;
    await new Promise((resolve) => setTimeout(resolve, againMs).unref());
    // A failed attempt ends its client, which brings us here again.
    if (!stopped) await open().catch(() => client?.end());
  };

  try {
    await open();
  } catch (error) {
    // Nobody has anything to end it with.
    stopped = true;
    client?.end().catch(() => {});
    throw error;
  }
  return {
    async unlisten() {
      stopped = true;
      await client?.end();
    },
  };
}
