/** What follows from an answer: nothing, or the parts of a question that was answered in full. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RequestBody } from '../../src/service/request-body.ts';
import { dayNumber, dayText } from '../../src/day.ts';
import { Evidence } from '../../src/service/window/evidence.ts';
import { cappedBy, type Days, dayIn, isFull, singlePage, type Paging } from '../../src/service/paging.ts';
import type { SplitBy } from '../../src/service/window/facet-splits.ts';
import { window } from '../../src/service/window/window.ts';

const full = (request: RequestBody) => ({
  request,
  items: Array.from({ length: Number(request['count']) }, (_, index) => index),
});
const AT: Days = {
  from: 'date_from',
  to: 'date_to',
  timeZone: 'America/New_York',
  day: 'file_date',
  kinds: { forms: 'filing_type', location_codes: 'biz_states' },
};
const DAYS = window('forms', AT);
const CAPPED = cappedBy('forms');
/** The days of the requests belong to the window of a sync. */
const IN_WINDOW = { window: {} };

describe('once', () => {
  it('requests nothing more', () => {
    expect(singlePage.follow([full({ count: 1 })], { splitBy: { forms: ['10-K'] } })).toEqual({ requests: [] });
  });
});

describe('a full answer', () => {
  it('has as many items as were requested, or more', () => {
    expect(isFull({ request: { count: 2 }, items: [1] })).toBe(false);
    expect(isFull({ request: { count: 2 }, items: [1, 2] })).toBe(true);
    expect(isFull({ request: { count: 2 }, items: [1, 2, 3] })).toBe(true);
    expect(isFull({ request: {}, items: [1, 2, 3] })).toBe(false);
  });
});

describe('counted', () => {
  const berlin = { type: 'geo', value: '1' };
  const splitBy: SplitBy = { location: [berlin, 'Paris'], industry: ['Retail', 'Utilities'] };

  it('is done with an answer that is not full', () => {
    expect(CAPPED.follow([], { splitBy })).toEqual({ requests: [] });
    expect(CAPPED.follow([{ request: { count: 2 }, items: [1] }], { splitBy })).toEqual({ requests: [] });
  });

  it('splits by the first facet, then by the next within each part, then reports that more may exist', () => {
    const request = { count: 2, title: 'x' };
    const places = CAPPED.follow([full(request)], { splitBy });
    expect(places.requests).toEqual([
      { ...request, location: [berlin] },
      { ...request, location: ['Paris'] },
    ]);
    expect(places.lowerBound).toMatch(/more values than it is split by/);
    const industries = CAPPED.follow([full(places.requests[0] ?? {})], { splitBy });
    expect(industries.requests).toEqual(
      ['Retail', 'Utilities'].map((industry) => ({ ...request, location: [berlin], industry: [industry] })),
    );
    const end = CAPPED.follow([full(industries.requests[1] ?? {})], { splitBy });
    expect(end).toEqual({ requests: [], lowerBound: expect.stringMatching(/no field left to split/) });
  });

  it('splits the values that the question names, not those of the split', () => {
    const request = { count: 1, location: ['Rome', 'Oslo'] };
    expect(CAPPED.follow([full(request)], { splitBy }).requests).toEqual([
      { count: 1, location: ['Rome'] },
      { count: 1, location: ['Oslo'] },
    ]);
  });

  it('without a facet says that more may be there', () => {
    expect(CAPPED.follow([full({ count: 3 })], {})).toEqual({ requests: [], lowerBound: expect.any(String) });
  });

  it('divides first by what leaves nothing over, then by what takes the fewest requests', () => {
    const many: SplitBy = { industry: ['A', 'B', 'C'], location: ['Rome', 'Oslo'], title: ['x'] };
    const fieldOf = (request: RequestBody): string[] => {
      const [first] = CAPPED.follow([full(request)], { splitBy: many }).requests;
      return Object.keys(first ?? {}).filter((name) => first?.[name] !== request[name]);
    };
    expect(fieldOf({ count: 1 })).toEqual(['title']);
    expect(fieldOf({ count: 1, title: ['x'] })).toEqual(['location']);
    expect(fieldOf({ count: 1, industry: ['A', 'B', 'C', 'D'] })).toEqual(['industry']);
  });

  it('repeats the request with a greater count before it splits, four times as much up to the bound', () => {
    const ways = { splitBy, raiseCountTo: 50 };
    const counts = (count: number) => CAPPED.follow([full({ count })], ways).requests.map((it) => it['count']);
    expect(counts(10)).toEqual([40]);
    expect(counts(40)).toEqual([50]);
    expect(CAPPED.follow([full({ count: 50 })], ways).requests).toHaveLength(2);
    expect(CAPPED.follow([full({ count: 60 })], { raiseCountTo: 50 }).lowerBound).toBeDefined();
  });
});

