export interface ParallelOptions {
  /** Maximum number of functions that run concurrently. Default: all of them. */
  limit?: number;
}

type Results<T extends readonly (() => unknown)[]> = { -readonly [K in keyof T]: Awaited<ReturnType<T[K]>> };

/**
 * Calls functions concurrently, at most `limit` at a time, and returns their results in the order of the functions. When one throws, no
 * further functions are started; the first error is thrown after those already started have ended. It does not store anything itself, but
 * the steps inside do.
 *
 * @example
 * const rooms = await step.parallel(
 *   hotels.map((hotel) => () => step.run(`ask ${hotel.id}`, () => askFor(hotel))),
 *   { limit: 5 },
 * );
 */
export async function parallel<const T extends readonly (() => unknown)[]>(
  acts: T,
  { limit = Number.POSITIVE_INFINITY }: ParallelOptions = {},
): Promise<Results<T>> {
  if (!Array.isArray(acts)) throw new TypeError('step.parallel requires an array of functions.');
  for (const [index, act] of (acts as readonly unknown[]).entries()) {
    if (typeof act === 'function') continue;
    throw new TypeError(
      `step.parallel: item ${index} is not a function. Write () => step.run(…), so that it does not start immediately.`,
    );
  }
  if (limit !== Number.POSITIVE_INFINITY && (!Number.isSafeInteger(limit) || limit < 1))
    throw new TypeError(`step.parallel: limit must be a whole number of at least 1; got ${String(limit)}.`);
  const results: unknown[] = Array.from({ length: acts.length });
  let next = 0;
  let failed: { readonly thrown: unknown } | undefined;
  const work = async (): Promise<void> => {
    while (next < acts.length && !failed) {
      const index = next++;
      try {
        results[index] = await acts[index]?.();
      } catch (thrown) {
        failed ??= { thrown };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, acts.length) }, work));
  if (failed) throw failed.thrown;
  return results as Results<T>;
}
