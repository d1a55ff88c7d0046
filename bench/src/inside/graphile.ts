/** graphile-worker inside a process. Tuned: local queue and batched completion, as its performance page has them. */
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import type { Sample } from '../../project/recorder.ts';
import type { Address, Client, Profile } from '../system.ts';

export const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error('graphile-worker', message);
});

export async function openClient({ database }: Address): Promise<Client> {
  const pool = new pg.Pool({ connectionString: database, max: 32 });
  const ignore = (): void => undefined;
  pool.on('error', ignore).on('connect', (connection) => connection.on('error', ignore));
  const set = await makeWorkerUtils({ pgPool: pool, logger });
  return {
    add: (sample) => set.addJob('noop', sample),
    addMany: (samples) => set.addJobs(samples.map((payload) => ({ identifier: 'noop', payload }))),
    async close() {
      await set.release();
      await pool.end();
    },
  };
}

export async function execute(
  { database = '' }: Address,
  profile: Profile,
  concurrency: number | undefined,
  body: (sample: Sample) => Promise<void>,
): Promise<() => Promise<unknown>> {
  const taskList = { noop: (payload: unknown) => body(payload as Sample) };
  const common = { taskList, logger, noHandleSignals: true };
  const tuned = {
    connectionString: database,
    concurrentJobs: concurrency ?? 24,
    maxPoolSize: 26,
    pollInterval: 2_000,
    localQueue: { size: Math.max(500, concurrency ?? 0) },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  };
  const runner =
    profile === 'tuned'
      ? await run({ preset: { worker: tuned }, ...common })
      : await run({
          connectionString: database,
          concurrency: concurrency ?? 5,
          pollInterval: 1_000,
          ...common,
        });
  return () => runner.stop();
}
