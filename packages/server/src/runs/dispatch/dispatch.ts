import { background } from '../../background.ts';
import type { Assignment } from '@millrace/contract/runner';
import type { Sql } from '../../db/connect.ts';
import type { Timer } from '../../jobs/timer.ts';
import type { ConnectedRunner, ConnectedRunners } from '../../runners/runners.ts';
import type { CurrentVersion } from '../../versions/versions.ts';
import { claimRuns, firstCursor } from './claim.ts';
import { pinsFor, versionsToLoad } from './eligible.ts';
import { readReady, WaitingVersions } from './waiting-versions.ts';
import type { Engine } from '../engine/engine.ts';

/** A free runner slot, reserved for a run that is being written. Must be accepted or declined, once. */
export interface Offer {
  readonly runner: string;
  /** The version that the run would execute on. */
  readonly version: number;
  accept(assignment: Promise<Assignment>): void;
  decline(): void;
}

export interface Dispatch {
  /**
   * A slot for a run that would otherwise be queued, if a runner of this process is free and no run waits ahead of it. `pinned` is the id of
   * the version that the run is pinned to, 0 for none: only runs of the current version are handed over.
   */
  offer(env: number, pinned: number): Offer | undefined;
  /** Runs were queued, a slot of a limited queue became free, or a runner connected. Claims again, in this process and the others. */
  wake(env: number): void;
  /**
   * The current version or the set of fetched ones may have changed. Claims again in this process and notifies runners of the versions to
   * load.
   */
  versionsChanged(env: number): void;
  /** A runner of this environment has free slots again. Claims if runs are left. */
  slotsFreed(env: number): void;
  /** Schedules a wake-up for this time (milliseconds by the database's clock). */
  expect(at: number): void;
  stop(): Promise<void>;
}

export interface DispatchDependencies {
  readonly engine: Engine;
  /** Separate connections, so that claims never wait behind the queries of requests. */
  readonly engineSql: Sql;
  readonly runners: ConnectedRunners;
  /** The promoter's timer. */
  readonly timer: Timer;
  readonly isPaused?: () => boolean;
}

/** Maximum runs of one claim. */
const maxClaimed = 500;
/** Poll interval, because wake-ups may be lost. */
const pollMs = 1_000;

interface Ring {
  /** Where the next claim continues in the environment's ring of lanes. */
  cursor: string;
  /** Incremented by every wake-up. An empty claim counts only if there was no wake-up since it began. */
  epoch: number;
  /** When the last wake-up arrived: monotonic milliseconds. */
  wokenAt: number;
  /** Runners for which no more runs wait in this epoch. */
  readonly drained: Set<ConnectedRunner>;
  claiming: Promise<void> | undefined;
}

/**
 * Delivers waiting runs to the runners connected to this process, as long as a runner has free slots and its last claim was full. Each
 * environment has one claim at a time: claims of one environment are serialized in the database anyway.
 */