describe('a window', () => {
  it('is cut into parts that share no day and leave none out, down to one day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9000 }), fc.integer({ min: 1, max: 900 }), (start, length) => {
        const request = { count: 1, date_from: dayText(start), date_to: dayText(start + length) };
        const { requests, estimate } = DAYS.follow([full(request)], IN_WINDOW);
        expect(requests).toHaveLength(2);
        expect(estimate?.requests).toBeGreaterThanOrEqual(2);
        const parts = requests
          .map((it) => [String(it['date_from']), String(it['date_to'])] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1));
        const [first, second] = parts;
        expect([first?.[0], second?.[1]]).toEqual([request.date_from, request.date_to]);
        expect(Date.parse(second?.[0] ?? '') - Date.parse(first?.[1] ?? '')).toBe(86_400_000);
        for (const part of parts) expect(part[0] <= part[1]).toBe(true);
      }),
      { seed: 4, numRuns: 200 },
    );
  });

  it('is cut where the dates of an answer in their order say that the next has room', () => {
    const request = { count: 100, date_from: '2024-01-01', date_to: '2024-03-31' };
    const items = Array.from({ length: 100 }, (_, at) => ({
      file_date: dayText(dayNumber('2024-03-31') - Math.floor(at / 10)),
    }));
    const [part, rest] = DAYS.follow([{ request, items }], IN_WINDOW).requests;
    // Ten a day, newest first.
    expect(part).toEqual({ ...request, date_from: '2024-03-25' });
    expect(rest).toEqual({ ...request, date_to: '2024-03-24' });
  });

  it('is requested with a greater count first, if that is allowed', () => {
    const request = { count: 20, date_from: '2024-01-01', date_to: '2024-01-31' };
    const ways = { ...IN_WINDOW, raiseCountTo: 100 };
    expect(DAYS.follow([full(request)], ways).requests).toEqual([{ ...request, count: 80 }]);
    expect(DAYS.follow([full({ ...request, count: 80 })], ways).requests).toEqual([{ ...request, count: 100 }]);
    expect(DAYS.follow([full({ ...request, count: 100 })], ways).requests).toHaveLength(2);
  });

  describe('that would likely be full', () => {
    const request = (date_from: string, date_to = date_from, more: RequestBody = {}): RequestBody => ({
      count: 100,
      entity_name: '',
      date_from,
      date_to,
      ...more,
    });
    /** Each of the first ten days of March 2024 held so many. */
    const evidenceOf = (each: number) => {
      const known = new Evidence(request('2024-03-01', '2024-03-31'), AT);
      for (let day = 1; day <= 10; day++)
        known.learnEarlier({
          request: request(`2024-03-${String(day).padStart(2, '0')}`),
          returned: each,
          full: false,
          runId: '1',
        });
      return known;
    };
    const splitBy: SplitBy = { forms: ['4', '10-K'], location_codes: ['CA'] };
    const insteadOf = (asked: RequestBody, each: number, by: SplitBy = splitBy) =>
      DAYS.splitBefore?.(asked, { ...IN_WINDOW, splitBy: by, evidence: evidenceOf(each) });

    it('is split without being sent, and one with room is not', () => {
      expect(insteadOf(request('2024-03-11', '2024-03-12'), 20)).toBeUndefined();
      const fixed = { splitBy, evidence: evidenceOf(40) };
      expect(DAYS.splitBefore?.(request('2024-03-11', '2024-03-22'), fixed)).toBeUndefined();
      const cut = insteadOf(request('2024-03-11', '2024-03-22'), 40);
      expect(cut?.requests.map((it) => [it['date_from'], it['date_to']])).toEqual([
        ['2024-03-11', '2024-03-12'],
        ['2024-03-13', '2024-03-22'],
      ]);
      expect(cut?.estimate?.items).toBeGreaterThan(300);
    });

    it('is divided by forms when it is one day, and never by what leaves something over', () => {
      expect(insteadOf(request('2024-03-11'), 300)?.requests.map((it) => it['forms'])).toEqual([
        ['4'],
        ['10-K'],
        ['-4', '-10-K'],
      ]);
      expect(insteadOf(request('2024-03-11'), 300, { location_codes: ['CA', 'NY'] })).toBeUndefined();
      expect(insteadOf(request('2024-03-11'), 90)).toBeUndefined();
      // A part of its forms is another question.
      expect(insteadOf(request('2024-03-11', '2024-03-11', { forms: ['4', '10-K'] }), 300)).toBeUndefined();
    });

    it('of which nothing is known is sent', () => {
      const asked = request('2004-03-01', '2024-03-31');
      expect(DAYS.splitBefore?.(asked, { ...IN_WINDOW, splitBy })).toBeUndefined();
      expect(DAYS.splitBefore?.(asked, { ...IN_WINDOW, splitBy, evidence: new Evidence(asked, AT) })).toBeUndefined();
    });
  });

  it('of one day, or open at an end, is split by its facets', () => {
    for (const dates of [{ date_from: '2024-03-01', date_to: '2024-03-01' }, { date_from: '2024-03-01' }, {}]) {
      const request = { count: 1, ...dates };
      const ways = { ...IN_WINDOW, splitBy: { location_codes: ['CA'] } };
      expect(DAYS.follow([full(request)], ways).requests).toEqual([{ ...request, location_codes: ['CA'] }]);
      expect(DAYS.follow([full(request)], IN_WINDOW).lowerBound).toBeDefined();
    }
  });

  it('of fixed dates is split by its facets, and never by its days', () => {
    const request = { count: 1, date_from: '2024-03-01', date_to: '2024-12-31' };
    expect(DAYS.follow([full(request)], {})).toEqual({ requests: [], lowerBound: expect.any(String) });
    expect(DAYS.follow([full(request)], { splitBy: { location_codes: ['CA'] } }).requests).toEqual([
      { ...request, location_codes: ['CA'] },
    ]);
  });

  it('is not cut when its answer was not full', () => {
    expect(
      DAYS.follow([{ request: { count: 2, date_from: '2024-01-01', date_to: '2024-02-01' }, items: [1] }], IN_WINDOW),
    ).toEqual({ requests: [] });
  });
});

