import { z } from 'zod';

/** The largest limit of concurrency. */
export const maxConcurrency = 100_000;
/** The largest weight of a concurrency key. */
export const maxKeyWeight = 100;
/** Keys of one queue with a weight in code. */
export const maxKeyWeights = 1_000;

export const concurrencyLimit = z.number().int().min(0).max(maxConcurrency);

/** A limit that several queues share: how many of their runs may execute at once, together. */
export const sharedLimit = z.object({
  /** Queues that name the same limit share it. */
  name: z.string().min(1).max(128),
  limit: concurrencyLimit,
});
export type SharedLimit = z.infer<typeof sharedLimit>;

const weightRule = `must be a whole number from 1 to ${maxKeyWeight}`;

/** How many runs a concurrency key gives in its turn. */
export const keyWeight = z
  .number({ error: weightRule })
  .int(weightRule)
  .min(1, weightRule)
  .max(maxKeyWeight, weightRule);
