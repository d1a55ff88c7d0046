/** The load: no-op runs of one queue, or all kinds of runs that change the hot tables. */
import type { Feeder, Item } from '../feeder.ts';

export type Mode = 'plain' | 'mixed';

const queues = 50;
const keys = 10_000;
/** Concurrent runs per key in its queue. */
const limit = 5;
const schedules = 100;

/** The nth run of the load. */
export function itemOf(mode: Mode, n: number): Item {
  if (mode === 'plain') return { task: 'idle', payload: { n } };
  // The same in every run of the benchmark, in random order.
  const drawn = Math.imul(n + 1, 2_654_435_761) >>> 0;
  const options = {
    queue: { name: queueOf(drawn % queues) },
    concurrencyKey: `key ${(drawn >>> 8) % keys}`,
  };
  const kind = n % 100;
  // Two of a hundred are retried once, one fails permanently; five wait for a time first, five may expire.
  if (kind < 2) return { task: 'flaky', payload: { failing: 1 }, options };
  if (kind < 3) return { task: 'flaky', payload: { failing: 9 }, options: { ...options, maxAttempts: 2 } };
  if (kind < 8) return { task: 'idle', payload: { n }, options: { ...options, delay: `${1 + (n % 5)}s` } };
  if (kind < 13) return { task: 'idle', payload: { n }, options: { ...options, ttl: '10m' } };
  return { task: 'idle', payload: { n }, options };
}

const queueOf = (index: number): string => `sustained-${index}`;

/** Gives the queues their limits and makes the schedules. */
export async function prepare(mode: Mode, feeder: Feeder): Promise<void> {
  if (mode === 'plain') return;
  // A queue exists once it has had a run.
  await feeder.batch(
    Array.from({ length: queues }, (_, index) => ({
      task: 'idle',
      payload: null,
      options: { queue: { name: queueOf(index) } },
    })),
  );
  for (let index = 0; index < queues; index++) {
    await feeder.post(`/api/v1/queues/${queueOf(index)}/concurrency/override`, {
      type: 'custom',
      concurrencyLimit: limit,
    });
  }
  for (let index = 0; index < schedules; index++) {
    await feeder.post('/api/v1/schedules', {
      task: 'ticked',
      cron: '* * * * *',
      deduplicationKey: `sustained ${index}`,
    });
  }
}
