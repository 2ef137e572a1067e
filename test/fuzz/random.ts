/** Numbers and choices that come again with the same seed. */
export interface Random {
  /** A whole number from 0, below `max`. */
  below(max: number): number;
  pick<Thing>(things: readonly Thing[]): Thing;
  /** True once in `times`. */
  once(times: number): boolean;
  bytes(length: number): Buffer;
}

/** The generator mulberry32: enough for choosing what to send, not for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (max: number): number => Math.floor(next() * max);
  return {
    below,
    pick: (things) => {
      const thing = things[below(things.length)];
      if (thing === undefined) throw new Error('there is nothing to pick from');
      return thing;
    },
    once: (times) => below(times) === 0,
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
