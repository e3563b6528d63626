import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type CandidateEvent,
  type CandidateKind,
  CandidateSweep,
  type MatchChange,
} from '../../src/recovery/reconcile/candidate-sweep.ts';
import { expectedMatches, type LoggedRow, type SentRequest } from './candidate-oracle.ts';
import { countOf } from '../support/long.ts';

interface StoredRow extends LoggedRow {
  readonly mayChange: boolean;
  readonly mayBeOthers: boolean;
  /** Stored matches, by the index of a request. */
  readonly stored: readonly (readonly [request: number, kind: CandidateKind])[];
}

const matchesOf = ({ stored }: StoredRow): Record<string, CandidateKind> =>
  Object.fromEntries(stored.map(([request, kind]) => [String(request), kind]));

/** The events in time order: at one time, starts, then rows, then ends. */
function eventsOf(requests: readonly SentRequest[], rows: readonly StoredRow[]): CandidateEvent[] {
  const spans = requests.flatMap(({ id, spans, failedStatuses = null, ...request }) =>
    spans.map(([from, to]) => ({
      from,
      to,
      start: { event: 'start', requestId: id, ...request, failedStatuses, spans: spans.length } as const,
      end: { event: 'end', requestId: id } as const,
    })),
  );
  const row = (it: StoredRow): CandidateEvent => {
    const { id, endpoints, count, status = null, mayChange, mayBeOthers } = it;
    return { event: 'row', logId: id, endpoints, count, status, mayChange, mayBeOthers, matches: matchesOf(it) };
  };
  return [
    ...spans.map(({ from, start }) => ({ at: from, event: start })),
    ...rows.map((it) => ({ at: it.at, event: row(it) })),
    ...spans.map(({ to, end }) => ({ at: to, event: end })),
  ]
    .toSorted((a, b) => a.at - b.at)
    .map(({ event }) => event);
}

/** The changes that lead from the stored matches to the expected ones. */
function expectedChanges(requests: readonly SentRequest[], rows: readonly StoredRow[]): MatchChange[] {
  const expected = expectedMatches(requests, rows);
  return rows
    .filter(({ mayChange }) => mayChange)
    .flatMap((row) => {
      const before = matchesOf(row);
      return Array.from({ length: MOST_REQUESTS + 5 }, (_, request) => ({
        requestId: String(request),
        logId: row.id,
        before: before[request] ?? null,
        after: expected.get(`${request} ${row.id}`) ?? null,
      }));
    })
    .filter(({ before, after }) => before !== after);
}

const sorted = (changes: readonly MatchChange[]): string[] => changes.map((it) => JSON.stringify(it)).toSorted();

const MOST_REQUESTS = 25;
const time = fc.nat(60);
const count = fc.option(fc.nat(4));
const endpoint = fc.constantFrom('group', 'pronet.group');
const requests = fc
  .array(
    fc.record({
      endpoint,
      count,
      attempts: fc.integer({ min: 1, max: 4 }),
      failedStatuses: fc.option(fc.array(fc.constantFrom(500, 503), { minLength: 1 })),
      spans: fc.array(
        fc.tuple(time, fc.nat(25)).map(([from, length]) => [from, from + length] as const),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { maxLength: MOST_REQUESTS, size: 'max' },
  )
  .map((all) => all.map((request, index) => ({ ...request, id: String(index) })));
const rows = fc
  .array(
    fc.record({
      at: fc.nat(90),
      endpoints: fc.uniqueArray(endpoint),
      count,
      status: fc.constantFrom(null, 200, 500, 503),
      mayChange: fc.boolean(),
      mayBeOthers: fc.boolean(),
      // Some stored matches are of requests that are over, or not read.
      stored: fc.array(
        fc.tuple(fc.nat(MOST_REQUESTS + 4), fc.constantFrom<CandidateKind>('only_candidate', 'ambiguous')),
        { maxLength: 3 },
      ),
    }),
    { maxLength: 30, size: 'max' },
  )
  .map((all) => all.map((row, index) => ({ ...row, id: `row ${index}` })));

it('the sweep decides what a comparison of every row with every request decides, in pages of any size', () => {
  fc.assert(
    fc.property(requests, rows, fc.integer({ min: 1, max: 20 }), (sent, logged, size) => {
      const events = eventsOf(sent, logged);
      const sweep = new CandidateSweep();
      const changes: MatchChange[] = [];
      for (let at = 0; at < events.length; at += size) changes.push(...sweep.process(events.slice(at, at + size)));
      expect(sorted(changes)).toEqual(sorted(expectedChanges(sent, logged)));
    }),
    { seed: 11, numRuns: countOf(400, 20_000) },
  );
});

it('a request with more rows than attempts is decided at once, so that its rows are not kept until its end', () => {
  const sweep = new CandidateSweep();
  const start = {
    event: 'start',
    requestId: '1',
    endpoint: 'group',
    count: null,
    attempts: 1,
    spans: 1,
    failedStatuses: null,
  } as const;
  const row = (logId: string): CandidateEvent => ({
    event: 'row',
    logId,
    endpoints: ['group'],
    count: null,
    status: 200,
    mayChange: true,
    mayBeOthers: false,
    matches: null,
  });
  const ambiguous = { requestId: '1', before: null, after: 'ambiguous' };
  expect(sweep.process([start, row('a')])).toEqual([]);
  expect(sweep.process([row('b')])).toEqual([
    { ...ambiguous, logId: 'a' },
    { ...ambiguous, logId: 'b' },
  ]);
  expect(sweep.process([row('c')])).toEqual([{ ...ambiguous, logId: 'c' }]);
  expect(sweep.process([{ event: 'end', requestId: '1' }])).toEqual([]);
});
