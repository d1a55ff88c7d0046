/** Does something with each item, several at a time. */
export async function inParallel<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  atOnce = 12,
): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
