import { z } from 'zod';

/** The maximum concurrency limit. */
export const maxConcurrency = 100_000;
/** The maximum weight of a concurrency key. */
export const maxKeyWeight = 100;
/** Maximum number of a queue's keys with a weight in code. */
export const maxKeyWeights = 1_000;

export const concurrencyLimit = z.number().int().min(0).max(maxConcurrency);

/** A limit shared by several queues: the total number of their runs that may execute concurrently. */
export const sharedLimit = z.object({
  /** Queues with the same limit name share it. */
  name: z.string().min(1).max(128),
  limit: concurrencyLimit,
});
export type SharedLimit = z.infer<typeof sharedLimit>;

const weightRule = `must be a whole number from 1 to ${maxKeyWeight}`;

/** How many runs a concurrency key starts per turn. */
export const keyWeight = z
  .number({ error: weightRule })
  .int(weightRule)
  .min(1, weightRule)
  .max(maxKeyWeight, weightRule);
