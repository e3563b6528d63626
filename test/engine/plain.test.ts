/** What the engine reckons without a database: firings, chunks, and what follows from an end. */
import { describe, expect, it } from 'vitest';
import { firingsOf } from '../../src/engine/firings.ts';
import { jobsSchema } from '../../src/warehouse/schema/jobs-schema.ts';
import { decideAfter } from '../../src/engine/job-decision.ts';
import { ChunkPlan } from '../../src/plan/chunks.ts';

const firings = (cron: string, timezone: string, after: string, most = 3): string[] =>
  firingsOf({ cron, timezone }, new Date(after), most).map((at) => at.toISOString());

describe('firings', () => {
  it('go by the time zone, over the ends of weeks and of summer time', () => {
    expect(firings('15 6 * * 1-5', 'America/New_York', '2026-03-06T12:00:00Z')).toEqual([
      '2026-03-09T10:15:00.000Z',
      '2026-03-10T10:15:00.000Z',
      '2026-03-11T10:15:00.000Z',
    ]);
    expect(firings('15 6 * * 1-5', 'America/New_York', '2026-03-05T11:15:00Z', 1)).toEqual([
      '2026-03-06T11:15:00.000Z',
    ]);
  });

  it('happen once a day also when clocks change: an hour later in spring, in the first of two hours in autumn', () => {
    expect(firings('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
    expect(firings('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(firings('30 * * * *', 'Europe/Berlin', '2026-10-24T23:45:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]);
  });

  it.each([
    ['0 23 * * *', 'America/Nuuk', '2026-03-28T01:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z']],
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-02T16:00:00Z',
      ['2026-10-03T15:45:00.000Z', '2026-10-04T15:15:00.000Z'],
    ],
    [
      '30 2 * * *',
      'Antarctica/Troll',
      '2026-10-24T12:00:00Z',
      ['2026-10-25T00:30:00.000Z', '2026-10-26T02:30:00.000Z'],
    ],
    ['45 23 * * *', 'Africa/Cairo', '2026-10-29T12:00:00Z', ['2026-10-29T20:45:00.000Z', '2026-10-30T21:45:00.000Z']],
  ])('of %j happen once a day in %s', (cron, timezone, after, expected) => {
    expect(firings(cron, timezone, after, 2)).toEqual(expected);
  });

  it('match one of the two kinds of days if both are written', () => {
    expect(firings('0 0 13 * 5', 'UTC', '2026-03-06T12:00:00Z', 3)).toEqual([
      '2026-03-13T00:00:00.000Z',
      '2026-03-20T00:00:00.000Z',
      '2026-03-27T00:00:00.000Z',
    ]);
    expect(firings('0 0 13 * 5', 'UTC', '2026-04-10T12:00:00Z', 1)).toEqual(['2026-04-13T00:00:00.000Z']);
  });

  it('of an expression that another version wrote are none', () => {
    expect(firings('@daily', 'UTC', '2026-03-06T12:00:00Z')).toEqual([]);
  });

  it.each([
    ['Europe/Berlin', '2026-03-28T12:00:00Z'],
    ['America/Nuuk', '2026-03-27T12:00:00Z'],
    ['Europe/Berlin', '2026-10-24T12:00:00Z'],
    ['America/New_York', '2026-03-07T12:00:00Z'],
    ['America/New_York', '2026-10-31T12:00:00Z'],
    ['Africa/Cairo', '2026-04-23T12:00:00Z'],
    ['Antarctica/Troll', '2026-03-28T12:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T02:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T02:00:00Z'],
  ])('are the same one after the other as together, in %s after %s', (timezone, after) => {
    for (const cron of ['0 2 * * *', '15 2 * * *', '*/30 2 * * *', '5-59/10 2 * * *', '0 */2 * * *', '*/15 * * * *']) {
      const together = firings(cron, timezone, after, 100);
      const single: string[] = [];
      while (single.length < 100) single.push(...firings(cron, timezone, single.at(-1) ?? after, 1));
      expect(single, cron).toEqual(together);
    }
  });

  it('of a rare day are years apart', () => {
    expect(firings('0 0 29 2 *', 'UTC', '2026-03-06T12:00:00Z', 2)).toEqual([
      '2028-02-29T00:00:00.000Z',
      '2032-02-29T00:00:00.000Z',
    ]);
  });
});

