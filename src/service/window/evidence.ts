/** Evidence from the slices of one question so far: how many items its days hold, and their kinds. Estimates only. */
import type { RequestBody } from '../request-body.ts';
import { type DayRange, dayNumber, onCalendar } from '../../day.ts';
import { Density } from './density.ts';
import { canonicalJson } from '../canonical-json.ts';
import { Mix } from './mix.ts';
import { itemsOf } from './rates.ts';

/** The fields of an endpoint's requests and items that hold days and kinds. */
export interface WindowFields {
  /** Request fields of the first and last day. */
  readonly from: string;
  readonly to: string;
  /** Item field of the day. */
  readonly day: string;
  /** Item fields of kinds, by the request's list fields that filter on them. */
  readonly kinds: Readonly<Record<string, string>>;
}

/** An answer as evidence; without items if only their number is known. */
export interface SliceResult {
  readonly request: RequestBody;
  readonly returned: number;
  readonly full: boolean;
  readonly items?: readonly unknown[];
}

export interface EarlierSlice extends Omit<SliceResult, 'items'> {
  /** Slices of one day by kinds add up only if they belong to one run. */
  readonly runId: string;
}

/** Evidence for a question, whose own lists are in `base`. */
export class Evidence {
  readonly density = new Density();
  readonly mix: Mix;
  readonly #base: RequestBody;
  readonly #fields: WindowFields;
  readonly #splitDays = new Map<number, SplitDay>();
  readonly #recalledDays = new Map<number, { readonly runId: string; readonly items: number }>();

  constructor(base: RequestBody, fields: WindowFields) {
    this.#base = base;
    this.#fields = fields;
    this.mix = new Mix(fields.kinds);
  }

  /** True if a slice requests only some of the question's kinds. */
  isNarrower(request: RequestBody): boolean {
    return this.#kindsOf(request) !== this.#kindsOf(this.#base);
  }

  /** The expected number of items of a request. */
  expectedItems(request: RequestBody): number {
    const window = windowOf(request, this.#fields);
    return window ? itemsOf(this.density.guesses(window)) * this.#shareOf(request) : 0;
  }

  /** Adds the answer to a slice. */
  learn({ request, returned, full, items }: SliceResult): void {
    const window = windowOf(request, this.#fields);
    if (!window) return;
    this.mix.learn(items ?? []);
    if (this.isNarrower(request)) {
      // A part of a day that is full alone shows how busy the day is, long before all its parts have answers.
      if (full && window.from === window.to)
        this.density.estimateBusyDay(window.from, returned / this.#shareOf(request));
      return;
    }
    this.density.learn({ ...window, returned, full, days: items && daysOf(items, this.#fields.day) });
  }

  /** Adds the requests that follow or replace a slice. The parts of a day by kinds together describe the day. */
  recordSplit({ request, returned }: Pick<SliceResult, 'request' | 'returned'>, parts: readonly RequestBody[]): void {
    const window = windowOf(request, this.#fields);
    const isPart = this.isNarrower(request);
    const byKinds = parts.filter((part) => this.#kindsOf(part) !== this.#kindsOf(request)).length;
    if (!window || window.from !== window.to || byKinds < parts.length || (!isPart && byKinds === 0)) return;
    const { from } = window;
    const day = this.#splitDays.get(from) ?? { open: 0, items: 0 };
    this.#splitDays.set(from, day);
    day.open += byKinds - (isPart ? 1 : 0);
    day.items += byKinds === 0 ? returned : 0;
    if (day.open <= 0) this.density.learnBusyDay(from, day.items);
  }

  /** Adds a slice of an earlier run, oldest first. Only the length of its answer is known. */
  learnEarlier({ request, returned, full, runId }: EarlierSlice): void {
    const window = windowOf(request, this.#fields);
    if (!window || filtersOf(request, this.#fields) !== filtersOf(this.#base, this.#fields)) return;
    if (!this.isNarrower(request)) return this.density.learn({ ...window, returned, full });
    if (full || window.from !== window.to) return;
    const before = this.#recalledDays.get(window.from);
    const items = returned + (before?.runId === runId ? before.items : 0);
    this.#recalledDays.set(window.from, { runId, items });
    this.density.learn({ ...window, returned: items, full: false });
  }

  /** The expected share of the question's items that have the kinds of a request. */
  #shareOf(request: RequestBody): number {
    return Object.keys(this.#fields.kinds).reduce((share, field) => {
      const list = request[field];
      if (textOf(list) === textOf(this.#base[field])) return share;
      return share * this.mix.shareOf(field, Array.isArray(list) ? list : []);
    }, 1);
  }

  #kindsOf(request: RequestBody): string {
    return canonicalJson(Object.keys(this.#fields.kinds).map((field) => textOf(request[field])));
  }
}

/** A day that is split by kinds. */
interface SplitDay {
  /** Parts without an answer. */
  open: number;
  /** Items of the parts that were not split further. */
  items: number;
}

/** The days of a request, as numbers; undefined if it has no start or no end. */
export function windowOf(request: RequestBody, fields: Pick<WindowFields, 'from' | 'to'>): DayRange | undefined {
  const [from, to] = [request[fields.from], request[fields.to]];
  if (typeof from !== 'string' || typeof to !== 'string' || from > to) return undefined;
  return { from: dayNumber(from), to: dayNumber(to) };
}

function daysOf(items: readonly unknown[], field: string): number[] {
  return items.flatMap((item) => {
    const day = item !== null && typeof item === 'object' ? (item as RequestBody)[field] : undefined;
    const text = typeof day === 'string' ? day.slice(0, 10) : '';
    return onCalendar(text) ? [dayNumber(text)] : [];
  });
}

/** What a request filters by, besides days, kinds and count. */
const filtersOf = (request: RequestBody, { from, to, kinds }: WindowFields): string => {
  const excluded = [from, to, 'count', ...Object.keys(kinds)];
  return canonicalJson(Object.fromEntries(Object.entries(request).filter(([name]) => !excluded.includes(name))));
};

const textOf = (list: unknown): string => canonicalJson(Array.isArray(list) && list.length > 0 ? list : null);
