/**
 * Reproducible random values. Each property of each entity is computed from the seed, the property's name and the
 * entity's index. So a world of any size needs no memory, and two processes with one seed agree.
 */

/** A number from 0 to 2^32 - 1, equal for equal index and slot. Slots separate several draws for one index. */
export type Draw = (index: number, slot?: number) => number;

const FIRST = 0x85ebca6b;
const SECOND = 0xc2b2ae35;
// The inverses of the two factors modulo 2^32.
const FIRST_BACK = 0xa5cb9243;
const SECOND_BACK = 0x7ed1b41d;

/** A one-to-one mapping of 32-bit numbers that looks random: the finalizer of MurmurHash3. */
export function scramble(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, FIRST);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, SECOND);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The inverse of `scramble`. */
export function unscramble(scrambled: number): number {
  let mixed = scrambled ^ (scrambled >>> 16);
  mixed = Math.imul(mixed, SECOND_BACK);
  mixed ^= (mixed >>> 13) ^ (mixed >>> 26);
  mixed = Math.imul(mixed, FIRST_BACK);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A 32-bit digest of a text. */
export function digestOf(text: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193);
  return scramble(digest);
}

/** A function that returns, for one seed, the draws of a named property. */
export const drawing =
  (seed: number) =>
  (about: string): Draw => {
    const key = scramble(scramble(seed) ^ digestOf(about));
    return (index, slot = 0) =>
      scramble(scramble(key ^ Math.imul(index + 1, 0x9e3779b1)) + Math.imul(slot, 0x632be5ab));
  };
export type Drawing = ReturnType<typeof drawing>;

/** One of the values, with equal probability. */
export const pick = <T>(values: readonly T[], drawn: number): T => values[drawn % values.length] as T;

/** True for this share of all draws. */
export const happens = (drawn: number, share: number): boolean => drawn < share * 0x1_0000_0000;

/** An integer from `least` to `most`. */
export const between = (drawn: number, least: number, most: number): number => least + (drawn % (most - least + 1));

/** An integer from `least` to `most`, where small numbers are far more likely, as for follower counts. */
export const skewed = (drawn: number, least: number, most: number): number =>
  Math.floor(least + (most - least) * (drawn / 0x1_0000_0000) ** 6);

const SLOTS = 4096;

/** A function from draws to indexes of the weights, each with a probability proportional to its weight. */
export function weighted(weights: readonly number[]): (drawn: number) => number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const table = new Uint16Array(SLOTS);
  let reached = 0;
  let slot = 0;
  for (const [index, weight] of weights.entries()) {
    reached += weight;
    for (; slot < Math.round((reached / total) * SLOTS); slot++) table[slot] = index;
  }
  return (drawn) => table[drawn % SLOTS] as number;
}

/** Distinct numbers from 0 to `below` - 1 in random order, at most `many` of them. */
export function distinct(draw: Draw, index: number, many: number, below: number): number[] {
  const found = new Set<number>();
  for (let slot = 0; found.size < Math.min(many, below); slot++) {
    // If a number is taken, the next free one is used, so that the loop always ends.
    let drawn = draw(index, slot) % below;
    while (found.has(drawn)) drawn = (drawn + 1) % below;
    found.add(drawn);
  }
  return [...found];
}
