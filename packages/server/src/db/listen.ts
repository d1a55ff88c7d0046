import { escapeIdentifier, type Client } from 'pg';
import { openClient, type ConnectionConfig } from './config.ts';

export interface Listening {
  unlisten(): Promise<void>;
}

const reconnectMs = 250;

/** Listens on a channel over a separate connection, reopened when it is lost. Notifications sent in between are lost. */
export async function listenOn(
  opening: ConnectionConfig,
  channel: string,
  onNotification: (payload: string) => void,
): Promise<Listening> {
  let stopped = false;
  let client: Client | undefined;

  const open = async (): Promise<void> => {
    const next = new opening.Client({ ...opening.config, keepAlive: true });
    client = next;
    next.on('notification', ({ payload }) => onNotification(payload ?? ''));
    // `end` follows.
    next.on('error', () => {});
    next.on('end', () => void reopen());
    await openClient(next, opening);
    await next.query(`listen ${escapeIdentifier(channel)}`);
  };

  const reopen = async (): Promise<void> => {
    if (stopped) return;
    await new Promise((resolve) => setTimeout(resolve, reconnectMs).unref());
    // Ending the client of a failed attempt emits `end`, which calls this again.
    if (!stopped) await open().catch(() => client?.end());
  };

  try {
    await open();
  } catch (error) {
    // The caller receives no function to stop it.
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
