/** BullMQ inside a process. Tuned: concurrency 100; for crashes, locks of 10 s looked at every 5 s. */
import { Queue, Worker } from 'bullmq';
import type { Sample } from '../../project/recorder.ts';
import type { Address, Client, Profile } from '../system.ts';

export const connectionOf = ({ path = '' }: Address) => ({ path, maxRetriesPerRequest: null });
const options = { removeOnComplete: 1_000 };

export async function openClient(address: Address): Promise<Client> {
  const queue = new Queue('noop', { connection: connectionOf(address) });
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
  const worker = new Worker<Sample>('noop', ({ data }) => body(data), {
    connection: connectionOf(address),
    concurrency: concurrency ?? (tuned ? 100 : 1),
    ...(tuned && { lockDuration: 10_000, stalledInterval: 5_000 }),
  });
  worker.on('error', (error) => console.error('bullmq', error.message));
  await worker.waitUntilReady();
  return () => worker.close(true);
}