describe('a day', () => {
  it('is that of the time zone', () => {
    expect(dayIn('America/New_York', new Date('2024-03-01T04:59:59Z'))).toBe('2024-02-29');
    expect(dayIn('America/New_York', new Date('2024-03-01T05:00:00Z'))).toBe('2024-03-01');
    expect(dayIn('UTC', new Date('0999-03-01T05:00:00Z'))).toMatch(/^0?999-03-01$/);
  });
});

describe('forms', () => {
  const splitBy: SplitBy = { forms: ['10-K', '10-Q'] };
  const formsAsked = (forms?: readonly string[]) =>
    CAPPED.follow([full({ count: 1, ...(forms && { forms }) })], { splitBy }).requests.map((it) => it['forms']);

  it('have a remainder: all that the named ones leave over', () => {
    expect(formsAsked()).toEqual([['10-K'], ['10-Q'], ['-10-K', '-10-Q']]);
    expect(formsAsked([])).toEqual([['10-K'], ['10-Q'], ['-10-K', '-10-Q']]);
  });

  it('that the question names leave nothing over', () => {
    expect(formsAsked(['8-K', '4'])).toEqual([['8-K'], ['4']]);
  });

  it('that the question excludes stay excluded in every part', () => {
    expect(formsAsked(['10-K', '10-Q', '-10-K/A'])).toEqual([
      ['10-K', '-10-K/A'],
      ['10-Q', '-10-K/A'],
    ]);
    expect(formsAsked(['-10-K/A'])).toEqual([
      ['10-K', '-10-K/A'],
      ['10-Q', '-10-K/A'],
      ['-10-K/A', '-10-K', '-10-Q'],
    ]);
    expect(formsAsked(['-10-K'])).toEqual([
      ['10-Q', '-10-K'],
      ['-10-K', '-10-Q'],
    ]);
  });

  it('that were cut already are not cut again', () => {
    for (const forms of [['10-K'], ['-10-K', '-10-Q'], ['10-K', '-10-K/A']]) expect(formsAsked(forms)).toEqual([]);
  });
});

