import type { OutboxItem } from '@millrace/contract';
import { connect, type Database } from '../db/connect.ts';
import type { Delivered } from './deliver.ts';
import { environmentOfOutbox, lockOutbox, nextRows, finishRows } from './rows.ts';

export interface DrainOptions {
  /** The database that contains the outbox. */
  readonly database: Database;
  /** The public id of the environment that `send` delivers to. */
  readonly environment: string;
  /** Sends rows to a server, which creates each run exactly once. Rejects if the outcome is unknown; the rows are then resent. */
  readonly send: (items: readonly OutboxItem[]) => Promise<readonly Delivered[]>;
  /** Ends when no rows wait. Default: wait for more until `signal`. */
  readonly once?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly onDelivered?: (results: readonly Delivered[]) => void;
  /** Called for a failure that may be temporary; true to retry. */
  readonly onError: (error: unknown) => boolean;
}

/** The outbox cannot be drained this way. The message contains the fix. */
export class OutboxRefused extends Error {
  override name = 'OutboxRefused';
}

const pollMs = 1_000;

/**
 * Delivers the rows of an outbox in a database other than the server's. A row is deleted after the server has confirmed it. If the process
 * dies in between, the row remains and is resent. A commit's notification starts the next read; without one it polls once a second.
 */
export async function drainOutbox(options: DrainOptions): Promise<void> {
  const { database, environment, once, signal, onError } = options;
  const sql = connect(database, { name: 'millrace-outbox', max: 2 });
  let wake = (): void => {};
  let isWoken = false;
  const woken = (): void => {
    isWoken = true;
    wake();
  };
  signal.addEventListener('abort', woken);
  const pause = async (): Promise<void> => {
    if (isWoken || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pollMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  // Without notifications, the poll finds every row.
  const listening = once ? undefined : await sql.listen('millrace', woken).catch(() => undefined);
  try {
    while (!signal.aborted) {
      isWoken = false;
      try {
        refuseOtherEnvironment(await environmentOfOutbox(sql), environment);
        const count = await deliverNext(sql, options);
        if (count !== undefined && count > 0) continue;
        if (once && count === 0) return;
      } catch (error) {
        if (error instanceof OutboxRefused || !onError(error)) throw error;
        // Waits first; otherwise a commit would trigger the next attempt.
        isWoken = false;
      }
      await pause();
    }
  } finally {
    signal.removeEventListener('abort', woken);
    await listening?.unlisten().catch(() => {});
    await sql.end({ timeout: 1 });
  }
}

function refuseOtherEnvironment(found: string | undefined, expected: string): void {
  if (found === expected) return;
  throw new OutboxRefused(
    `The outbox of this database belongs to the environment ${found ?? '(none)'}, but the key is for ${expected}. Use a key of the environment of the outbox, ` +
      'or update millrace.outbox_settings.',
  );
}

/** Number of rows sent; undefined while another process is delivering. */
async function deliverNext(
  sql: ReturnType<typeof connect>,
  { send, onDelivered }: DrainOptions,
): Promise<number | undefined> {
  const results: readonly Delivered[] | undefined = await sql.begin(async (tx) => {
    if (!(await lockOutbox(tx))) return undefined;
    const rows = await nextRows(tx);
    if (rows.length === 0) return [];
    const delivered = await send(rows);
    await finishRows(tx, delivered);
    return delivered;
  });
  if (results && results.length > 0) onDelivered?.(results);
  return results?.length;
}
