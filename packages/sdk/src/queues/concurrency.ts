import type { EnvironmentConcurrency } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

export type { EnvironmentConcurrency };

/**
 * Sets how many runs of a queue (of each concurrency key, where runs have one) may run at once, whatever the code declares: 0 to
 * 100,000. It applies to all versions until it is reset. Throws a NotFoundError for an unknown queue.
 *
 * @example
 * await queues.overrideConcurrencyLimit({ type: 'custom', name: 'mail' }, 5);
 */
export async function overrideConcurrencyLimit(
  queue: QueueReference,
  concurrencyLimit: number,
): Promise<Queue> {
  const { queue: name, type } = named(queue);
  const body = { type, concurrencyLimit };
  return fromWire(await currentClient().call('overrideQueueConcurrency', { params: { queue: name }, body }));
}

/**
 * Returns to the limit that the code declares. Throws a NotFoundError for an unknown queue.
 *
 * @example
 * await queues.resetConcurrencyLimit({ type: 'custom', name: 'mail' });
 */
export async function resetConcurrencyLimit(queue: QueueReference): Promise<Queue> {
  const { queue: name, type } = named(queue);
  return fromWire(
    await currentClient().call('resetQueueConcurrency', { params: { queue: name }, body: { type } }),
  );
}

/**
 * How many runs of the whole environment run and wait, and how many may run at once.
 *
 * @example
 * const { running, concurrencyLimit } = await queues.environment();
 */
export const environment = (): Promise<EnvironmentConcurrency> => currentClient().call('retrieveConcurrency');

/** Changes of an environment. Omitted settings stay unchanged. */
export interface EnvironmentConcurrencyChange {
  /** Starts no more runs, of any queue, while it is true. */
  paused?: boolean;
  /** How many runs may run at once, 0 to 100,000; null is no limit. */
  concurrencyLimit?: number | null;
}

/**
 * Pauses the whole environment, resumes it, or limits how many of its runs may run at once.
 *
 * @example
 * await queues.updateEnvironment({ concurrencyLimit: 100 });
 */
export const updateEnvironment = (change: EnvironmentConcurrencyChange): Promise<EnvironmentConcurrency> =>
  currentClient().call('updateConcurrency', { body: change });
