import { background } from '../../background.ts';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { Wakes } from '../../db/wake.ts';
import type { Log } from '../../logger.ts';

/** Whether this installation is paused, as cached by this process. The table `installation` is authoritative; all servers follow it. */
export interface Pause {
  /** When the pause began. */
  readonly since: Date | null;
  /** Calls `changed` after each change. */
  onChange(changed: () => void): void;
  /** Reads the table again after a change by this process and notifies the other processes. */
  refresh(): Promise<void>;
  stop(): void;
}

/** Poll interval, because wake-ups may be lost. */
const pollMs = 1_000;

/** Pauses the installation if requested, and reads whether it is paused, before anything is started. */
export async function startPause(
  { sql, wakes, clock, log }: { sql: Sql; wakes: Wakes; clock: Clock; log: Log },
  { pauseNow }: { readonly pauseNow: boolean },
): Promise<Pause> {
  const listeners: (() => void)[] = [];
  let since: Date | null = null;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    const [row] = await sql<{ paused_at: Date | null }[]>`select paused_at from installation`;
    const was = since;
    since = row?.paused_at ?? null;
    if ((was === null) === (since === null)) return;
    if (since === null) log.info('server.resumed');
    else log.warn('server.paused', { since: since.toISOString() });
    for (const changed of listeners) changed();
  };
  /** One read at a time, so that a late result does not overwrite a newer one. */
  const readInTurn = (): Promise<void> => {
    const next = (reading ?? Promise.resolve()).catch(() => {}).then(read);
    reading = next;
    return next;
  };
  const warn = (): void => log.warn('database.lost', { at: 'pause' });

  if (pauseNow) {
    await sql`update installation set paused_at = ${new Date(clock.now())} where paused_at is null`;
    wakes.notify({ kind: 'pause' });
  }
  await readInTurn();
  wakes.listen(({ kind }) => {
    if (kind === 'pause') readInTurn().catch(warn);
  });
  const stop = background(pollMs, readInTurn, warn);
  return {
    get since() {
      return since;
    },
    onChange: (changed) => void listeners.push(changed),
    async refresh() {
      wakes.notify({ kind: 'pause' });
      await readInTurn();
    },
    stop,
  };
}
