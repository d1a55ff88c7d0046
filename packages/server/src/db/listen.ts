import { setTimeout as sleep } from 'node:timers/promises';
import { escapeIdentifier, type Client } from 'pg';
import { background } from '../background.ts';
import { openClient, type ConnectionConfig } from './config.ts';
import { answered, destroy } from './watch.ts';

export interface Listening {
  /** How many times the connection was reopened. */
  readonly reopened: number;
  /** Replaces a connection that is open but receives no notifications. */
  reopen(): void;
  unlisten(): Promise<void>;
}

const reconnectMs = 250;
const pulseMs = 2_000;

/**
 * Listens on a channel over a separate connection, reopened when it is lost. Notifications sent in between are lost.
 *
 * The connection also serves as a heartbeat: it repeats its `listen` every two seconds. If the reply does not arrive, the host is
 * considered silent, and all connections of this process to it are destroyed. The statement writes nothing, so it never waits for a
 * standby.
 */
export const listenOn = (
  opening: ConnectionConfig,
  channel: string,
  onNotification: (payload: string) => void,
): Promise<Listening> => keepOpen(opening, `listen ${escapeIdentifier(channel)}`, onNotification);

/** Only the heartbeat, for a pooler that no listener uses. */
export const startPulse = (opening: ConnectionConfig): Promise<Listening> => keepOpen(opening, 'select');

async function keepOpen(
  opening: ConnectionConfig,
  statement: string,
  onNotification: (payload: string) => void = () => {},
): Promise<Listening> {
  let stopped = false;
  let client: Client | undefined;
  let isOpen = false;
  let reopened = -1;

  const open = async (): Promise<void> => {
    const next = new opening.Client(opening.config);
    client = next;
    next.on('end', () => {
      if (client !== next) return;
      isOpen = false;
      void reopen();
    });
    await openClient(next, opening);
    next.on('notification', ({ payload }) => onNotification(payload ?? ''));
    await answered(next, 'pulse', next.query(statement));
    isOpen = true;
    reopened++;
  };

  let isReopening = false;
  /** Tries until it succeeds. A failed attempt emits `end` only if it had begun to connect. */
  const reopen = async (): Promise<void> => {
    if (isReopening) return;
    isReopening = true;
    while (!stopped && !isOpen) {
      await sleep(reconnectMs, undefined, { ref: false });
      if (!stopped) await open().catch(drop);
    }
    isReopening = false;
  };

  const drop = (): void => {
    if (client) destroy(client);
  };

  const beat = async (): Promise<void> => {
    if (isOpen && client) await answered(client, 'pulse', client.query(statement));
  };

  try {
    await open();
  } catch (error) {
    // The caller receives no function to stop it.
    stopped = true;
    drop();
    throw error;
  }
  // Also reconnects if the statement fails, for example because the primary became a standby.
  const stopPulse = background(pulseMs, beat, drop);
  return {
    get reopened() {
      return reopened;
    },
    reopen() {
      if (isOpen) drop();
    },
    async unlisten() {
      stopped = true;
      stopPulse();
      await Promise.race([client?.end(), sleep(1_000, undefined, { ref: false })]);
      drop();
    },
  };
}
