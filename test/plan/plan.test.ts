/** The requests that a sync begins with. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { planTasks, taskOf } from '../../src/plan/plan.ts';
import { canonicalRequest, requestKeyOf } from '../../src/service/request-key.ts';
import { canonicalJson } from '../../src/service/canonical-json.ts';
import { syncOf } from './sync.ts';

const TODAY = '2024-05-10';
const DAY_MS = 86_400_000;

describe('a plan', () => {
  it('has one task an input, in their order, each with what it brought', () => {
    const sync = syncOf('photoshare.user.posts', { request: { count: 24 } });
    const tasks = planTasks(sync, [{ user: 'b' }, { user: 'a' }], { today: TODAY });
    expect(tasks).toEqual([
      {
        requestKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        request: { user: 'b', count: 24 },
        body: { count: 24, user: 'b' },
        input: { user: 'b' },
        depth: 0,
      },
      {
        requestKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        request: { user: 'a', count: 24 },
        body: { count: 24, user: 'a' },
        input: { user: 'a' },
        depth: 0,
      },
    ]);
    expect(tasks[0]?.requestKey).toBe(requestKeyOf('photoshare.user.posts', { count: 24, user: 'b' }));
  });

  it('has one task for a sync without inputs, and none for inputs that are none', () => {
    const sync = syncOf('microblog.user', { request: { user: 'x' } });
    expect(planTasks(sync, [{}], { today: TODAY })).toHaveLength(1);
    expect(planTasks(sync, [], { today: TODAY })).toEqual([]);
  });

  it('sends the same request once, for the first input', () => {
    const sync = syncOf('sec.search.companies', { request: { count: 9 } });
    const inputs = [
      { forms: ['10-K', '10-Q'] },
      { forms: ['10-Q', '10-K', '10-Q'] },
      { forms: ['10-K', '10-Q'], entity_name: '' },
      { forms: ['10-K', '10-Q'], timeout: 20 },
      { forms: ['10-K'] },
    ];
    expect(planTasks(sync, inputs, { today: TODAY }).map(({ input }) => input)).toEqual([inputs[0], inputs[4]]);
  });

  it('keeps the order of lists whose order means something', () => {
    const sync = syncOf('pronet.search.users', { request: { count: 9 } });
    expect(planTasks(sync, [{ location: ['a', 'b'] }, { location: ['b', 'a'] }], { today: TODAY })).toHaveLength(2);
  });

  it('sends what was set, an explicit default and false too, and nothing else', () => {
    const sync = syncOf('photoshare.user', {
      request: { user: 'x', with_posts: false, with_similar_users: true, timeout: 60 },
    });
    const [task] = planTasks(sync, [{}], { today: TODAY });
    expect(task?.body).toEqual({ user: 'x', with_posts: false, with_similar_users: true, timeout: 60 });
    expect(task?.request).toEqual({
      user: 'x',
      with_posts: false,
      with_similar_users: true,
      with_creation_date: false,
    });
  });
});

describe('a task', () => {
  const { endpoint } = syncOf('sec.search.companies');

  it('drops what is undefined or null', () => {
    const task = taskOf({ endpoint }, { count: 1, forms: undefined, date_from: null }, {}, 2);
    expect(task.body).toEqual({ count: 1 });
    expect(task.request).toEqual({ count: 1, entity_name: '' });
    expect(task.depth).toBe(2);
  });

  it('refuses a body that breaks the contract', () => {
    expect(() => taskOf({ endpoint }, { count: 101 }, {}, 0)).toThrow(/too_big/);
  });

  const part = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
  const set = fc.array(fc.constantFrom('10-K', '10-Q', '8-K', '-4', '4'), { maxLength: 5 });
  const bodies = fc.record({
    count: fc.integer({ min: 1, max: 100 }),
    entity_name: part(fc.string()),
    forms: part(set),
    location_codes: part(set),
    date_from: part(fc.constant('2024-01-01')),
  });

  it('has one key however its body is written', () => {
    const written = bodies.chain((body) =>
      fc.record({
        body: fc.constant(body),
        keys: fc.shuffledSubarray(Object.keys(body), { minLength: Object.keys(body).length }),
        forms: body.forms
          ? fc.shuffledSubarray([...body.forms, ...body.forms.slice(0, 1)], {
              minLength: body.forms.length + Math.min(1, body.forms.length),
            })
          : fc.constant(undefined),
        timeout: part(fc.integer({ min: 20, max: 1500 })),
        isDefaultSaid: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(written, ({ body, keys, forms, timeout, isDefaultSaid }) => {
        const shuffled = Object.fromEntries(
          keys.map((key) => [key, key === 'forms' ? forms : body[key as keyof typeof body]]),
        );
        const said = {
          ...shuffled,
          timeout,
          ...(isDefaultSaid && body.entity_name === undefined && { entity_name: '' }),
        };
        const [one, other] = [taskOf({ endpoint }, body, {}, 0), taskOf({ endpoint }, said, {}, 0)];
        expect(other.requestKey).toBe(one.requestKey);
        expect(canonicalRequest(endpoint, one.request)).toEqual(one.request);
      }),
    );
  });

  it('has another key for another question', () => {
    fc.assert(
      fc.property(bodies, bodies, (a, b) => {
        const [one, other] = [taskOf({ endpoint }, a, {}, 0), taskOf({ endpoint }, b, {}, 0)];
        const same = canonicalJson(one.request) === canonicalJson(other.request);
        expect(one.requestKey === other.requestKey).toBe(same);
      }),
    );
  });
});

it.each(['yesterday', '2024-02-30', '2024-1-1', ''])('the plan refuses %j for a day', (day) => {
  expect(() => planTasks(syncOf('token.requests'), [{}], { today: TODAY, to: day })).toThrow(
    `a: --to is "${day}"; allowed is a day of the calendar written YYYY-MM-DD`,
  );
});

describe('a window', () => {
  const sync = syncOf('sec.search.companies', {
    request: { count: 100 },
    window: { from: '2024-01-01', to: 'today' },
    lookbackMs: 7 * DAY_MS,
  });
  const daysOf = (facts: Partial<Parameters<typeof planTasks>[2]>, of = sync): unknown[] =>
    planTasks(of, [{ entity_name: 'A' }], { today: TODAY, ...facts }).map(({ body }) => [
      body['date_from'],
      body['date_to'],
      Object.keys(body).length,
    ]);
  const until = (to: string) => ({ ...sync, window: { from: '2024-01-01', to } });

  it.each([
    ['from its first day to today', {}, sync, [['2024-01-01', TODAY, 4]]],
    ['to a day of its own', {}, until('2024-03-31'), [['2024-01-01', '2024-03-31', 4]]],
    [
      'again from the lookback before the last complete day',
      { lastCompleteDay: '2024-05-09' },
      sync,
      [['2024-05-02', TODAY, 4]],
    ],
    ['never before its first day', { lastCompleteDay: '2024-01-03' }, sync, [['2024-01-01', TODAY, 4]]],
    ['across the end of February', { lastCompleteDay: '2024-03-02' }, sync, [['2024-02-24', TODAY, 4]]],
    [
      'with a lookback of hours as a whole day',
      { lastCompleteDay: '2024-05-09' },
      { ...sync, lookbackMs: 3_600_000 },
      [['2024-05-08', TODAY, 4]],
    ],
    ['without a lookback', { lastCompleteDay: '2024-05-09' }, { ...sync, lookbackMs: 0 }, [['2024-05-09', TODAY, 4]]],
    ['not at all once it ended long before', { lastCompleteDay: '2024-05-09' }, until('2024-03-31'), []],
    [
      'from --from, whatever was read',
      { lastCompleteDay: '2024-05-09', from: '2023-01-01' },
      sync,
      [['2023-01-01', TODAY, 4]],
    ],
    ['to --to', { to: '2024-02-01' }, sync, [['2024-01-01', '2024-02-01', 4]]],
    ['of one day', { from: TODAY, to: TODAY }, sync, [[TODAY, TODAY, 4]]],
  ])('is requested %s', (_, facts, of, expected) => {
    expect(daysOf(facts, of)).toEqual(expected);
  });

  it.each([
    [
      { from: '2024-02-01', to: '2024-01-01' },
      'a: the first day is 2024-02-01, after the last, 2024-01-01; allowed is a first day that is not after the last',
    ],
    [
      { to: '2023-12-31' },
      'a: the first day is 2024-01-01, after the last, 2023-12-31; allowed is a first day that is not after the last',
    ],
    [
      { today: '2023-12-31' },
      'a: the first day is 2024-01-01, after the last, 2023-12-31; allowed is a first day that is not after the last',
    ],
  ])('refuses %j', (facts, message) => {
    expect(() => daysOf(facts)).toThrow(message);
  });

  it('is refused if earlier runs requested all days up to --to', () => {
    const read = { lastCompleteDay: '2024-05-09' };
    expect(daysOf({ ...read, to: '2024-05-02' })).toEqual([['2024-05-02', '2024-05-02', 4]]);
    expect(() => daysOf({ ...read, to: '2024-05-01' })).toThrow(
      new UsageError('a: an earlier run requested the days up to 2024-05-01, the day of --to', {
        next: 'Add --from to request days again.',
      }),
    );
    expect(daysOf({ ...read, from: '2024-04-01', to: '2024-05-01' })).toEqual([['2024-04-01', '2024-05-01', 4]]);
  });

  it('is left out where the config gives none', () => {
    expect(
      daysOf(
        { lastCompleteDay: '2024-05-09', from: '2024-01-01' },
        syncOf('sec.search.companies', { request: { count: 1 } }),
      ),
    ).toEqual([[undefined, undefined, 2]]);
  });

  it('lies within its bounds whatever was read', () => {
    const day = fc
      .date({ min: new Date('2024-01-01'), max: new Date('2024-12-31'), noInvalidDate: true })
      .map((it) => it.toISOString().slice(0, 10));
    fc.assert(
      fc.property(day, day, fc.integer({ min: 0, max: 400 }), (today, lastCompleteDay, lookback) => {
        const [days] = daysOf({ today, lastCompleteDay }, { ...sync, lookbackMs: lookback * DAY_MS }) as [
          string,
          string,
        ][];
        if (!days) expect(lastCompleteDay > today).toBe(true);
        else expect(['2024-01-01' <= days[0], days[0] <= days[1], days[1] === today]).toEqual([true, true, true]);
      }),
    );
  });
});

describe('the request log', () => {
  const sync = syncOf('token.requests', { lookbackMs: 3_600_000 });
  const bodiesOf = (facts: Partial<Parameters<typeof planTasks>[2]>, of = sync): unknown[] =>
    planTasks(of, [{}], { today: TODAY, ...facts }).map(({ body }) => body);
  const day = (of: number): string => `2024-05-${String(of).padStart(2, '0')}T00:00:00.000000Z`;
  const endOf = (of: number): string => day(of + 1).replace('00:00:00', '00:00:01');

  it('is read completely the first time, in the largest pages', () => {
    expect(bodiesOf({})).toEqual([{ limit: 100 }]);
    expect(bodiesOf({}, { ...sync, request: { limit: 7 } })).toEqual([{ limit: 7 }]);
  });

  it('is read from before its watermark, day by day, the last day open', () => {
    expect(bodiesOf({ logWatermark: '2024-05-08T12:30:00.123456Z' })).toEqual([
      { limit: 100, start_time: '2024-05-08T11:30:00.123456Z', end_time: endOf(8) },
      { limit: 100, start_time: day(9), end_time: endOf(9) },
      { limit: 100, start_time: day(10) },
    ]);
  });

  it('keeps the microseconds and the time zone of its watermark', () => {
    expect(bodiesOf({ logWatermark: '2024-05-10T02:30:00.000001+02:00' })).toEqual([
      { limit: 100, start_time: '2024-05-09T23:30:00.000001Z', end_time: endOf(9) },
      { limit: 100, start_time: day(10) },
    ]);
  });

  it('begins at `from` as long as there is no watermark', () => {
    const from = { ...sync, from: '2024-05-09T00:00:00Z' };
    expect(bodiesOf({}, from)).toEqual([
      { limit: 100, start_time: day(9), end_time: endOf(9) },
      { limit: 100, start_time: day(10) },
    ]);
    expect(bodiesOf({ logWatermark: '2024-05-10T12:00:00Z' }, from)).toEqual([
      { limit: 100, start_time: '2024-05-10T11:00:00.000000Z' },
    ]);
  });

  it('is read between --from and --to, whatever was read', () => {
    expect(bodiesOf({ logWatermark: '2024-05-10T12:00:00Z', from: '2024-05-01', to: '2024-05-02' })).toEqual([
      { limit: 100, start_time: day(1), end_time: endOf(1) },
      { limit: 100, start_time: day(2), end_time: day(3) },
    ]);
    expect(bodiesOf({ to: '2024-05-02' })).toEqual([{ limit: 100, end_time: day(3) }]);
    expect(() => bodiesOf({ from: '2024-05-03', to: '2024-05-02' })).toThrow(
      'a: the log would be read from 2024-05-03 to 2024-05-02; allowed is a first day that is not after the last',
    );
  });

  it('is read from a watermark ahead of the clock in one request', () => {
    expect(bodiesOf({ logWatermark: '2024-05-12T00:00:00Z' })).toEqual([
      { limit: 100, start_time: '2024-05-11T23:00:00.000000Z' },
    ]);
  });

  it('is requested exactly as the config says if that sets its times', () => {
    const request = { start_time: '2024-05-01T10:00:00Z', end_time: '2024-05-01T11:00:00Z' };
    expect(bodiesOf({ logWatermark: '2024-05-08T12:30:00Z' }, { ...sync, request })).toEqual([
      { limit: 100, ...request },
    ]);
  });

  it('overlaps between its days by a second, whether or not the service includes their ends', () => {
    const mark = fc
      .date({ min: new Date('2024-04-01'), max: new Date('2024-05-10T23:59:59Z'), noInvalidDate: true })
      .map((it) => it.toISOString());
    fc.assert(
      fc.property(mark, (logWatermark) => {
        const bodies = bodiesOf({ logWatermark }) as { start_time: string; end_time?: string }[];
        bodies.forEach(({ start_time: start, end_time: end }, at) => {
          const next = bodies[at + 1]?.start_time;
          if (end !== undefined) expect([start < end, Date.parse(end) - Date.parse(next ?? '')]).toEqual([true, 1000]);
        });
      }),
    );
  });
});
