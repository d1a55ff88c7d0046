/** Random numbers that are the same for the same seed. */
export interface Random {
  /** A whole number, with both limits included. */
  readonly whole: (min: number, max: number) => number;
  readonly pick: <T>(list: readonly T[]) => T;
  /** True with this probability. */
  readonly chance: (probability: number) => boolean;
}

/** Mulberry32: 32 bits of state are enough for numbers that need not be unpredictable. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    whole,
    pick: (list) => list[whole(0, list.length - 1)] as (typeof list)[number],
    chance: (probability) => next() < probability,
  };
}