describe('a source of filings', () => {
  const FORMS = ['10-K', '10-K/A', '10-Q', '8-K', '4'];
  const STATES = ['CA', 'NY', 'TX'];
  const day = (number: number): string => `2024-01-${String(number).padStart(2, '0')}`;
  interface Filing {
    readonly form: string;
    readonly state: string;
    readonly day: string;
  }

  /** `10-K` means its amendments too, and so does `-10-K`. */
  const means = (wanted: string, form: string): boolean => form === wanted || form === `${wanted}/A`;
  function isAskedFor(request: RequestBody, it: Filing): boolean {
    const forms = (request['forms'] ?? []) as string[];
    const wanted = forms.filter((form) => !form.startsWith('-'));
    const states = (request['location_codes'] ?? []) as string[];
    return (
      (wanted.length === 0 || wanted.some((form) => means(form, it.form))) &&
      !forms.some((form) => form.startsWith('-') && means(form.slice(1), it.form)) &&
      (states.length === 0 || states.includes(it.state)) &&
      it.day >= ((request['date_from'] ?? '') as string) &&
      it.day <= ((request['date_to'] ?? '9') as string)
    );
  }

  interface Asked {
    readonly leaves: readonly (readonly number[])[];
    readonly isLowerBound: boolean;
    readonly requests: readonly RequestBody[];
  }
  function askAll(paging: Paging, source: readonly Filing[], question: RequestBody, splitBy: SplitBy): Asked {
    const leaves: number[][] = [];
    const requests: RequestBody[] = [];
    let isLowerBound = false;
    const open = [question];
    for (let request = open.pop(); request; request = open.pop()) {
      requests.push(request);
      expect(requests.length).toBeLessThan(2000);
      const items = source
        .flatMap((it, index) => (isAskedFor(request, it) ? [index] : []))
        .slice(0, Number(request['count']));
      const { requests: more, lowerBound } = paging.follow([{ request, items }], { ...IN_WINDOW, splitBy });
      if (lowerBound !== undefined) isLowerBound = true;
      if (more.length === 0) leaves.push(items);
      open.push(...more);
    }
    return { leaves, isLowerBound, requests };
  }

  const filings = fc.array(
    fc.record({
      form: fc.constantFrom(...FORMS),
      state: fc.constantFrom(...STATES),
      day: fc.integer({ min: 1, max: 9 }).map(day),
    }),
    { maxLength: 60 },
  );
  const asked = fc.subarray(['10-K', '10-Q', '8-K', '-10-K/A', '-4']);
  const named = fc.subarray(['10-K', '10-Q', '4'], { minLength: 1 });

  it('returns exactly what was requested, each item once, or reports a lower bound', () => {
    fc.assert(
      fc.property(
        filings,
        asked,
        named,
        fc.boolean(),
        fc.integer({ min: 1, max: 12 }),
        (source, forms, facet, withDays, count) => {
          const question = {
            count,
            ...(forms.length > 0 && { forms }),
            ...(withDays && { date_from: day(1), date_to: day(9) }),
          };
          const { leaves, isLowerBound } = askAll(DAYS, source, question, { forms: facet });
          const got = leaves.flat();
          const due = source.flatMap((it, index) => (isAskedFor(question, it) ? [index] : []));
          expect(got.filter((index) => !due.includes(index))).toEqual([]);
          expect(new Set(got).size).toBe(got.length);
          if (!isLowerBound) expect([...got].toSorted((a, b) => a - b)).toEqual(due);
        },
      ),
      { seed: 5, numRuns: 400 },
    );
  });

  it('ends with two facets as well, and never sends the same request twice', () => {
    fc.assert(
      fc.property(filings, asked, named, fc.integer({ min: 1, max: 4 }), (source, forms, facet, count) => {
        const { requests } = askAll(
          DAYS,
          source,
          { count, forms, date_from: day(1), date_to: day(9) },
          { forms: facet, location_codes: ['CA', 'NY'] },
        );
        expect(new Set(requests.map((it) => JSON.stringify(it))).size).toBe(requests.length);
      }),
      { seed: 6, numRuns: 200 },
    );
  });
});
