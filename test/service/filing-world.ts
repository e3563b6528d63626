/** Worlds of filings for tests of how capped answers are cut: so many a day, of forms and states, answered in some order. */
import type { RequestBody } from '../../src/service/request-body.ts';
import { dayNumber, dayText, weekdayOf } from '../../src/day.ts';

export interface Filing {
  readonly id: number;
  readonly day: number;
  readonly form: string;
  readonly state: string;
}

export interface FilingWorld {
  readonly from: string;
  readonly to: string;
  readonly filings: readonly Filing[];
  /** Filings that match a request, in the order of their ids. */
  readonly matching: (request: RequestBody) => readonly Filing[];
}

/** The order in which a service answers; `relevant` is another on each call, and then sorted by date. */
export type Order = 'newest first' | 'oldest first' | 'at random' | 'relevant';

/** Numbers from 0 to 1 that are the same for the same seed. */
export function drawn(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Weights = readonly (readonly [value: string, weight: number])[];

const FORMS: Weights = [
  ['4', 340],
  ['4/A', 10],
  ['8-K', 210],
  ['8-K/A', 10],
  ['10-Q', 110],
  ['10-K', 40],
  ['424B2', 70],
  ['SC 13G', 60],
  ['6-K', 50],
  ['DEF 14A', 30],
  ['3', 25],
  ['SC 13D', 25],
  ['S-8', 20],
  ['S-1', 18],
];
const STATES: Weights = [
  ['CA', 18],
  ['NY', 15],
  ['TX', 12],
  ['MA', 8],
  ['WA', 6],
  ['IL', 6],
  ['FL', 6],
  ['PA', 5],
  ['NJ', 5],
  ['', 9],
];

/** The values that a sync may split days by in these worlds: most forms, and the states except for missing ones. */
export const SPLIT_BY = {
  forms: ['10-K', '10-Q', '8-K', '4', 'SC 13G', '424B2'],
  location_codes: STATES.map(([state]) => state).filter((state) => state !== ''),
};

function pick(weights: Weights, share: number): string {
  let left = share * weights.reduce((sum, [, weight]) => sum + weight, 0);
  return weights.find(([, weight]) => (left -= weight) < 0)?.[0] ?? '';
}

/** About `rate` filings on each day, scattered as counts are. */
export function filingWorld(
  seed: number,
  from: string,
  to: string,
  rate: (day: number, draw: () => number) => number,
): FilingWorld {
  const draw = drawn(seed);
  const filings: Filing[] = [];
  for (let day = dayNumber(from); day <= dayNumber(to); day++) {
    for (let left = scattered(rate(day, draw), draw); left > 0; left--)
      filings.push({ id: filings.length, day, form: pick(FORMS, draw()), state: pick(STATES, draw()) });
  }
  return { from, to, filings, matching: matchingIn(filings) };
}

function scattered(mean: number, draw: () => number): number {
  if (mean > 30) {
    const normal = Math.sqrt(-2 * Math.log(Math.max(draw(), 1e-9))) * Math.cos(2 * Math.PI * draw());
    return Math.max(0, Math.round(mean + normal * Math.sqrt(mean)));
  }
  let [count, product] = [0, draw()];
  for (const least = Math.exp(-mean); product > least; product *= draw()) count++;
  return count;
}

/** A search among filings, which are in the order of their days. */
export function matchingIn(filings: readonly Filing[]): FilingWorld['matching'] {
  const firstFrom = (day: number): number => {
    let [low, high] = [0, filings.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((filings[middle]?.day ?? 0) < day) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return (request) => {
    const list = (field: string): readonly string[] => (request[field] ?? []) as readonly string[];
    const wanted = list('forms').filter((form) => !form.startsWith('-'));
    const excluded = list('forms').flatMap((form) => (form.startsWith('-') ? [form.slice(1)] : []));
    const states = list('location_codes');
    const day = (field: string, open: number): number =>
      typeof request[field] === 'string' ? dayNumber(request[field]) : open;
    const [first, last] = [day('date_from', -Infinity), day('date_to', Infinity)];
    return filings
      .slice(firstFrom(first), firstFrom(last + 1))
      .filter(
        (it) =>
          (wanted.length === 0 || wanted.some((form) => means(form, it.form))) &&
          !excluded.some((form) => means(form, it.form)) &&
          (states.length === 0 || states.includes(it.state)),
      );
  };
}

/** `4` means its amendments too, and so does `-4`. */
const means = (asked: string, form: string): boolean => form === asked || form === `${asked}/A`;

/** What a service answers: at most `count` of what matches. */
export function answerOf(
  world: Pick<FilingWorld, 'matching'>,
  request: RequestBody,
  order: Order,
  draw: () => number,
): Filing[] {
  const found = [...world.matching(request)];
  if (order === 'newest first') found.reverse();
  if (order === 'at random' || order === 'relevant') shuffle(found, draw);
  const answer = found.slice(0, Number(request['count']));
  return order === 'relevant' ? answer.toSorted((a, b) => a.day - b.day) : answer;
}

function shuffle(filings: Filing[], draw: () => number): void {
  for (let at = filings.length - 1; at > 0; at--) {
    const other = Math.floor(draw() * (at + 1));
    [filings[at], filings[other]] = [filings[other] as Filing, filings[at] as Filing];
  }
}

const items = new WeakMap<Filing, RequestBody>();

/** A filing as the service sends it; each is returned by many answers, and made once. */
export function itemOf(filing: Filing): RequestBody {
  const { id, day, form, state } = filing;
  const item = items.get(filing) ?? {
    '@type': '@sec_filing',
    accession_number: `0000000000-24-${String(id).padStart(6, '0')}`,
    file_name: 'primary_doc.xml',
    document_url: `https://filings.example/${id}`,
    filing_type: form,
    file_date: dayText(day),
    biz_states: state === '' ? [] : [state],
  };
  items.set(filing, item);
  return item;
}

const isWorkday = (day: number): boolean => weekdayOf(day) >= 1 && weekdayOf(day) <= 5;
const DEADLINES = ['02-13', '02-14', '02-15', '05-14', '05-15', '05-16', '08-12', '08-14', '08-15', '11-13', '11-14'];

/** Worlds of many shapes, by name. */
export const WORLDS: Readonly<Record<string, () => FilingWorld>> = {
  'every day alike': () => filingWorld(1, '2021-01-01', '2023-09-27', () => 20),
  'workdays alone': () => filingWorld(2, '2022-01-01', '2023-12-31', (day) => (isWorkday(day) ? 38 : 0)),
  'half an answer a day': () => filingWorld(3, '2022-01-01', '2023-06-30', (day) => (isWorkday(day) ? 52 : 0)),
  'more than an answer a day': () => filingWorld(8, '2023-01-01', '2023-08-31', (day) => (isWorkday(day) ? 120 : 1)),
  deadlines: () =>
    filingWorld(4, '2021-01-01', '2023-12-31', (day, draw) =>
      !isWorkday(day) ? 0.2 : DEADLINES.includes(dayText(day).slice(5)) ? 300 + 200 * draw() : 14,
    ),
  bursts: () =>
    filingWorld(5, '2022-01-01', '2023-12-31', (day, draw) =>
      !isWorkday(day) ? 0 : draw() < 0.05 ? 120 + 350 * draw() : 25,
    ),
  seasons: () =>
    filingWorld(6, '2021-01-01', '2023-12-31', (day) =>
      isWorkday(day) ? 24 * Math.exp(0.75 * Math.sin((day / 365) * 4 * 2 * Math.PI)) : 0,
    ),
  'growth over twenty years': () =>
    filingWorld(7, '2004-01-01', '2023-12-31', (day) =>
      isWorkday(day) ? 0.4 * Math.exp((day - dayNumber('2004-01-01')) / 365 / 5.5) : 0,
    ),
  'one day in ten busy': () =>
    filingWorld(12, '2022-01-01', '2023-12-31', (day, draw) =>
      !isWorkday(day) ? 0 : draw() < 0.1 ? 100 + 150 * draw() : 28,
    ),
  'a whole market': () => filingWorld(10, '2023-03-01', '2023-03-31', (day) => (isWorkday(day) ? 900 : 10)),
  'two thousand in twenty years': () => filingWorld(14, '2004-01-01', '2023-12-31', () => 2100 / 7300),
  'three hundred in twenty years': () => filingWorld(13, '2004-01-01', '2023-12-31', () => 300 / 7300),
  'five in twenty years': () => filingWorld(11, '2004-01-01', '2023-12-31', () => 5 / 7300),
};
