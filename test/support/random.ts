/** Random numbers that a seed repeats: a failed run can be run again. */
export interface Random {
  readonly seed: number;
  /** A whole number from min to max, both included. */
  integer(min: number, max: number): number;
}

/** @param seed TEST_SEED, or one from the clock, where none is given */
export function seededRandom(
  seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 32),
): Random {
  let state = seed >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { seed, integer: (min, max) => min + Math.floor(next() * (max - min + 1)) };
}
