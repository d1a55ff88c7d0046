/** Polls until the condition is true. On timeout, throws an error with the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  isTrue: (seen: T) => boolean,
  withinMs: number,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const seen = await read();
    if (isTrue(seen)) return seen;
    if (Date.now() > end)
      throw new Error(`Timed out after ${withinMs} ms; last value: ${JSON.stringify(seen).slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