describe('chunks', () => {
  const tasks = (count: number) => Array.from({ length: count }, (_, at) => ({ requestKey: String(at) }));
  /** The chunks of a plan that comes in parts of three tasks. */
  const chunksOf = (count: number, most: number, isSettled: (key: string) => boolean = () => false) => {
    const chunks = new ChunkPlan(most);
    const all = tasks(count);
    const chunkOf = all.flatMap((_, at) => (at % 3 === 0 ? chunks.assign(all.slice(at, at + 3), isSettled) : []));
    return { chunkOf, sizes: chunks.sizes };
  };

  it('are full except for the last, and none when one would do', () => {
    expect(chunksOf(10, 10).sizes).toEqual([]);
    const N = null;
    expect(chunksOf(11, 5)).toEqual({ chunkOf: [N, N, N, N, N, 1, 1, 1, 1, 1, 2], sizes: [5, 5, 1] });
    expect(chunksOf(0, 5)).toEqual({ chunkOf: [], sizes: [] });
  });

  it('count requests to send, and keep other requests beside them', () => {
    const isFresh = (key: string) => ['0', '1', '2', '5'].includes(key);
    expect(chunksOf(7, 5, isFresh).sizes).toEqual([]);
    expect(chunksOf(7, 2, isFresh)).toEqual({ chunkOf: [null, null, null, null, null, null, 1], sizes: [2, 1] });
  });

  it('hold every task, in order, whatever the size', () => {
    for (const count of [1, 2, 7, 100, 1001])
      for (const most of [1, 2, 3, 10, 250]) {
        const { chunkOf, sizes } = chunksOf(count, most);
        expect(chunkOf.length).toBe(count);
        if (sizes.length === 0) {
          expect([count <= most, new Set(chunkOf)]).toEqual([true, new Set([null])]);
          continue;
        }
        const numbers = chunkOf.map((it) => it ?? 0);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(sizes.map((_, chunk) => numbers.filter((it) => it === chunk).length)).toEqual(sizes);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(most);
        expect(Math.min(...sizes)).toBeGreaterThan(0);
      }
  });
});

describe('what follows from an exit code', () => {
  const step = (exitCode: number, tries = 0, state = 'interrupted') =>
    decideAfter({ exitCode, state }, tries, () => 0.5);

  it('is the children, a rest, another try or a person', () => {
    expect([0, 4].map((code) => step(code).do)).toEqual(['follow', 'follow']);
    expect(step(6)).toEqual({ do: 'rest' });
    expect(step(7, 3)).toEqual({ do: 'again', afterSeconds: 15, tries: 3 });
    expect([1, 2, 3, 8].map((code) => step(code).do)).toEqual(Array(4).fill('give up'));
  });

  it('is a rest after lost answers that the run only lists, however often it was tried', () => {
    expect([0, 12].map((tries) => step(5, tries, 'partial'))).toEqual([{ do: 'rest' }, { do: 'rest' }]);
  });

  it('waits longer after each transient error, and gives up at last', () => {
    const waits = Array.from({ length: 12 }, (_, tries) => step(5, tries));
    const seconds = waits.map((it) => ('afterSeconds' in it ? it.afterSeconds : -1));
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect([seconds[0], seconds.at(-1)]).toEqual([12, 1350]);
    expect(step(5, 12)).toEqual({ do: 'give up' });
  });
});

it('the schema of the queues fits, and differs where the warehouse’s does', () => {
  expect(jobsSchema('sluice')).toBe('sluice_jobs');
  const long = ['a', 'b'].map((end) => jobsSchema('x'.repeat(58) + end));
  expect(long[0]).not.toBe(long[1]);
  expect(long.map(({ length }) => length)).toEqual([50, 50]);
});