export function createDispatch({
  engine,
  engineSql,
  runners,
  timer,
  isPaused = () => false,
}: DispatchDependencies): Dispatch {
  const rings = new Map<number, Ring>();
  let stopped = false;

  const ringOf = (env: number): Ring => {
    let ring = rings.get(env);
    if (!ring) {
      ring = { cursor: firstCursor, epoch: 0, wokenAt: 0, drained: new Set(), claiming: undefined };
      rings.set(env, ring);
    }
    return ring;
  };

  /** Sends attempts to a runner and notifies subscribers that the runs now execute. */
  const assign = (runner: ConnectedRunner, assignments: readonly Assignment[]): void => {
    const { changes } = engine;
    runner.assign(assignments);
    if (!changes.isWatched(runner.env)) return;
    changes.changed(
      runner.env,
      assignments.map(({ run }) => run),
    );
  };

  const pinsOf = async (
    env: number,
    { wokenAt }: Ring,
    runner: ConnectedRunner,
    current: CurrentVersion | undefined,
  ): Promise<number[]> => {
    const fetchable = runner.properties ? await engine.versions.fetchable(env) : [];
    return pinsFor({
      runner,
      others: runners.in(env),
      current,
      fetchable,
      waiting: runner.properties ? await waiting.in(env, wokenAt) : runner.versions,
      now: engine.clock.now(),
    });
  };

  /** Notifies fetching runners of the versions to load, if the list has changed. */
  const notifyVersionsToLoad = async (env: number): Promise<void> => {
    const fetching = [...runners.in(env)].filter(({ properties }) => properties !== undefined);
    if (fetching.length === 0) return;
    const current = await engine.versions.current(env);
    const fetchable = await engine.versions.fetchable(env);
    for (const runner of fetching) {
      const versions = versionsToLoad(
        runner,
        current,
        fetchable,
        engine.clock.now(),
        engine.versions.requested(env),
      ).map(({ version }) => version);
      const toLoad = versions.join();
      if (toLoad === runner.toLoad) continue;
      runner.toLoad = toLoad;
      runner.send({ type: 'load', versions });
    }
  };

  const claim = async (env: number, ring: Ring): Promise<void> => {
    for (;;) {
      const runner = freest(runners.in(env), (candidate) => !ring.drained.has(candidate));
      if (!runner || stopped || isPaused()) return;
      const { epoch } = ring;
      const current = await engine.versions.current(env);
      const pins = await pinsOf(env, ring, runner, current);
      const want = Math.min(maxClaimed, runner.free);
      if (want <= 0) continue;
      const leased = runner.leasing(engine.clock.now());
      try {
        const { assignments, cursor } = await claimRuns(
          engine,
          engineSql,
          runner,
          current && (runner.versions.has(current.id) || pins.includes(current.id)) ? current.id : undefined,
          pins,
          want,
          ring.cursor,
        );
        ring.cursor = cursor;
        if (assignments.length > 0) assign(runner, assignments);
        if (assignments.length < want && ring.epoch === epoch) ring.drained.add(runner);
      } finally {
        leased();
      }
    }
  };

  const start = (env: number): void => {
    const ring = ringOf(env);
    if (ring.claiming || stopped || isPaused()) return;
    ring.claiming = claim(env, ring).then(
      () => {
        ring.claiming = undefined;
        // A wake-up may have arrived after the last read of the claim.
        if (!isPaused() && freest(runners.in(env), (candidate) => !ring.drained.has(candidate))) start(env);
      },
      (error: unknown) => {
        ring.claiming = undefined;
        // The runs are still waiting; the poll or the next wake-up tries again.
        engine.log.warn('dispatch.failed', { env, error: String(error) });
      },
    );
  };

  const wake = (env: number): void => {
    const ring = ringOf(env);
    ring.epoch++;
    ring.wokenAt = performance.now();
    ring.drained.clear();
    start(env);
    // If this fails, the next poll does it.
    notifyVersionsToLoad(env).catch((error: unknown) =>
      engine.log.warn('dispatch.failed', { env, error: String(error) }),
    );
  };
  const waiting = new WaitingVersions(engineSql, (env) => wake(env));

  /**
   * Whether the environment's runners load nothing ahead of time, so that without runs there is nothing to do. Of hundreds of branches, most
   * are idle.
   */
  const isIdle = (env: number): boolean =>
    engine.versions.requested(env).length === 0 && [...runners.in(env)].every(({ isOnDemand }) => isOnDemand);
  const pollAll = async (): Promise<void> => {
    const environments = [...runners.environments()];
    const idle = environments.filter(isIdle);
    for (const env of environments) if (!idle.includes(env)) wake(env);
    if (idle.length > 0) for (const env of await readReady(engineSql, idle)) wake(env);
  };
  const stopPolling = background(pollMs, pollAll, (error) =>
    engine.log.warn('dispatch.failed', { error: String(error) }),
  );

  engine.wakes.listen((message) => {
    if (message.kind === 'queued' && runners.in(message.env).size > 0) wake(message.env);
  });

  return {
    offer(env, pinned) {
      const ring = rings.get(env);
      // During a claim, runs may be waiting, in which case the order of the lanes takes precedence over the order of the calls.
      if (!ring || ring.claiming || isPaused()) return undefined;
      const current = engine.versions.current(env);
      if (!current || current instanceof Promise) return undefined;
      if (pinned !== 0 && pinned !== current.id) return undefined;
      // During a canary, the run's version depends on its id, so the decision is left to a claim.
      if (current.canary) return undefined;
      const runner = freest(
        runners.in(env),
        (candidate) => candidate.versions.has(current.id) && ring.drained.has(candidate),
      );
      if (!runner) return undefined;
      runner.promised++;
      const leased = runner.leasing(engine.clock.now());
      const release = (): void => {
        runner.promised--;
        leased();
      };
      return {
        runner: runner.id,
        version: current.id,
        accept(assignment) {
          assignment.then(
            (ready) => {
              release();
              assign(runner, [ready]);
            },
            (error: unknown) => {
              release();
              // The lease remains, but the runner's next heartbeat does not name it, so it is reclaimed.
              engine.log.warn('dispatch.failed', { env, error: String(error) });
            },
          );
        },
        decline: release,
      };
    },
    wake(env) {
      wake(env);
      engine.wakes.notify({ kind: 'queued', env });
    },
    versionsChanged: wake,
    slotsFreed: start,
    expect: (at) => timer.wakeAt(at),
    async stop() {
      stopped = true;
      stopPolling();
      waiting.stop();
      for (const ring of rings.values()) await ring.claiming;
    },
  };
}

function freest(
  candidates: ReadonlySet<ConnectedRunner>,
  suits: (runner: ConnectedRunner) => boolean,
): ConnectedRunner | undefined {
  let best: ConnectedRunner | undefined;
  for (const runner of candidates) {
    if (runner.free > 0 && suits(runner) && (!best || runner.free > best.free)) best = runner;
  }
  return best;
}
