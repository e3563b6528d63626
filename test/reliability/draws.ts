/** Random draws that a seed repeats. */

export interface Draws {
  /** From 0 up to the bound, without the bound. */
  readonly below: (bound: number) => number;
  /** From the first to the last, both included. */
  readonly between: (first: number, last: number) => number;
  readonly chance: (share: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
}

/** The draws of a seed; draws of another name are independent of them. */
export function drawsOf(seed: number, name: string): Draws {
  let state = Buffer.from(name).reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), seed | 0);
  // Mulberry32: small, and good enough to spread moments.
  const unit = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(unit() * bound);
  return {
    below,
    between: (first, last) => first + below(last - first + 1),
    chance: (share) => unit() < share,
    pick: (list) => {
      const picked = list[below(list.length)];
      if (picked === undefined) throw new Error('nothing to pick from');
      return picked;
    },
  };
}
