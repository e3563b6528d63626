/**
 * Maps filings to companies, in both directions. Filings are divided into blocks of a prime length. In each block,
 * every filer has its slots once, in an order specific to the block. So both directions are computed, and a search for
 * one company among a million filings only visits its own.
 */
import type { Drawing } from './draw.ts';

export interface FilingSlots {
  /** The company that made a filing. */
  readonly companyOf: (filing: number) => number;
  /** Filings of the companies in `[from, to)`, newest first. Companies are in ascending order; undefined means all. */
  readonly newestFirst: (companies: readonly number[] | undefined, from: number, to: number) => Iterable<number>;
}

/** Well-known companies file this many times as often as others. */
const OFTEN = 8;

export function filingSlots(draw: Drawing, companies: number, wellKnown: number): FilingSlots {
  const order = draw('filing order');
  const busy = Math.min(wellKnown, companies);
  const needed = busy * OFTEN + (companies - busy);
  const length = primeFrom(needed);
  const companyAt = (slot: number): number => {
    if (slot >= needed) return slot % companies;
    return slot < busy * OFTEN ? Math.floor(slot / OFTEN) : busy + slot - busy * OFTEN;
  };
  const slotsOf = (company: number): number[] => {
    const own =
      company < busy
        ? Array.from({ length: OFTEN }, (_, nth) => company * OFTEN + nth)
        : [busy * (OFTEN - 1) + company];
    for (let slot = needed; slot < length; slot++) if (slot % companies === company) own.push(slot);
    return own;
  };
  // position = slot * factor + shift is one-to-one, because the length is prime.
  const factorOf = (block: number): number => 1 + (order(block) % (length - 1));
  const shiftOf = (block: number): number => order(block, 1) % length;

  function* newestFirst(chosen: readonly number[] | undefined, from: number, to: number): Iterable<number> {
    if (chosen === undefined) {
      for (let filing = to - 1; filing >= from; filing--) yield filing;
      return;
    }
    const slots = chosen.flatMap(slotsOf);
    if (slots.length === 0 || to <= from) return;
    for (let block = Math.floor((to - 1) / length); block >= Math.floor(from / length); block--) {
      const [factor, shift] = [factorOf(block), shiftOf(block)];
      const filings = slots.map((slot) => block * length + ((slot * factor + shift) % length));
      yield* filings.filter((filing) => filing >= from && filing < to).toSorted((a, b) => b - a);
    }
  }

  return {
    companyOf: (filing) => {
      const block = Math.floor(filing / length);
      const position = filing - block * length;
      const inverseFactor = inverse(factorOf(block), length);
      return companyAt(((position - shiftOf(block) + length) * inverseFactor) % length);
    },
    newestFirst,
  };
}

/** The smallest prime that is at least this number. */
function primeFrom(least: number): number {
  let candidate = Math.max(least, 2);
  while (!isPrime(candidate)) candidate++;
  return candidate;
}

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor++) if (number % divisor === 0) return false;
  return true;
}

/** The multiplicative inverse modulo `modulus`, by the extended Euclidean algorithm. */
function inverse(number: number, modulus: number): number {
  let [before, now] = [0, 1];
  let [dividend, divisor] = [modulus, number];
  while (divisor !== 0) {
    const quotient = Math.floor(dividend / divisor);
    [before, now] = [now, before - quotient * now];
    [dividend, divisor] = [divisor, dividend - quotient * divisor];
  }
  return before < 0 ? before + modulus : before;
}
