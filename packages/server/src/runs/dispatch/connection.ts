import { randomUUID } from 'node:crypto';
import type {
  EnvironmentFacts,
  LogLine,
  AttemptWaits,
  RunnerMessage,
  ServerMessage,
  Settlement,
} from '@millrace/contract/runner';
import { maxJsonLevels } from '@millrace/contract';
import { runnerMessage } from '@millrace/contract/runner';
import type { RunnerVariables } from '../../envvars/variable-cache.ts';
import { isTooDeep } from '../../json/levels.ts';
import { upTo } from '../../json/shown.ts';
import type { ConnectedRunners } from '../../runners/runners.ts';
import { ConnectedRunner } from '../../runners/runners.ts';
import { tellCanceled } from '../cancel.ts';
import type { Dispatch } from './dispatch.ts';
import type { Engine } from '../engine.ts';
import { fitOutcome } from '../complete/fit-outcome.ts';
import { detachRuns, reclaimUnheld, rescueRunner } from './rescue.ts';
import type { EndedAttempt, Settled } from '../complete/complete.ts';
import { beginWaitsWithRetry, completeWithRetry } from '../complete/with-retry.ts';
import type { BeginWaits } from '../waits/begin.ts';
import { tellMissed, type Resume } from '../waits/resume.ts';

export interface LeaseTimes {
  /** How often a runner says that it lives. Default 10,000. */
  readonly heartbeatMs: number;
  /** How long its leases outlive its last word. Default 30,000. */
  readonly leaseMs: number;
  /** How long a runner whose connection dropped may take to come back before its runs are queued again. Default 500. */
  readonly graceMs: number;
}

export const defaultLeaseTimes: LeaseTimes = { heartbeatMs: 10_000, leaseMs: 30_000, graceMs: 500 };

export interface ConnectionDependencies {
  readonly engine: Engine;
  readonly runners: ConnectedRunners;
  readonly dispatch: Dispatch;
  readonly settle: (ended: EndedAttempt) => Promise<Settled>;
  readonly beginWaits: BeginWaits;
  readonly resume: Resume;
  readonly keepLines: (env: number, lines: readonly LogLine[]) => Promise<void>;
  /** A run has ended that had taken the messages of these sessions up to these numbers. Never rejects. */
  readonly heard: (env: number, run: string, heard: NonNullable<Settlement['heard']>) => Promise<void>;
  readonly variables: (env: number) => Promise<RunnerVariables>;
  readonly times: LeaseTimes;
  /** True once the server is closing: a connection that ends then is our doing, and its runner will be back. */
  readonly closing: () => boolean;
}

/** The socket as the protocol needs it; the WebSocket library stays in `http/`. */
export interface RunnerSocket {
  send(message: ServerMessage): void;
  close(): void;
}

export interface RunnerConnection {
  /** Resolves, if it takes time, when the message has been dealt with. Never rejects. */
  receive(text: string): Promise<void> | undefined;
  /** Whether messages of the runner, its heartbeats too, are left unread for now. */
  unread(isUnread: boolean): void;
  ended(): void;
}

/** How many frames of lines a runner may send ahead of their storage, so that nothing else waits long behind them. */
const logFrames = 4;

/** What a runner holds by the database's account. */
interface LeasedRow {
  readonly run_id: string;
  readonly fence: string;
  /** Of its suspension, if it is suspended. */
  readonly spell: string | null;
  readonly task: string;
}

