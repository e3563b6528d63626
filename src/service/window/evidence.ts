/** What the slices of one question told so far: how many items its days hold, and of which kinds. Estimates only. */
import type { RequestBody } from '../request-body.ts';
import { dayNumber, onCalendar } from '../day.ts';
import { type Density, density } from './density.ts';
import { canonicalJson } from '../canonical-json.ts';
import { type Mix, mix } from './mix.ts';

/** Where requests and items of an endpoint tell their days and kinds. */
export interface WindowFields {
  /** Request fields of the first and the last day. */
  readonly from: string;
  readonly to: string;
  /** Item field of the day. */
  readonly day: string;
  /** Item fields by the request's list fields that filter by them. */
  readonly kinds: Readonly<Record<string, string>>;
}

/** An answer as evidence; without items when only their number is known. */
export interface SliceResult {
  readonly request: RequestBody;
  readonly returned: number;
  readonly full: boolean;
  readonly items?: readonly unknown[];
}

export interface Evidence {
  readonly density: Density;
  readonly mix: Mix;
  /** True of a slice that asks for some kinds only, of those that the question asks for. */
  readonly isNarrower: (request: RequestBody) => boolean;
  /** How many items a question is likely to hold. */
  readonly expectedItems: (request: RequestBody) => number;
  /** Takes in the answer to a slice. */
  readonly learn: (told: SliceResult) => void;
  /** Takes in what is asked after a slice, or in its place; a day's parts by kinds tell the day together. */
  readonly recordSplit: (told: Pick<SliceResult, 'request' | 'returned'>, parts: readonly RequestBody[]) => void;
  /** Takes in a slice of an earlier run, the oldest first. Of its answer no more is known than how long it was. */
  readonly learnEarlier: (slice: EarlierSlice) => void;
}

export interface EarlierSlice extends Omit<SliceResult, 'items'> {
  /** Slices of one day by kinds add up to the day if they are of one run. */
  readonly runId: string;
}

/** Evidence on a question, given with the lists that it names itself. */
export function evidence(base: RequestBody, shown: WindowFields): Evidence {
  const days = density();
  const kinds = mix(shown.kinds);
  const dividedDays = new Map<number, DividedDay>();
  const dividedDay = (day: number): DividedDay => {
    const found = dividedDays.get(day) ?? { open: 0, items: 0, answered: 0, share: 0 };
    dividedDays.set(day, found);
    return found;
  };
  const recalledDays = new Map<number, { readonly runId: string; readonly items: number }>();
  const kindsOf = (request: RequestBody): string =>
    canonicalJson(Object.keys(shown.kinds).map((field) => textOf(request[field])));
  const isNarrower = (request: RequestBody): boolean => kindsOf(request) !== kindsOf(base);
  const shareOf = (request: RequestBody): number =>
    Object.keys(shown.kinds).reduce((share, field) => {
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
      const window = windowOf(request, shown);
      const guesses = window ? days.guesses(window.from, window.to) : [];
      return guesses.reduce((sum, { items }) => sum + items, 0) * shareOf(request);
    },
    learn: ({ request, returned, full, items }) => {
      const window = windowOf(request, shown);
      if (!window) return;
      kinds.learn(items ?? [], window.from === window.to);
      if (!isNarrower(request)) {
        days.learn({ ...window, returned, full, ...(items && { days: daysOf(items, shown.day) }) });
      } else if (!full && window.from === window.to) {
        const day = dividedDay(window.from);
        day.answered += returned;
        day.share += shareOf(request);
        if (day.share >= TELLING) days.learnEstimate(window.from, day.answered / day.share);
      }
    },
    recordSplit: ({ request, returned }, parts) => {
      const window = windowOf(request, shown);
      const narrower = isNarrower(request);
      const byKinds = parts.filter((part) => kindsOf(part) !== kindsOf(request)).length;
      if (!window || window.from !== window.to || byKinds < parts.length || (!narrower && byKinds === 0)) return;
      const { from } = window;
      const day = dividedDay(from);
      day.open += byKinds - (narrower ? 1 : 0);
      day.items += byKinds === 0 ? returned : 0;
      if (day.open <= 0) days.learnBusyDay(from, day.items);
    },
    learnEarlier: ({ request, returned, full, runId }) => {
      const window = windowOf(request, shown);
      if (!window || othersOf(request, shown) !== othersOf(base, shown)) return;
      if (!isNarrower(request)) return days.learn({ ...window, returned, full });
      if (full || window.from !== window.to) return;
      const before = recalledDays.get(window.from);
      const items = returned + (before?.runId === runId ? before.items : 0);
      recalledDays.set(window.from, { runId, items });
      days.learn({ ...window, returned: items, full: false });
    },
  };
}

/** A day that is asked in parts by kinds. */
interface DividedDay {
  /** Parts without an answer. */
  open: number;
  /** Items of the parts that were not divided further. */
  items: number;
  /** Items of the parts that were answered whole, and the share of the day that these are by the mix. */
  answered: number;
  share: number;
}

/** A smaller share of a day says too little of the others: there are days for annual reports, and days for none. */
const TELLING = 0.15;

/** The days of a request, as numbers; undefined when it is open at an end. */
export function windowOf(
  request: RequestBody,
  at: Pick<WindowFields, 'from' | 'to'>,
): { readonly from: number; readonly to: number } | undefined {
  const [from, to] = [request[at.from], request[at.to]];
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

/** What a question asks beside its days, its kinds and how much at once. */
const othersOf = (request: RequestBody, { from, to, kinds }: WindowFields): string => {
  const cut = [from, to, 'count', ...Object.keys(kinds)];
  return canonicalJson(Object.fromEntries(Object.entries(request).filter(([name]) => !cut.includes(name))));
};

const textOf = (list: unknown): string => canonicalJson(Array.isArray(list) && list.length > 0 ? list : null);
