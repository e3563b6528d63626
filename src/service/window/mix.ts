/** Which values of a facet the items seen so far have, and in what shares. */
import type { RequestBody } from '../request-body.ts';

export interface Shares {
  /** The share of each value asked about, in their order. */
  readonly values: readonly number[];
  /** The share of items with none of them. */
  readonly rest: number;
}

export interface Mix {
  /** Takes in the items of an answer; `busy` when they are of a single day. */
  readonly learn: (items: readonly unknown[], busy: boolean) => void;
  /** The shares of these values of a facet, also by a sample at hand; alike where nothing was seen. */
  readonly sharesOf: (field: string, values: readonly unknown[], sample: readonly unknown[]) => Shares;
  /** The share of items that a request's list on a facet leaves; one of its entries may exclude, with a minus sign. */
  readonly shareOf: (field: string, list: readonly unknown[]) => number;
}

/** Items of single days that make a mix of their own: days that are cut by facets differ from the others. */
const BUSY_ENOUGH = 200;
/** What was seen before counts as so many items beside a sample. */
const HELD_FOR_ITEMS = 40;

/** A record of nothing yet. `shownIn` names, by facet, the item field that shows its values. */
export function mix(shownIn: Readonly<Record<string, string>>): Mix {
  const usual = new Map<string, Tally>();
  const busy = new Map<string, Tally>();
  const sharesOf: Mix['sharesOf'] = (field, values, sample) => {
    const before = [busy.get(field), usual.get(field)].find((it, at) => it && (at === 1 || it.items >= BUSY_ENOUGH));
    const now = new Map<string, Tally>();
    const name = shownIn[field];
    if (name !== undefined) count(now, field, sample, name);
    // One more of each value and of the rest, so that none is taken for impossible.
    const sums = Array.from({ length: values.length + 1 }, () => 1);
    add(sums, values, before, before ? Math.min(1, HELD_FOR_ITEMS / before.items) : 0);
    add(sums, values, now.get(field), 1);
    const all = sums.reduce((total, it) => total + it, 0);
    return { values: sums.slice(0, -1).map((it) => it / all), rest: (sums.at(-1) ?? 0) / all };
  };
  return {
    learn: (items, single) => {
      for (const [field, name] of Object.entries(shownIn)) {
        count(usual, field, items, name);
        if (single) count(busy, field, items, name);
      }
    },
    sharesOf,
    shareOf: (field, list) => {
      const excluded = list.filter((value) => typeof value === 'string' && value.startsWith('-'));
      const wanted = list.filter((value) => !excluded.includes(value));
      if (wanted.length > 0) return 1 - sharesOf(field, wanted, []).rest;
      return excluded.length > 0
        ? sharesOf(
            field,
            excluded.map((value) => String(value).slice(1)),
            [],
          ).rest
        : 1;
    },
  };
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
    const at = placeOf(values, value);
    sums.splice(at, 1, (sums.at(at) ?? 0) + n * times);
  }
}

/** Assumed: asking for a form gives its amendments too, so 4/A counts as 4. The last place is that of the rest. */
function placeOf(values: readonly unknown[], value: string): number {
  const exact = values.indexOf(value);
  return exact >= 0 ? exact : values.findIndex((it) => typeof it === 'string' && value.startsWith(`${it}/`));
}