/** Serves one runner's connection, from `hello` to its end. Messages are handled in the order in which they came. */
export function serveRunner(
  dependencies: ConnectionDependencies,
  env: number,
  environment: EnvironmentFacts,
  socket: RunnerSocket,
): RunnerConnection {
  const { engine, runners, dispatch, resume, keepLines, variables, times, closing } = dependencies;
  const connection = randomUUID();
  let runner: ConnectedRunner | undefined;
  let knowsLogged = false;
  let open = true;
  let unreadTimer: NodeJS.Timeout | undefined;
  const sure = { ...dependencies, isOver: () => closing() || !open };
  let greeting: Promise<void> = Promise.resolve();

  const refuse = (reason: string, retry: boolean): void => {
    socket.send({ type: 'refused', reason, retry });
    socket.close();
  };

  const failed = (error: unknown): void => engine.log.warn('runner.refused', { env, error: String(error) });

  /** This connection is over: its runner's attempts are taken back, unless it has another one by then. */
  const rescueUnlessBack = (id: string): void => {
    setTimeout(() => {
      if (!closing()) rescueRunner(dependencies, id, connection).catch(failed);
    }, times.graceMs);
  };

  const greet = async (hello: Extract<RunnerMessage, { type: 'hello' }>): Promise<void> => {
    const { sql, clock, versions, log } = engine;
    const now = clock.now();
    const ids = await versions.ids(env, hello.versions);
    const [row] = await sql<{ id: string }[]>`
      insert into runners (id, env, host, pid, connection, connected_at, expires_at, versions)
      values (${hello.runner}, ${env}, ${hello.host}, ${hello.pid}, ${connection}, ${new Date(now)},
              ${new Date(now + times.leaseMs)}, ${[...ids.values()]}::int[])
      on conflict (id) do update set connection = excluded.connection, connected_at = excluded.connected_at,
                                     expires_at = excluded.expires_at, versions = excluded.versions
        where runners.env = excluded.env
      returning id`;
    if (!row) return refuse('A runner of another environment has this id.', false);
    const joined = new ConnectedRunner(
      hello.runner,
      env,
      hello.capacity,
      new Set(ids.values()),
      (message) => {
        if (open) socket.send(message);
      },
    );
    // In one statement: a run that is resumed between two would be missed by both, and its code be given up.
    const leased = await sql<LeasedRow[]>`
      select l.run_id, l.fence, l.spell, r.task
        from (select env, run_id, fence, null as spell from leases where runner_id = ${hello.runner}
              union all
              select env, run_id, fence, spell from suspended where runner_id = ${hello.runner}) l
        join runs r on r.env = l.env and r.id = l.run_id`;
    const stillHeld = new Set(hello.held);
    for (const { run_id: run, task, spell, fence: text } of leased) {
      const fence = Number(text);
      if (!stillHeld.has(fence)) continue;
      joined.held.set(fence, { env, run, task });
      if (spell !== null) joined.suspend(fence, Number(spell));
    }
    // What was leased to it over an older connection and never arrived.
    await reclaimUnheld(dependencies, hello.runner, hello.held, now);
    const taught = await variables(env);
    joined.revision = taught.revision ?? 0;
    if (!open) return rescueUnlessBack(hello.runner);
    const before = runners.get(hello.runner);
    if (before) runners.remove(before);
    runner = joined;
    knowsLogged = hello.knowsLogged === true;
    joined.send({
      type: 'welcome',
      heartbeatMs: times.heartbeatMs,
      leaseMs: times.leaseMs,
      ...(knowsLogged && { logFrames }),
      now: clock.now(),
      lost: hello.held.filter((fence) => !joined.held.has(fence)),
      ...taught,
      environment,
    });
    runners.add(joined);
    log.info('runner.connected', {
      runner: hello.runner,
      host: hello.host,
      pid: hello.pid,
      env,
      held: joined.held.size,
    });
    dispatch.wake(env);
    resume(env);
    // Only now: who cancels from here on finds it connected, and before that told nobody.
    await tellCanceled(sql, joined);
  };

  const settleAll = async (present: ConnectedRunner, settlements: readonly Settlement[]): Promise<void> => {
    const fences: number[] = [];
    const stale: number[] = [];
    await Promise.all(
      settlements.map(async (settlement) => {
        const held = present.held.get(settlement.fence);
        const settled =
          held &&
          (await completeWithRetry(sure, {
            ...settlement,
            outcome: fitOutcome(settlement.outcome),
            ...held,
          }));
        present.release(settlement.fence);
        // Also when it was settled before: whoever did that may have got no further.
        if (settlement.heard) await dependencies.heard(env, settlement.run, settlement.heard);
        (settled && !settled.stale ? fences : stale).push(settlement.fence);
      }),
    );
    present.send({ type: 'settled', fences, stale });
    dispatch.slotsFreed(env);
  };

  const beginAll = async (present: ConnectedRunner, attempts: readonly AttemptWaits[]): Promise<void> => {
    const waited = await Promise.all(
      attempts.map((one) => beginWaitsWithRetry(sure, present, { ...one, env })),
    );
    present.tellWaited(waited);
    for (const { fence, state } of waited) if (state === 'stale') present.release(fence);
    if (waited.some(({ state }) => state === 'suspended')) dispatch.slotsFreed(env);
  };

  const log = async (present: ConnectedRunner, lines: readonly LogLine[]): Promise<void> => {
    try {
      await keepLines(env, lines);
    } finally {
      if (knowsLogged) present.send({ type: 'logged' });
    }
  };

  const detach = async (present: ConnectedRunner, fences: readonly number[]): Promise<void> => {
    for (const fence of fences) present.release(fence);
    await detachRuns(dependencies, present.id, fences);
  };

  const heartbeat = async (present: ConnectedRunner): Promise<void> => {
    const { sql, clock } = engine;
    const now = clock.now();
    const [row] = await sql`
      update runners set expires_at = ${new Date(now + times.leaseMs)}
       where id = ${present.id} and connection = ${connection} returning id`;
    // Rescued in the meantime: it must say again what it holds.
    if (!row) return refuse('This runner was taken for lost. Connect again.', true);
    const arrivedUntil = present.arrivedUntil(now - times.heartbeatMs);
    await reclaimUnheld(dependencies, present.id, [...present.held.keys()], arrivedUntil);
    await tellMissed(sql, present);
    await tellCanceled(sql, present);
  };

  const serve = async (present: ConnectedRunner, versions: readonly string[]): Promise<void> => {
    const ids = [...(await engine.versions.ids(env, versions)).values()];
    present.versions = new Set(ids);
    await engine.sql`
      update runners set versions = ${ids}::int[] where id = ${present.id} and connection = ${connection}`;
    engine.versions.forget(env);
    dispatch.wake(env);
  };

  const handle = (
    message: Exclude<RunnerMessage, { type: 'hello' }>,
    present: ConnectedRunner,
  ): Promise<void> | undefined => {
    switch (message.type) {
      case 'settle':
        return settleAll(present, message.settlements);
      case 'log':
        return log(present, message.lines);
      case 'wait':
        return beginAll(present, message.attempts);
      case 'detach':
        return detach(present, message.fences);
      case 'heartbeat':
        return heartbeat(present);
      case 'serve':
        return serve(present, message.versions);
      case 'capacity':
        present.capacity = message.capacity;
        dispatch.slotsFreed(env);
        return undefined;
      case 'drain':
        present.draining = true;
        return undefined;
    }
  };

  return {
    receive(text) {
      const message = readMessage(text);
      if (!message) {
        refuse('A message could not be read.', false);
        return undefined;
      }
      if (message.type === 'hello') {
        greeting = greet(message).catch((error: unknown) => {
          failed(error);
          refuse('The server could not take this runner on. Connect again.', true);
        });
        return greeting;
      }
      if (runner) return handle(message, runner)?.catch(failed);
      return greeting.then(() => (runner ? handle(message, runner) : undefined)).catch(failed);
    },
    unread(isUnread) {
      clearInterval(unreadTimer);
      // It is not silent: we do not listen. What it holds must not be given to others for that.
      if (!isUnread || !open) return;
      unreadTimer = setInterval(() => {
        if (runner) heartbeat(runner).catch(failed);
      }, times.heartbeatMs);
    },
    ended() {
      open = false;
      clearInterval(unreadTimer);
      const gone = runner;
      if (!gone) return;
      runners.remove(gone);
      if (closing()) return;
      const left = gone.draining && gone.held.size === 0;
      if (left) engine.log.info('runner.left', { runner: gone.id, env });
      else engine.log.warn('runner.lost', { runner: gone.id, env, held: gone.held.size });
      rescueUnlessBack(gone.id);
    },
  };
}

function readMessage(text: string): RunnerMessage | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    // What tasks threw or told may be nested to any depth; what comes of it must end their runs all the same.
    return runnerMessage(isTooDeep(text) ? upTo(maxJsonLevels, frame) : frame);
  } catch {
    return undefined;
  }
}
