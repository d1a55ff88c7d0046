/**
 * Calls `act` for each item, this many at a time. After a failure it starts no further calls and throws the error once the calls in
 * progress have ended.
 */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  // The workers share one iterator, so each item is taken once.
  const queue = items[Symbol.iterator]();
  let failed: { readonly thrown: unknown } | undefined;
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done && !failed; next = queue.next()) {
      try {
        await work(next.value);
      } catch (thrown) {
        failed ??= { thrown };
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failed) throw failed.thrown;
}
