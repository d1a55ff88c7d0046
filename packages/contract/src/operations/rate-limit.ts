import { z } from 'zod';

/** The maximum number of starts in one period. */
export const maxRateLimit = 1_000_000;
/** The maximum period in seconds: 31 days. */
export const maxRatePeriod = 2_678_400;

const whole = (min: number, max: number, rule: string) =>
  z.number({ error: rule }).int(rule).min(min, rule).max(max, rule);

const limitRule = `must be a whole number from 1 to ${maxRateLimit}`;
const periodRule = `must be whole seconds from 1 to ${maxRatePeriod} (31 days)`;

/** How many runs of a queue may start in a period. */
export const rateLimit = z
  .object({
    /** Maximum number of runs that start in any period. */
    limit: whole(1, maxRateLimit, limitRule),
    /** Seconds, 1 to 2,678,400. */
    period: whole(1, maxRatePeriod, periodRule),
    /** How many of them may start at once: 1 spreads them evenly. Default `limit`. */
    burst: whole(1, maxRateLimit, limitRule).optional(),
    /** `concurrencyKey`: the limit applies to each concurrency key separately. Default: to the whole queue. */
    key: z.literal('concurrencyKey', { error: 'must be "concurrencyKey", or omitted' }).optional(),
  })
  .refine(({ limit, burst = limit }) => burst <= limit, {
    path: ['burst'],
    message: 'must not be larger than limit',
  });
export type RateLimit = z.infer<typeof rateLimit>;

/** How many triggers are accepted in a period, without `key`. */
export const triggerRate = z
  .object({
    limit: whole(1, maxRateLimit, limitRule),
    period: whole(1, maxRatePeriod, periodRule),
    burst: whole(1, maxRateLimit, limitRule).optional(),
  })
  .refine(({ limit, burst = limit }) => burst <= limit, {
    path: ['burst'],
    message: 'must not be larger than limit',
  });

/** The effect of a trigger above its limit: rejected with 429, or dropped, as the response indicates. */
export const onExceed = z.enum(['refuse', 'drop']);

/** The effective rate limit. */
export const rateLimitResponse = z.object({
  limit: z.number().int(),
  /** Seconds. */
  period: z.number().int(),
  burst: z.number().int(),
  key: z.literal('concurrencyKey').optional(),
});
export type RateLimitResponse = z.infer<typeof rateLimitResponse>;

/** A limit with its defaults filled in, so that equal limits have equal values. */
export const completeRateLimit = ({ limit, period, burst = limit, key }: RateLimit): RateLimitResponse => ({
  limit,
  period,
  burst,
  ...(key && { key }),
});
