import type { RateLimit } from '@millrace/contract';
import { parseDuration } from '../duration.ts';

/** Maximum number of runs of a queue that may start in a period. Each attempt counts, including retries. */
export interface RateLimitOptions {
  /** Maximum number of runs that start in any period: 1 to 1,000,000. */
  limit: number;
  /** Seconds, or a duration such as `1m` or `24h`: 1 second to 31 days. */
  period: number | string;
  /**
   * How many of them may start at once, 1 to `limit`. With 1 they are spread evenly: `{ limit: 60, period: '1m', burst: 1 }` starts one run per
   * second. Default `limit`: all remaining ones.
   */
  burst?: number;
  /** `concurrencyKey`: the limit applies to each concurrency key separately. Default: to all runs of the queue together. */
  key?: 'concurrencyKey';
}

const maxLimit = 1_000_000;
const maxPeriod = 2_678_400;

const isWhole = (value: unknown, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max;

/** The limit in the form in which it is sent. `refuse` receives the field, its rule and its value. */
export function rateLimitToWire(
  options: RateLimitOptions,
  refuse: (field: string, rule: string, value: unknown) => never,
): RateLimit {
  const input: unknown = options;
  if (typeof input !== 'object' || input === null)
    return refuse('', "must be an object such as { limit: 100, period: '1m' }", input);
  const { limit, period, burst, key } = options;
  if (!isWhole(limit, maxLimit))
    return refuse('.limit', `must be a whole number from 1 to ${maxLimit}`, limit);
  const seconds = typeof period === 'string' ? parseDuration(period) : period;
  if (!isWhole(seconds, maxPeriod)) {
    const rule = 'must be whole seconds, or a duration such as 1m or 24h, from 1 second to 31 days';
    return refuse('.period', rule, period);
  }
  if (burst !== undefined && !isWhole(burst, limit))
    return refuse('.burst', `must be a whole number from 1 to limit, which is ${limit}`, burst);
  if (key !== undefined && key !== 'concurrencyKey')
    return refuse('.key', 'must be "concurrencyKey", or omitted for one limit of the whole queue', key);
  return { limit, period: seconds, burst, key };
}

/** Maximum number of triggers accepted in a period. */
export type TriggerRate = Omit<RateLimitOptions, 'key'>;

/** The rate of a trigger limit in the form in which it is sent. Throws a RangeError that names the field. */
export function triggerRateToWire(rate: TriggerRate, path: string): Omit<RateLimit, 'key'> {
  const { key: _, ...wire } = rateLimitToWire(rate, (field, rule, value) => {
    throw new RangeError(`${path}${field} ${rule}; got ${JSON.stringify(value)}.`);
  });
  return wire;
}
