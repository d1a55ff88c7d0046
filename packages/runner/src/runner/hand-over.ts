import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Dispatch } from './dispatch.ts';
import type { ReleasedRuns, RunnerEvents } from './options.ts';
import type { Outbox } from './outbox.ts';

/** Milliseconds to deliver the last outcomes when the runner stops. */
const flushMs = 1_500;
/** The same limit when it must stop immediately. */
const hurriedFlushMs = 400;

export interface HandOver {
  readonly connection: Connection;
  readonly dispatch: Dispatch;
  readonly outbox: Outbox;
  readonly events: RunnerEvents;
  /** How long runs may take to finish, in milliseconds. */
  readonly waitMs: number;
  /** Resolves when the wait should end early, except for a moment to deliver the last outcomes. */
  readonly hurried: Promise<unknown>;
  /** Resolves when the server has rejected this runner, so there is nothing to hand over to. */
  readonly ended: Promise<unknown>;
}

/** Waits for executing runs, returns the other and unfinished ones, and delivers the outcomes. */
export async function handOver({
  connection,
  dispatch,
  outbox,
  events,
  waitMs,
  hurried,
  ended,
}: HandOver): Promise<void> {
  const notify = (why: ReleasedRuns['why'], runs: readonly string[]): void => {
    if (runs.length > 0) events.onReleased?.({ why, runs });
  };
  const after = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
  connection.send({ type: 'drain' });
  notify('notStarted', dispatch.releaseWaiting(0));
  dispatch.detachSuspended();
  events.onStopping?.({ runs: dispatch.runs, waitMs });
  await Promise.race([dispatch.emptied(), ended, hurried, after(waitMs)]);
  notify('unfinished', dispatch.unfinished);
  const closed = dispatch.close();
  await Promise.race([
    closed.then(() => outbox.emptied()),
    ended,
    after(flushMs),
    hurried.then(() => after(hurriedFlushMs)),
  ]);
  if (outbox.runs.length > 0) events.onUnconfirmed?.(outbox.runs);
  // The connection ends last, when no code runs here any longer and the server may assign the remaining attempts to others.
  await closed;
}
