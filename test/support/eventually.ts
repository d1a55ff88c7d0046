/** Asks until it is true, and says what it last saw if it never is. */
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
      throw new Error(`not within ${withinMs} ms; last seen: ${JSON.stringify(seen).slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
