import type { EnvironmentConcurrency } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

export type { EnvironmentConcurrency };

/**
 * Overrides a queue's concurrency limit (per concurrency key, if runs have one), regardless of the limit in code: 0 to 100,000. It applies
 * to all versions until it is reset. Throws a NotFoundError for an unknown queue.
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
 * Restores the limit declared in code. Throws a NotFoundError for an unknown queue.
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
 * The number of executing and waiting runs in the whole environment, and its concurrency limit.
 *
 * @example
 * const { running, concurrencyLimit } = await queues.environment();
 */
export const environment = (): Promise<EnvironmentConcurrency> => currentClient().call('retrieveConcurrency');

/** Changes to the concurrency of an environment. Omitted settings stay unchanged. */
export interface EnvironmentConcurrencyChange {
  /** While true, no more runs of any queue are started. */
  paused?: boolean;
  /** The concurrency limit, 0 to 100,000; null for no limit. */
  concurrencyLimit?: number | null;
}

/**
 * Pauses or resumes the whole environment, or sets its concurrency limit.
 *
 * @example
 * await queues.updateEnvironment({ concurrencyLimit: 100 });
 */
export const updateEnvironment = (change: EnvironmentConcurrencyChange): Promise<EnvironmentConcurrency> =>
  currentClient().call('updateConcurrency', { body: change });
