/**
 * How answers lead to more requests. Each strategy is one pure function from the steps walked so far to the requests
 * that follow the last of them: none, the next page, or the parts of a question whose answer was full.
 */
import type { RequestBody } from './asked.ts';

/** A request and the items that it brought. */
export interface Step {
  readonly request: RequestBody;
  readonly items: readonly unknown[];
}

/** What a sync allows when an answer is full: values by list field, each a narrower question. */
export type SplitBy = Readonly<Record<string, readonly unknown[]>>;

export interface Follow {
  readonly requests: readonly RequestBody[];
  /** Why the last answer may not be all there is, when nothing more can be asked. */
  readonly lowerBound?: string;
}

export interface Paging {
  readonly by: 'once' | 'count' | 'cursor' | 'window';
  /** Request fields that the strategy fills in; a sync may not set them. */
  readonly owns: readonly string[];
  /** Of a window: the request fields that hold its first and last day. */
  readonly days?: Days;
  /** Throws nothing. `steps` are one walk, oldest first; only a cursor looks further back than the last. */
  readonly follow: (steps: readonly Step[], splitBy: SplitBy) => Follow;
}

/** The request fields of a date window, and where its days begin and end. */
export interface Days {
  readonly from: string;
  readonly to: string;
  /** IANA name of the source's time zone. */
  readonly timeZone: string;
}

/** The day, YYYY-MM-DD, that it is at an instant in a time zone. */
export const dayIn = (timeZone: string, at: Date): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

const DONE: Follow = { requests: [] };

/** True of an answer with as many items as were asked for: there may be more. */
export const isFull = ({ request, items }: Step): boolean =>
  typeof request['count'] === 'number' && items.length >= request['count'];

/** One request, one answer. */
export const once: Paging = { by: 'once', owns: [], follow: () => DONE };

/** An answer capped at `count` and no second page; a full one is asked again in parts where the sync says how. */
export const counted: Paging = {
  by: 'count',
  owns: [],
  follow: (steps, splitBy) => {
    const last = steps.at(-1);
    return last && isFull(last) ? parts(last.request, splitBy) : DONE;
  },
};

/** A full answer's date window is asked again as two halves, down to one day; then in parts. */
export const window = (at: Days): Paging => ({
  by: 'window',
  owns: [],
  days: at,
  follow: (steps, splitBy) => {
    const last = steps.at(-1);
    if (!last || !isFull(last)) return DONE;
    const [from, to] = [last.request[at.from], last.request[at.to]];
    if (typeof from !== 'string' || typeof to !== 'string' || from >= to) return parts(last.request, splitBy);
    const middle = isoDay(Math.floor((dayNumber(from) + dayNumber(to)) / 2));
    return {
      requests: [
        { ...last.request, [at.to]: middle },
        { ...last.request, [at.from]: isoDay(dayNumber(middle) + 1) },
      ],
    };
  },
});

/** Form filters exclude with a minus sign, so what the named forms leave over is a question of its own. */
const REMAINDER_FIELD = 'forms';

/** The first facet not narrowed yet, one request a value; forms also ask for all the others. */
function parts(request: RequestBody, splitBy: SplitBy): Follow {
  for (const [field, values] of Object.entries(splitBy)) {
    const narrowed = narrow(request, field, values);
    if (narrowed.length === 0) continue;
    const asked = request[field];
    const covered = field === REMAINDER_FIELD || (Array.isArray(asked) && asked.length > 0);
    return covered
      ? { requests: narrowed }
      : {
          requests: narrowed,
          lowerBound: `as many items as asked for, and ${field} has more values than it is split by`,
        };
  }
  return { requests: [], lowerBound: 'as many items as asked for, and nothing left to split it by' };
}

function narrow(request: RequestBody, field: string, values: readonly unknown[]): RequestBody[] {
  const asked = Array.isArray(request[field]) ? (request[field] as readonly unknown[]) : [];
  const excluded = field === REMAINDER_FIELD ? asked.filter(isExclusion) : [];
  const wanted = asked.filter((value) => !excluded.includes(value));
  // One value left, or exclusions that name every value already: this slice has been cut along this field.
  if (wanted.length === 1) return [];
  const open = values.filter((value) => !excluded.includes(`-${String(value)}`));
  const cut = wanted.length === 0 ? open : wanted;
  if (cut.length === 0) return [];
  const slices = cut.map((value) => ({ ...request, [field]: [value, ...excluded] }));
  const rest = field === REMAINDER_FIELD && wanted.length === 0;
  return rest
    ? [...slices, { ...request, [field]: [...excluded, ...open.map((value) => `-${String(value)}`)] }]
    : slices;
}

const isExclusion = (value: unknown): boolean => typeof value === 'string' && value.startsWith('-');

const DAY_MS = 86_400_000;
const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;
const isoDay = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10);
