import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Dispatch } from './dispatch.ts';
import type { GivenBack, RunnerEvents } from './options.ts';
import type { Outbox } from './outbox.ts';

/** Milliseconds to deliver the last outcomes when the runner stops. */
const flushMs = 1_500;
/** The same when it must stop at once. */
const hurriedFlushMs = 400;

export interface HandOver {
  readonly connection: Connection;
  readonly dispatch: Dispatch;
  readonly outbox: Outbox;
  readonly events: RunnerEvents;
  /** For how long runs may finish. */
  readonly waitMs: number;
  /** Resolves when nothing is to be waited for any more, but the last outcomes for a moment. */
  readonly hurried: Promise<unknown>;
  /** Resolves when the server has refused this runner: there is nobody to hand over to. */
  readonly ended: Promise<unknown>;
}

/** Waits for the runs that execute, gives back the others and those that do not finish, and delivers what came of them. */
export async function handOver({
  connection,
  dispatch,
  outbox,
  events,
  waitMs,
  hurried,
  ended,
}: HandOver): Promise<void> {
  const tell = (why: GivenBack['why'], runs: readonly string[]): void => {
    if (runs.length > 0) events.onGivenBack?.({ why, runs });
  };
  const after = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
  connection.send({ type: 'drain' });
  tell('notStarted', dispatch.giveBack(0));
  dispatch.letGo();
  events.onStopping?.({ runs: dispatch.runs, waitMs });
  await Promise.race([dispatch.emptied(), ended, hurried, after(waitMs)]);
  tell('unfinished', dispatch.unfinished);
  const closed = dispatch.close();
  await Promise.race([
    closed.then(() => outbox.emptied()),
    ended,
    after(flushMs),
    hurried.then(() => after(hurriedFlushMs)),
  ]);
  if (outbox.runs.length > 0) events.onUnconfirmed?.(outbox.runs);
  // The connection ends last: by then no code runs here, and the server may give what is left to others.
  await closed;
}
