/** The values of a facet in the items so far, and their shares. */
import type { RequestBody } from '../request-body.ts';

export interface Shares {
  /** The share of each requested value, in their order. */
  readonly values: readonly number[];
  /** The share of items with none of these values. */
  readonly rest: number;
}

/** The weight of earlier observations, in items of the sample. */
const HELD_FOR_ITEMS = 60;

export class Mix {
  /** By facet: the item field of its values. */
  readonly #shownIn: Readonly<Record<string, string>>;
  readonly #seen = new Map<string, Tally>();

  constructor(shownIn: Readonly<Record<string, string>>) {
    this.#shownIn = shownIn;
  }

  /** Adds the items of an answer. */
  learn(items: readonly unknown[]): void {
    for (const [field, name] of Object.entries(this.#shownIn)) count(this.#seen, field, items, name);
  }

  /** The shares of these values of a facet, adjusted by a sample; equal if nothing was observed. */
  sharesOf(field: string, values: readonly unknown[], sample: readonly unknown[]): Shares {
    const before = this.#seen.get(field);
    const now = new Map<string, Tally>();
    const name = this.#shownIn[field];
    if (name !== undefined) count(now, field, sample, name);
    // One additional item of each value and of the rest, so that no share is zero.
    const sums = Array.from({ length: values.length + 1 }, () => 1);
    add(sums, values, before, before ? Math.min(1, HELD_FOR_ITEMS / before.items) : 0);
    add(sums, values, now.get(field), 1);
    const all = sums.reduce((total, it) => total + it, 0);
    return { values: sums.slice(0, -1).map((it) => it / all), rest: (sums.at(-1) ?? 0) / all };
  }

  /** The share of items that match a request's list on a facet. Entries with a minus sign exclude. */
  shareOf(field: string, list: readonly unknown[]): number {
    const excluded = list.filter((value) => typeof value === 'string' && value.startsWith('-'));
    const wanted = list.filter((value) => !excluded.includes(value));
    if (wanted.length > 0) return 1 - this.sharesOf(field, wanted, []).rest;
    if (excluded.length === 0) return 1;
    const named = excluded.map((value) => String(value).slice(1));
    return this.sharesOf(field, named, []).rest;
  }
}

interface Tally {
  items: number;
  readonly values: Map<string, number>;
}

function count(tallies: Map<string, Tally>, field: string, items: readonly unknown[], name: string): void {
  const tally = tallies.get(field) ?? { items: 0, values: new Map<string, number>() };
  tallies.set(field, tally);
  for (const item of items) {
    const shown = item !== null && typeof item === 'object' ? (item as RequestBody)[name] : undefined;
    const [value] = Array.isArray(shown) ? (shown as readonly unknown[]) : [shown];
    if (typeof value !== 'string') continue;
    tally.items += 1;
    tally.values.set(value, (tally.values.get(value) ?? 0) + 1);
  }
}

function add(sums: number[], values: readonly unknown[], tally: Tally | undefined, times: number): void {
  for (const [value, n] of tally?.values ?? []) {
    const index = indexOfKind(values, value);
    sums.splice(index, 1, (sums.at(index) ?? 0) + n * times);
  }
}

/**
 * Assumed: a request for a form includes its amendments, so 4/A counts as 4. The result is -1, the last entry, for the
 * rest.
 */
function indexOfKind(values: readonly unknown[], value: string): number {
  const exact = values.indexOf(value);
  return exact >= 0 ? exact : values.findIndex((it) => typeof it === 'string' && value.startsWith(`${it}/`));
}
