/** Evidence from the slices of one question so far: how many items its days hold, and their kinds. Estimates only. */
import type { RequestBody } from '../request-body.ts';
import { dayNumber, onCalendar } from '../../day.ts';
import { Density } from './density.ts';
import { canonicalJson } from '../canonical-json.ts';
import { type Mix, mix } from './mix.ts';

/** The fields of an endpoint's requests and items that hold days and kinds. */
export interface WindowFields {
  /** Request fields of the first and last day. */
  readonly from: string;
  readonly to: string;
  /** Item field of the day. */
  readonly day: string;
  /** Item fields of kinds, by the request's list fields that filter on them. */
  readonly kinds: Readonly<Record<string, string>>;
  /** The list field in which a minus sign excludes a value, so that one request can ask for all other values. */
  readonly remainder?: string;
}

/** An answer as evidence; without items if only their number is known. */
export interface SliceResult {
  readonly request: RequestBody;
  readonly returned: number;
  readonly full: boolean;
  readonly items?: readonly unknown[];
}

export interface Evidence {
  readonly density: Density;
  readonly mix: Mix;
  /** True if a slice requests only some of the question's kinds. */
  readonly isNarrower: (request: RequestBody) => boolean;
  /** The expected number of items of a request. */
  readonly expectedItems: (request: RequestBody) => number;
  /** Adds the answer to a slice. */
  readonly learn: (answer: SliceResult) => void;
  /** Adds the requests that follow or replace a slice. The parts of a day by kinds together describe the day. */
  readonly recordSplit: (slice: Pick<SliceResult, 'request' | 'returned'>, parts: readonly RequestBody[]) => void;
  /** Adds a slice of an earlier run, oldest first. Only the length of its answer is known. */
  readonly learnEarlier: (slice: EarlierSlice) => void;
}

export interface EarlierSlice extends Omit<SliceResult, 'items'> {
  /** Slices of one day by kinds add up only if they belong to one run. */
  readonly runId: string;
}

/** Evidence for a question, whose own lists are in `base`. */
export function evidence(base: RequestBody, fields: WindowFields): Evidence {
  const days = new Density();
  const kinds = mix(fields.kinds);
  const splitDays = new Map<number, SplitDay>();
  const splitDayAt = (day: number): SplitDay => {
    const found = splitDays.get(day) ?? { open: 0, items: 0, answered: 0, share: 0 };
    splitDays.set(day, found);
    return found;
  };
  const recalledDays = new Map<number, { readonly runId: string; readonly items: number }>();
  const kindsOf = (request: RequestBody): string =>
    canonicalJson(Object.keys(fields.kinds).map((field) => textOf(request[field])));
  const isNarrower = (request: RequestBody): boolean => kindsOf(request) !== kindsOf(base);
  const shareOf = (request: RequestBody): number =>
    Object.keys(fields.kinds).reduce((share, field) => {
      const list = request[field];
      return textOf(list) === textOf(base[field])
        ? share
        : share * kinds.shareOf(field, Array.isArray(list) ? list : []);
    }, 1);
  return {
    density: days,
    mix: kinds,
    isNarrower,
    expectedItems: (request) => {
      const window = windowOf(request, fields);
      const guesses = window ? days.guesses(window.from, window.to) : [];
      return guesses.reduce((sum, { items }) => sum + items, 0) * shareOf(request);
    },
    learn: ({ request, returned, full, items }) => {
      const window = windowOf(request, fields);
      if (!window) return;
      kinds.learn(items ?? [], window.from === window.to);
      if (!isNarrower(request)) {
        days.learn({ ...window, returned, full, ...(items && { days: daysOf(items, fields.day) }) });
      } else if (!full && window.from === window.to) {
        const day = splitDayAt(window.from);
        day.answered += returned;
        day.share += shareOf(request);
        if (day.share >= LEAST_SHARE) days.learnEstimate(window.from, day.answered / day.share);
      }
    },
    recordSplit: ({ request, returned }, parts) => {
      const window = windowOf(request, fields);
      const narrower = isNarrower(request);
      const byKinds = parts.filter((part) => kindsOf(part) !== kindsOf(request)).length;
      if (!window || window.from !== window.to || byKinds < parts.length || (!narrower && byKinds === 0)) return;
      const { from } = window;
      const day = splitDayAt(from);
      day.open += byKinds - (narrower ? 1 : 0);
      day.items += byKinds === 0 ? returned : 0;
      if (day.open <= 0) days.learnBusyDay(from, day.items);
    },
    learnEarlier: ({ request, returned, full, runId }) => {
      const window = windowOf(request, fields);
      if (!window || filtersOf(request, fields) !== filtersOf(base, fields)) return;
      if (!isNarrower(request)) return days.learn({ ...window, returned, full });
      if (full || window.from !== window.to) return;
      const before = recalledDays.get(window.from);
      const items = returned + (before?.runId === runId ? before.items : 0);
      recalledDays.set(window.from, { runId, items });
      days.learn({ ...window, returned: items, full: false });
    },
  };
}

/** A day that is split by kinds. */
interface SplitDay {
  /** Parts without an answer. */
  open: number;
  /** Items of the parts that were not split further. */
  items: number;
  /** Items of the parts with complete answers, and the expected share of these parts. */
  answered: number;
  share: number;
}

/** A smaller share of a day says too little about the rest: some days consist of annual reports, others have none. */
const LEAST_SHARE = 0.15;

/** The days of a request, as numbers; undefined if it has no start or no end. */
export function windowOf(
  request: RequestBody,
  fields: Pick<WindowFields, 'from' | 'to'>,
): { readonly from: number; readonly to: number } | undefined {
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
