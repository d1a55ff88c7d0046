/** BullMQ inside a process, on Redis or PostgreSQL. Tuned: concurrency 100; for crashes, locks of 10 s looked at every 5 s. */
import { createPostgresBackend, Queue, withBackend, Worker } from 'bullmq';
import type { Sample } from '../../project/recorder.ts';
import type { Address, Client, Profile } from '../system.ts';

const onPostgres = withBackend(createPostgresBackend);
const onRedis = ({ path = '' }: Address) => ({ path, maxRetriesPerRequest: null });
/** As many connections as the workloads have callers. */
const inDatabase = (database: string) => ({ connectionString: database, max: 32 });
const options = { removeOnComplete: 1_000 };

/** `migrate`: creates the tables of a PostgreSQL database. */
export const openQueue = (address: Address, { migrate = false } = {}): Queue =>
  address['database'] === undefined
    ? new Queue('noop', { connection: onRedis(address) })
    : new onPostgres.Queue('noop', { connection: { ...inDatabase(address['database']), migrate } });

export async function pendingOf(queue: Queue | undefined): Promise<number> {
  const counts = await queue?.getJobCounts('wait', 'active', 'delayed', 'prioritized');
  return Object.values(counts ?? {}).reduce((total, count) => total + count, 0);
}

export async function openClient(address: Address): Promise<Client> {
  const queue = openQueue(address);
  await queue.waitUntilReady();
  return {
    add: (sample) => queue.add('noop', sample, options),
    addMany: (samples) => queue.addBulk(samples.map((data) => ({ name: 'noop', data, opts: options }))),
    close: () => queue.close(),
  };
}

export async function execute(
  address: Address,
  profile: Profile,
  concurrency: number | undefined,
  body: (sample: Sample) => Promise<void>,
): Promise<() => Promise<unknown>> {
  const tuned = profile === 'tuned';
  const act = ({ data }: { readonly data: Sample }): Promise<void> => body(data);
  const settings = {
    concurrency: concurrency ?? (tuned ? 100 : 1),
    ...(tuned && { lockDuration: 10_000, stalledInterval: 5_000 }),
  };
  const worker =
    address['database'] === undefined
      ? new Worker<Sample>('noop', act, { connection: onRedis(address), ...settings })
      : new onPostgres.Worker<Sample>('noop', act, {
          connection: inDatabase(address['database']),
          ...settings,
        });
  worker.on('error', (error) => console.error('bullmq', error.message));
  await worker.waitUntilReady();
  return () => worker.close(true);
}
