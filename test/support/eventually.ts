/** The pause between two reads in milliseconds, by the time waited so far: a short wait ends at once, and a long one reads rarely. */
const pauseAfter = (waitedMs: number): number => Math.min(200, Math.max(20, waitedMs / 10));

/** Polls until the condition is true. On timeout, throws an error with the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  isTrue: (seen: T) => boolean,
  withinMs: number,
): Promise<T> {
  const begun = Date.now();
  for (;;) {
    const seen = await read();
    if (isTrue(seen)) return seen;
    const waitedMs = Date.now() - begun;
    if (waitedMs > withinMs)
      throw new Error(`Timed out after ${withinMs} ms; last value: ${JSON.stringify(seen).slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(waitedMs)));
  }
}
