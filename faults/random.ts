/** A repeatable source of random numbers, so that a seed repeats the choices of a run. */
export interface Random {
  /** At least `min`, less than `max`. */
  between(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** The generator mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    between: (min, max) => min + next() * (max - min),
    pick: <T>(items: readonly T[]) => items[Math.floor(next() * items.length)] as T,
  };
}
