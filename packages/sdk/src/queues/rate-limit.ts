import { currentClient } from '../client/current-client.ts';
import { rateLimitToWire, type RateLimitOptions } from '../task/rate-limit.ts';
import { fromWire, named, type Queue, type QueueReference } from './queue.ts';

/**
 * Overrides a queue's rate limit, which is the number of runs that may start in a period, regardless of the limit in code. Null removes the
 * limit. It takes effect immediately and applies to all versions until it is reset. Throws a TypeError for an invalid limit, and a
 * NotFoundError for an unknown queue.
 *
 * @example
 * await queues.overrideRateLimit({ type: 'custom', name: 'mail' }, { limit: 100, period: '1m', burst: 10 });
 */
export async function overrideRateLimit(
  queue: QueueReference,
  rateLimit: RateLimitOptions | null,
): Promise<Queue> {
  const { queue: name, type } = named(queue);
  const wire =
    rateLimit &&
    rateLimitToWire(rateLimit, (field, rule, value) => {
      throw new TypeError(`rateLimit${field} ${rule}; got ${JSON.stringify(value) ?? String(value)}.`);
    });
  const body = { type, rateLimit: wire };
  return fromWire(await currentClient().call('overrideQueueRateLimit', { params: { queue: name }, body }));
}

/**
 * Restores the rate limit declared in code. Throws a NotFoundError for an unknown queue.
 *
 * @example
 * await queues.resetRateLimit({ type: 'custom', name: 'mail' });
 */
export async function resetRateLimit(queue: QueueReference): Promise<Queue> {
  const { queue: name, type } = named(queue);
  return fromWire(
    await currentClient().call('resetQueueRateLimit', { params: { queue: name }, body: { type } }),
  );
}
