import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { version } from '@millrace/platform';
import { BranchRunners } from './branch-runners.ts';
import { Connection } from './connection.ts';
import { startGuard } from './guard.ts';
import { defaultConcurrency, defaultStopMs } from './options.ts';
import type { Runner, RunnerEvents, RunnerOptions } from './options.ts';
import { Slots } from './slots.ts';
import { withResolvers } from '../with-resolvers.ts';
import { startRunner } from './start.ts';

export interface PreviewsOptions extends Omit<RunnerOptions, 'branch' | 'folder' | 'events'> {
  /** Events of the connection that receives the list of branches. */
  readonly events?: Pick<RunnerEvents, 'onState' | 'onStopRequested'>;
  /** Events of the runs of a branch. */
  readonly branchEvents?: (branch: string) => RunnerEvents;
  readonly onServed?: (branch: string, runner: string) => void;
  readonly onLeft?: (branch: string, why?: string) => void;
}

/**
 * Serves all preview branches, including later ones, with a preview key. One connection receives the list of branches. Each branch has its own
 * runner with its own connection, variables, versions and processes, so that branches are isolated from each other. They share the slots and
 * the cache folder. An idle branch has no process.
 *
 * Rejects if the server rejects the key. Waits for an unresponsive server.
 */
export async function startPreviews(options: PreviewsOptions): Promise<Omit<Runner, 'changeEnv'>> {
  const { url, secretKey, events = {}, branchEvents, onServed, onLeft, ...runnerOptions } = options;
  const { concurrency = defaultConcurrency, stopMs = defaultStopMs } = options;
  const id = `runner_${randomUUID().replaceAll('-', '')}`;
  const shared = { slots: new Slots(concurrency), guard: startGuard() };
  let stopping: Promise<void> | undefined;
  const ended = withResolvers<Error | null>();
  const welcomed = withResolvers<void>();

  const branches = new BranchRunners({
    stopMs,
    onServed,
    onLeft,
    start: (branch, signal) =>
      startRunner(
        {
          ...runnerOptions,
          url,
          secretKey,
          branch,
          signal,
          // The first connection shows whether a server is available.
          events: {
            ...branchEvents?.(branch),
            onState: () => undefined,
            onStopRequested: () => stopRequested(),
          },
        },
        shared,
      ),
  });
  const connection: Connection = new Connection({
    url,
    secretKey,
    hello: () => ({
      type: 'hello',
      runner: id,
      host: hostname(),
      pid: process.pid,
      release: version,
      capacity: 0,
      versions: [],
      leased: [],
      at: Date.now(),
      servesBranches: true,
    }),
    onWelcome: () => welcomed.resolve(),
    onMessage: (message) => {
      if (message.type === 'branches' && !stopping) branches.set(message.branches);
      else if (message.type === 'stop') stopRequested();
    },
    onState: (state, detail) => events.onState?.(state, detail),
    onLeasesLost: () => undefined,
    onRefused: (error) => {
      welcomed.reject(error);
      stopping ??= stop((runner) => runner.stop({ waitMs: 0 }), error);
    },
  });

  const stop = async (
    stopOne: (runner: Runner) => Promise<void>,
    error: Error | null = null,
  ): Promise<void> => {
    branches.end();
    connection.send({ type: 'drain' });
    await Promise.all(branches.runners.map(stopOne));
    connection.close();
    shared.guard.end();
    if (!error) events.onState?.('stopped');
    ended.resolve(error);
  };
  const stopRequested = (): void => {
    if (stopping) return;
    events.onStopRequested?.();
    stopping = stop((runner) => runner.stop({ waitMs: stopMs }));
  };

  options.signal?.addEventListener('abort', () =>
    welcomed.reject(new Error('Stopped before the server was reached.')),
  );
  if (options.signal?.aborted) welcomed.reject(new Error('Stopped before the server was reached.'));
  try {
    await welcomed.promise;
  } catch (error) {
    stopping ??= stop((runner) => runner.stop({ waitMs: 0 }), error as Error);
    await stopping;
    throw error;
  }
  return {
    id,
    version: null,
    loading: () => [],
    ended: ended.promise,
    pids: () => branches.runners.flatMap((runner) => runner.pids()),
    stop: ({ waitMs = stopMs } = {}) => (stopping ??= stop((runner) => runner.stop({ waitMs }))),
    stopNow: () => {
      for (const runner of branches.runners) void runner.stopNow();
      return (stopping ??= stop((runner) => runner.stopNow()));
    },
  };
}
