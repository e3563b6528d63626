/**
 * Chance that can be looked up: every property of every entity is computed from the seed, what is asked about and the
 * entity's index, so a world of any size takes no memory and two processes with one seed agree.
 */

/** A number from 0 to 2^32 - 1, the same for the same index and slot. Slots tell several draws about one index apart. */
export type Draw = (index: number, slot?: number) => number;

const FIRST = 0x85ebca6b;
const SECOND = 0xc2b2ae35;
// The inverses of the two factors modulo 2^32.
const FIRST_BACK = 0xa5cb9243;
const SECOND_BACK = 0x7ed1b41d;

/** A one-to-one mapping of the 32-bit numbers that looks random: the finalizer of MurmurHash3. */
export function scramble(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, FIRST);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, SECOND);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** The number that `scramble` made this one from. */
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

/** Gives, for one seed, the draws about any named property. */
export const drawing =
  (seed: number) =>
  (about: string): Draw => {
    const key = scramble(scramble(seed) ^ digestOf(about));
    return (index, slot = 0) =>
      scramble(scramble(key ^ Math.imul(index + 1, 0x9e3779b1)) + Math.imul(slot, 0x632be5ab));
  };
export type Drawing = ReturnType<typeof drawing>;

/** One of the values, each as likely as the others. */
export const pick = <T>(values: readonly T[], drawn: number): T => values[drawn % values.length] as T;

/** True for this share of all draws. */
export const happens = (drawn: number, share: number): boolean => drawn < share * 0x1_0000_0000;

/** A whole number from `least` to `most`. */
export const between = (drawn: number, least: number, most: number): number => least + (drawn % (most - least + 1));

/** A whole number from `least` to `most` of which small ones are far more likely, as counts of followers are. */
export const skewed = (drawn: number, least: number, most: number): number =>
  Math.floor(least + (most - least) * (drawn / 0x1_0000_0000) ** 6);

const SLOTS = 4096;

/** Turns draws into indexes of the weights, each as likely as its weight. */
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

/** Different draws from 0 to `below` - 1, at most that many, in a random order. */
export function distinct(draw: Draw, index: number, many: number, below: number): number[] {
  const found = new Set<number>();
  for (let slot = 0; found.size < Math.min(many, below); slot++) {
    // A set that is nearly exhausted takes the next free number, so that this always ends.
    let drawn = draw(index, slot) % below;
    while (found.has(drawn)) drawn = (drawn + 1) % below;
    found.add(drawn);
  }
  return [...found];
}
