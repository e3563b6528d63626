/** Reports about points that the log confirms or not, and limits that processes share. */
import { describe, expect, it } from 'vitest';
import { summaryText } from '../../src/cli/text/summary.ts';
import { readBalanceNow } from '../../src/flow/forecast/quote-syncs.ts';
import { readBudgetUse } from '../../src/control/budget/budget-use.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { tokenDigest } from '../../src/control/token-digest.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { readCosts } from '../../src/insight/costs.ts';
import { door } from '../control/limiter-calls.ts';
import { dyingAt, expireLeases, STEP } from '../flow/crash.ts';
import { select } from '../flow/rows.ts';
import { only } from '../flow/scene.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import {
  type LoggedRow,
  type PricedOptions,
  pricedService,
  rowOf,
  spend,
  tickingFrom,
  without,
} from './priced-service.ts';

const TEN: PricedOptions['price'] = () => 10;
const CHANNEL = { write: () => undefined, isTerminal: false, width: 200, color: false } as unknown as Parameters<
  typeof summaryText
>[1];
/** Holds calls until the last of them has arrived: the process dies with them in flight, also on a busy machine. */
const holding = (first: number, last: number): NonNullable<PricedOptions['onCall']> => {
  const together = door();
  return (nth) => {
    if (nth === last) together.open();
    return nth >= first ? together.opened : undefined;
  };
};

describe('points', () => {
  const open = postgresWarehouses();

  it('are true in the summary, in costs and in the ledger, quoted against true', async () => {
    const service = await pricedService({ price: TEN });
    const warehouse = await open();

    const { summary } = await spend(service, warehouse, { budget: '{ per_run: 30 }', inputs: 40, inFlight: 2 });

    expect(only(summary)).toMatchObject({ exitCode: 6, points: 30, unverified: { requests: 0, points: 0 } });
    expect(summaryText(summary, CHANNEL)).toContain('quoted 40 points (a guess), spent 30 according to the log');
    const costs = await readCosts(warehouse, undefined, service.clock.now());
    expect(costs.verification).toMatchObject({ verifiedPoints: 30, unverifiedPoints: 0, quotedPoints: 40 });
    expect(costs.syncs).toMatchObject([{ ledgerPoints: 30 }, { endpoint: 'token.requests', ledgerPoints: 0 }]);
    // Learned prices are kept, so that the next run needs no guess and refuses a limit that it cannot keep.
    const before = service.calls();
    const small = only((await spend(service, warehouse, { budget: '{ per_run: 9 }', inputs: 40 })).summary);
    expect(small).toMatchObject({ exitCode: 6 });
    expect(small.error).toContain('the next request can cost 10');
    expect(service.calls()).toBe(before);
  });

  it('of later runs are confirmed too by a log without identifiers, and a limit holds when the price has risen', async () => {
    const service = await pricedService({
      price: (nth) => (nth <= 18 ? 1 : 10),
      row: without,
      onCall: (_, it) => it.clock.advance(30),
    });
    const ticking = tickingFrom(service);
    const warehouse = await open();
    const run = async (budget: string) =>
      only((await spend(ticking, warehouse, { budget, inputs: 9, inFlight: 2 })).summary);
    const charged = async () =>
      select(
        warehouse,
        "select run_id, sum(charged)::int as points from sluice_ops.requests where sync = 'users' group by 1 order by 1",
      );
    expect(await run('{ per_run: 50 }')).toMatchObject({ points: 9, unverified: { requests: 0 } });
    service.clock.advance(3000);

    expect(await run('{ per_run: 50 }')).toMatchObject({ points: 9, unverified: { requests: 0 } });
    expect(await charged()).toMatchObject([{ points: 9 }, { points: 9 }]);
    service.clock.advance(3000);

    const before = service.spent();
    expect(await run('{ per_run: 20 }')).toMatchObject({ exitCode: 6, unverified: { requests: 0 } });
    expect(service.spent() - before).toBeLessThanOrEqual(20 + 2 * 10);
  });

  it('of interrupted runs whose price rose count against a limit per day, also for another sync', async () => {
    let stop = new AbortController();
    let stopAt = 1000;
    const service = await pricedService({
      price: (nth) => (nth <= 3 ? 1 : 10),
      onCall: (nth) => (nth === stopAt ? stop.abort() : undefined),
    });
    const warehouse = await open();
    const budget = '{ per_day: 100 }';
    await spend(service, warehouse, { budget, inputs: 3 });
    service.clock.advance(1000);

    for (const name of ['users', 'others', 'users']) {
      stop = new AbortController();
      stopAt = service.calls() + 8;
      const syncs = `  ${name}: { endpoint: microblog.user, for_each: { user: [${Array.from({ length: 60 }, (_, at) => `${name}${at}`).join(', ')}] } }`;
      await spend(service, warehouse, { budget, syncs, inFlight: 2, signal: stop.signal });
      service.clock.advance(1000);
    }

    expect(service.spent()).toBeGreaterThan(80);
    expect(service.spent()).toBeLessThanOrEqual(100 + 2 * 10);
  });

  it('of a killed run of another sync count against a limit per day at their true price', async () => {
    const service = await pricedService({ price: (nth) => (nth <= 3 ? 1 : 10) });
    const warehouse = await open();
    const budget = '{ per_day: 100 }';
    await spend(service, warehouse, { budget, inputs: 3 });
    service.clock.advance(1000);
    const dying = dyingAt(warehouse, { when: 'before', statement: STEP.store, nth: 7 });
    // Without a limit, the process does not read the log.
    await expect(spend(service, dying.warehouse, { inputs: 60, inFlight: 1 })).rejects.toThrow(/^died/);
    expect(service.spent()).toBe(3 + 7 * 10);
    await expireLeases(warehouse);
    service.clock.advance(1000);

    const syncs = `  others: { endpoint: microblog.user, for_each: { user: [${Array.from({ length: 60 }, (_, at) => `other${at}`).join(', ')}] } }`;
    const { summary } = await spend(service, warehouse, { budget, syncs, inFlight: 2 });

    expect(only(summary)).toMatchObject({ exitCode: 6 });
    expect(service.spent()).toBeLessThanOrEqual(100 + 2 * 10);
  });

  it('of a run that is continued are shown for this invocation and for the run', async () => {
    const service = await pricedService({ price: () => 1 });
    const warehouse = await open();
    await spend(service, warehouse, { budget: '{ per_run: 3 }', inputs: 9 });
    service.clock.advance(1000);

    const { summary } = await spend(service, warehouse, { budget: '{ per_run: 3 }', inputs: 9 });

    expect(only(summary)).toMatchObject({ continued: true, points: 6, pointsNow: 3 });
    expect(summaryText(summary, CHANNEL)).toContain(
      'users: 3 points in this invocation, 6 since the run started; limits per run apply to one invocation',
    );
  });

  it('hold a limit if a reading shows failed attempts before the answers that followed them', async () => {
    const service = await pricedService({
      price: () => 1,
      status: (nth) => (nth % 2 === 1 ? 500 : 200),
      appearsAfterMs: 900,
      onCall: (_, { clock }) => clock.advance(1000),
    });

    const { summary } = await spend(service, await open(), { budget: '{ per_run: 10 }', inputs: 20, inFlight: 1 });

    expect(service.spent()).toBeLessThanOrEqual(11);
    expect(only(summary)).toMatchObject({ exitCode: 6, points: service.spent() });
  });

  const lacking = (row: LoggedRow): LoggedRow => (row.response_status_code === 500 ? without(row) : row);
  const beside: Partial<PricedOptions> = {
    ownIdentifier: (nth) => `service-${nth}`,
    onCall: (_, it) => it.addRow({ response_request_id: 'another' }),
  };
  it.each([
    { name: 'no identifiers', options: { row: without }, inFlight: 1 },
    { name: 'no identifiers, with two in flight', options: { row: without }, inFlight: 2 },
    { name: 'identifiers only of answers', options: { row: lacking }, inFlight: 1 },
    { name: 'identifiers only of answers, with two in flight', options: { row: lacking }, inFlight: 2 },
    { name: 'identifiers of the service, beside another program', options: beside, inFlight: 2 },
  ])('of failed attempts count in a log with $name', async ({ options, inFlight }) => {
    const service = tickingFrom(
      await pricedService({ price: () => 1, status: (_, attempt) => (attempt === 1 ? 500 : 200), ...options }),
    );

    const { summary } = await spend(service, await open(), { budget: '{ per_run: 10 }', inputs: 20, inFlight });

    expect(service.spent()).toBeLessThanOrEqual(10 + inFlight);
    expect(only(summary)).toMatchObject({ exitCode: 6, points: service.spent(), unverified: { requests: 0 } });
  });

  it('of inputs that the service refuses hold a limit, although rows appear late', async () => {
    const service = tickingFrom(await pricedService({ price: () => 6, status: () => 404, appearsAfterMs: 4000 }));

    const { summary } = await spend(service, await open(), { budget: '{ per_run: 30 }', inputs: 100, inFlight: 2 });

    expect(service.spent()).toBe(30);
    expect(only(summary)).toMatchObject({ exitCode: 6, points: 30, unverified: { requests: 0 } });
  });

  it('of inputs that the service refuses hold a limit after a time in which the log could not be read', async () => {
    const logStatus = (nth: number): number => (nth > 1 && nth <= 5 ? 500 : 200);
    const service = tickingFrom(
      await pricedService({ price: () => 6, status: () => 404, appearsAfterMs: 4000, logStatus }),
    );

    await spend(service, await open(), { budget: '{ per_run: 60 }', inputs: 100, inFlight: 1 });

    // A tenth of the limit was sent at the guess.
    expect(service.spent()).toBeLessThanOrEqual(60 + 6 * 6);
  });

  it('of inputs that the service refuses are waited for once if the log has no rows of errors', async () => {
    const service = tickingFrom(
      await pricedService({
        price: (nth) => (nth % 4 === 0 ? 1 : 0),
        status: (nth) => (nth % 4 === 0 ? 200 : 404),
        row: (row) => (row.response_status_code === 404 ? undefined : row),
      }),
    );
    const startedAt = service.clock.now().getTime();

    const { summary } = await spend(service, await open(), { budget: '{ per_run: 30 }', inputs: 40, inFlight: 2 });

    expect(only(summary).points).toBe(30);
    expect(service.clock.now().getTime() - startedAt).toBeLessThan(60_000);
  });

  it.each([
    { name: 'before the first call', isDown: (nth: number) => nth <= 4 },
    { name: 'after the first call', isDown: (nth: number) => nth > 1 && nth <= 5 },
  ])('hold a limit if the log cannot be read $name, and can be read later', async ({ isDown }) => {
    const service = await pricedService({ price: TEN, logStatus: (nth) => (isDown(nth) ? 500 : 200) });
    const { summary } = await spend(service, await open(), { budget: '{ per_run: 40 }', inputs: 60, inFlight: 1 });
    expect(only(summary)).toMatchObject({ exitCode: 6 });
    // What the calls cost that were sent before the log could be read: a tenth of the limit at the guessed price, and one call.
    expect(service.spent()).toBeLessThanOrEqual(50);
  });

  it('of refused attempts do not use up a limit while the service is down', async () => {
    const service = await pricedService({ price: () => 0, status: () => 503, logStatus: () => 503 });
    const syncs =
      '  people: { endpoint: pronet.search.users, request: { count: 1000 }, for_each: { title: [a, b, c, d, e] } }';
    const { summary } = await spend(service, await open(), { budget: '{ per_run: 300 }', syncs });
    expect(only(summary)).toMatchObject({ exitCode: 5, points: 0 });
  });

  it.each([-600_000, 600_000])(
    'left after a plan do not depend on the clock of the service (%i ms)',
    async (skewMs) => {
      const service = await pricedService({ price: () => 1, points: 1000, skewMs });
      const warehouse = await open();
      await spend(service, warehouse, { inputs: 10 });
      service.clock.advance(60_000);
      await spend(service, warehouse, { syncs: '  costs: { endpoint: token.requests }' });
      const left = async () => (await readBalanceNow(warehouse, 'any token', service.clock.now())).balance?.points;
      expect(await left()).toBe(990);

      service.clock.advance(60_000);
      await spend(service, warehouse, { inputs: 5 });

      expect(await left()).toBe(985);
    },
  );

  it('left after a plan are those of the own token, although the log has newer rows of another', async () => {
    const [own, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    const row = (it: LoggedRow): LoggedRow => ({ ...it, token_id: own });
    const before = [rowOf({ points_left: 1000, token_id: own })];
    const service = await pricedService({ price: () => 1, points: 1000, before, row });
    const warehouse = await open();
    await spend(service, warehouse, { budget: '{ keep: 5 }', inputs: 10 });
    service.clock.advance(60_000);
    service.addRow({ token_id: other, points_left: 7 });
    await spend(service, warehouse, { syncs: '  costs: { endpoint: token.requests }' });

    const token = tokenDigest({ url: service.url, token: new Secret(SANDBOX_TOKEN) });
    expect((await readBalanceNow(warehouse, token, service.clock.now())).balance?.points).toBe(990);
  });

  it('of lost answers are not verified while the log does not show which of them it charged', async () => {
    const service = await pricedService({
      price: () => 3,
      isLost: (nth) => nth === 2 || nth === 3,
      // The log has one row for the two lost answers, which never ended and has no identifier.
      row: (row, nth) =>
        nth === 3 ? undefined : nth === 2 ? { ...without(row), duration: null, response_status_code: null } : row,
    });
    const warehouse = await open();
    const budget = { perDay: 60, tags: [] };

    const run = only((await spend(service, warehouse, { budget: '{ per_day: 60 }', inputs: 4, inFlight: 2 })).summary);

    expect(run.lostAnswers).toMatchObject([{ verdict: 'unknown' }, { verdict: 'unknown' }]);
    expect(run).toMatchObject({ exitCode: 0, points: 18, unverified: { requests: 2, points: 6 } });
    const costs = await readCosts(warehouse, undefined, service.clock.now());
    expect(costs.verification).toMatchObject({ verifiedPoints: 12, unverifiedRequests: 2, unverifiedPoints: 6 });
    // A later process counts them too.
    expect(await readBudgetUse(warehouse, budget, service.clock.now())).toMatchObject([{ spent: 18 }]);
  });

  it('of lost answers count against a limit if their rows ended without an identifier', async () => {
    const isLost = (nth: number) => nth > 2 && nth % 2 === 1;
    const service = await pricedService({
      price: () => 1,
      isLost,
      row: (row, nth) => (isLost(nth) ? { ...without(row), response_status_code: null } : row),
    });
    const run = only(
      (await spend(service, await open(), { budget: '{ per_day: 9 }', inputs: 20, inFlight: 1 })).summary,
    );
    expect(run).toMatchObject({ exitCode: 6, points: 9, unverified: { points: run.lostAnswers.length } });
    expect(service.spent()).toBe(9);
  });

  it('are verified again once the log has stopped to keep identifiers', async () => {
    let isKept = true;
    const service = await pricedService({ price: TEN, row: (row) => (isKept ? row : without(row)) });
    const warehouse = await open();
    const verified = async () => {
      const run = only((await spend(service, warehouse, { budget: '{ per_run: 100 }', inputs: 8 })).summary);
      service.clock.advance(3_000_000);
      return run.unverified?.requests;
    };
    expect(await verified()).toBe(0);
    isKept = false;
    await verified();
    expect(await verified()).toBe(0);
  });

  it.each([429, 503])('are not counted for an input that the service refuses with %i each time', async (status) => {
    const service = await pricedService({ price: () => 0, status: (nth) => (nth === 1 ? 200 : status) });
    const warehouse = await open();
    const run = only((await spend(service, warehouse, { inputs: 2, inFlight: 1 })).summary);
    expect(run).toMatchObject({ exitCode: 5, answers: 1, left: 1, points: 1 });
    expect(only((await spend(service, warehouse, { inputs: 2, inFlight: 1 })).summary)).toMatchObject({
      continued: true,
      points: 1,
      pointsNow: 0,
    });
  });

  it('of attempts of earlier invocations are kept, also once the log has shown a part of them', async () => {
    const service = await pricedService({ price: () => 1, status: (nth) => (nth === 1 ? 200 : 500) });
    const warehouse = await open();
    const again = async () => {
      service.clock.advance(10_000);
      service.addRow({ response_request_id: 'another' });
      return only((await spend(service, warehouse, { budget: '{ per_day: 6 }', inputs: 2, inFlight: 1 })).summary);
    };

    expect(await again()).toMatchObject({ exitCode: 5, points: 3 });
    expect(await again()).toMatchObject({ exitCode: 5, continued: true, points: 5, pointsNow: 2 });
    expect(await again()).toMatchObject({ exitCode: 6, points: 6, pointsNow: 1 });
    expect(await again()).toMatchObject({ exitCode: 6, points: 6, pointsNow: 0 });
    expect(service.spent()).toBe(6);
  });

  it.each([
    { name: 'answered', last: 6, exitCode: 0 },
    { name: 'given up', last: 7, exitCode: 4 },
  ])(
    'of failed attempts are verified also once their rows have left the log, if the request is $name',
    async ({ last, exitCode }) => {
      const isAnswered = (nth: number) => nth === 1 || (nth === 6 && exitCode === 0);
      const service = await pricedService({
        price: (nth) => (isAnswered(nth) ? 1 : 3),
        status: (nth) => (isAnswered(nth) ? 200 : 500),
      });
      const warehouse = await open();
      const again = async () => {
        service.clock.advance(3_600_000);
        service.addRow({ response_request_id: 'another' });
        return only((await spend(service, warehouse, { budget: '{ per_day: 50 }', inputs: 2, inFlight: 1 })).summary);
      };

      expect(await again()).toMatchObject({ exitCode: 5, points: 7 });
      expect(await again()).toMatchObject({ exitCode: 5, points: 13, unverified: { requests: 0 } });
      expect(await again()).toMatchObject({ exitCode, points: service.spent(), unverified: { requests: 0 } });
      expect(service.calls()).toBe(last);
      const use = await readBudgetUse(warehouse, { perDay: 50, tags: [] }, service.clock.now());
      expect(use).toMatchObject([{ spent: service.spent() }]);
    },
  );

  it.each([
    { name: 'is refused', options: { logStatus: () => 403 } },
    { name: 'fails', options: { logStatus: () => 500 } },
    { name: 'does not show the calls', options: { row: () => undefined } },
    { name: 'shows them a minute late', options: { appearsAfterMs: 60_000 } },
  ])('that the log does not confirm count by the guess, and are not verified: it $name', async ({ options }) => {
    const service = await pricedService({ price: () => 1, ...options });
    const warehouse = await open();

    const { summary } = await spend(service, warehouse, { budget: '{ per_run: 5 }', inputs: 9 });

    expect(only(summary)).toMatchObject({ exitCode: 6, points: 5 });
    expect(only(summary).unverified?.requests).toBeGreaterThan(0);
    expect(service.calls()).toBe(5);
    expect(summaryText(summary, CHANNEL)).toMatch(/users: \d points? for \d requests? not verified by the log/);
    expect(
      (await readCosts(warehouse, undefined, service.clock.now())).verification.unverifiedRequests,
    ).toBeGreaterThan(0);
  });

  it('are known at the end where a minute passes before it', async () => {
    const service = await pricedService({
      price: TEN,
      appearsAfterMs: 40_000,
      onCall: (_, it) => it.clock.advance(30_000),
    });
    const run = only(
      (await spend(service, await open(), { budget: '{ per_run: 30 }', inputs: 9, inFlight: 1 })).summary,
    );
    expect(run.points - (run.unverified?.points ?? 0)).toBeGreaterThan(0);
    expect(service.spent()).toBeLessThanOrEqual(40);
  });

  it.each([
    { name: 'with identifiers', row: undefined },
    { name: 'without identifiers', row: without },
  ])('of other programs with the same token do not count, in a log $name', async ({ row }) => {
    const service = await pricedService({
      price: () => 1,
      ...(row && { row }),
      onCall: (_, it) =>
        it.addRow({ cost: 50, endpoint: '/api/pronet/group', response_request_id: row ? null : 'another' }),
    });
    const run = only((await spend(service, await open(), { budget: '{ per_run: 20 }', inputs: 12 })).summary);
    expect(run).toMatchObject({ exitCode: 0, answers: 12, points: 12, unverified: { requests: 0 } });
  });

  it.each([
    ['descending', '/api/other'],
    ['ascending', '/api/other'],
    ['descending', '/api/microblog/user'],
    ['ascending', '/api/microblog/user'],
  ] as const)(
    'are verified in a log with a row from the future, and hold a limit (%s, %s)',
    async (order, endpoint) => {
      const later = rowOf({ endpoint, started_at: '2026-04-06T14:00:00.000000Z', response_request_id: 'another' });
      const service = await pricedService({ price: TEN, order, before: [later] });
      const { summary } = await spend(tickingFrom(service), await open(), { budget: '{ per_run: 30 }', inputs: 9 });
      expect(only(summary)).toMatchObject({ exitCode: 6, points: 30, unverified: { requests: 0 } });
      expect(service.spent()).toBe(30);
    },
  );

  it.each([0, 100, 1000])(
    'are verified in a log without identifiers, also those sent right after the first (%i ms a call)',
    async (callMs) => {
      const service = await pricedService({
        price: () => 7,
        row: without,
        onCall: (_, it) => it.clock.advance(callMs),
      });

      const { summary } = await spend(tickingFrom(service), await open(), {
        budget: '{ per_run: 120 }',
        inputs: 40,
        inFlight: 4,
      });

      expect(only(summary)).toMatchObject({ exitCode: 6, points: 119, unverified: { requests: 0 } });
      expect(service.spent()).toBe(119);
      expect(service.readings()).toBeLessThan(12);
    },
  );

  it('without a limit are not looked up', async () => {
    const service = await pricedService({ price: TEN });
    const run = only((await spend(service, await open(), { inputs: 5 })).summary);
    expect(run).toMatchObject({ exitCode: 0, points: 5 });
    expect(run).not.toHaveProperty('unverified');
    expect(service.readings()).toBe(0);
  });

  it('of readings do not exceed a limit per day further with each invocation', async () => {
    const service = await pricedService({ price: TEN, readingCost: 1, points: 1000 });
    const warehouse = await open();
    for (let nth = 1; nth <= 10; nth += 1) {
      service.clock.advance(1000);
      const { summary } = await spend(service, warehouse, { budget: '{ per_day: 35 }' });
      expect(only(summary)).toMatchObject({
        exitCode: 6,
        error: expect.stringContaining('budget.per_day is 35 points'),
      });
    }
    expect(service.points()).toBe(1000 - 35);
  });

  it('of several syncs of one invocation hold one limit', async () => {
    const service = await pricedService({ price: TEN });
    const syncs = `  users: { endpoint: microblog.user, for_each: { user: [a, b] } }
  people: { endpoint: pronet.search.users, request: { title: x, count: 10 }, for_each: { location: [Berlin, Paris, Oslo, Rome] } }`;
    const { summary } = await spend(service, await open(), { budget: '{ per_run: 30 }', inFlight: 4, syncs });
    expect(service.spent()).toBe(30);
    expect(summary.syncs).toMatchObject([
      { exitCode: 0, points: 20 },
      { exitCode: 6, points: 10 },
    ]);
  });

  it('of readings leave the cost table, and leave the prices that they taught', async () => {
    const service = await pricedService({ price: TEN });
    const warehouse = await open();
    await spend(service, warehouse, { budget: '{ per_run: 30 }' });
    expect(await select(warehouse, 'select count(*)::int as n from sluice.fact_request_costs')).toEqual([{ n: 0 }]);
    expect(await select(warehouse, 'select sum(charged)::int as n from sluice_ops.requests')).toEqual([{ n: 30 }]);
  });
});

describe('points of several processes on one warehouse', () => {
  const open = postgresWarehouses();

  it('of a killed run count against a limit per day at their charge in the command that continues it', async () => {
    const service = await pricedService({ price: (nth) => (nth <= 4 ? 10 : 1), onCall: holding(5, 7) });
    const warehouse = await open();
    const budget = '{ per_day: 80 }';
    await spend(service, warehouse, { budget, inputs: 4 });
    service.clock.advance(1000);
    // The first statements that store answers are those of readings of the log.
    const dying = dyingAt(warehouse, { when: 'before', statement: STEP.store, nth: 2 });
    await expect(spend(service, dying.warehouse, { budget, inputs: 60, inFlight: 3 })).rejects.toThrow(/^died/);
    expect(service.spent()).toBe(43);
    await expireLeases(warehouse);
    // As time would.
    await select(
      warehouse,
      "update sluice_ops.spending set updated_at = updated_at - interval '1 minute' returning name",
    );
    service.clock.advance(1000);

    const { summary } = await spend(service, warehouse, { budget, inputs: 60, inFlight: 3 });

    expect(only(summary)).toMatchObject({ exitCode: 6, continued: true });
    expect(service.spent()).toBeLessThanOrEqual(80);
    // The killed process had reserved 10 points for each of its calls.
    expect(service.spent()).toBeGreaterThan(75);
  });

  it('hold a day’s limit in the command that continues a killed run, at the price that the log shows now', async () => {
    // The process dies after four answers at the new price.
    const service = await pricedService({ price: (nth) => (nth <= 4 ? 1 : 9), onCall: holding(9, 12) });
    const warehouse = await open();
    const budget = '{ per_day: 100 }';
    await spend(tickingFrom(service), warehouse, { budget, inputs: 4 });
    service.clock.advance(1000);
    const statement = { test: (text: string) => service.calls() === 12 && STEP.store.test(text) };
    const dying = dyingAt(warehouse, { when: 'before', statement, nth: 1 });
    const run = { budget, inputs: 60, inFlight: 4 };
    await expect(spend(tickingFrom(service), dying.warehouse, run)).rejects.toThrow(/^died/);
    expect(service.spent()).toBe(4 + 8 * 9);
    await expireLeases(warehouse);
    service.clock.advance(1000);

    const { summary } = await spend(tickingFrom(service), warehouse, run);

    expect(only(summary)).toMatchObject({ exitCode: 6, continued: true });
    expect(service.spent()).toBeLessThanOrEqual(100);
  });

  it('hold a day’s limit beside a process whose config has none', async () => {
    const warehouse = await open();
    const others = '  others: { endpoint: microblog.user, for_each: { user: [o1, o2, o3, o4, o5, o6, o7, o8, o9] } }';
    const service = await pricedService({
      price: TEN,
      onCall: async (nth) => {
        // The call that waits holds one of the token’s slots.
        if (nth === 3) await spend(service, warehouse, { syncs: others, inFlight: 2 });
      },
    });

    const { summary } = await spend(service, warehouse, { budget: '{ per_day: 100 }', inputs: 40, inFlight: 1 });

    expect(only(summary)).toMatchObject({ exitCode: 6 });
    // The call that was in flight meanwhile is beyond the limit.
    expect(service.spent()).toBe(120);
  });

  it('hold a day’s limit, but for what is in flight', async () => {
    const service = await pricedService({ price: TEN });
    const warehouse = await open();
    const run = (name: string) =>
      spend(service, warehouse, {
        budget: '{ per_day: 50 }',
        inFlight: 2,
        syncs: `  ${name}: { endpoint: microblog.user, for_each: { user: [${name}1, ${name}2, ${name}3, ${name}4, ${name}5, ${name}6] } }`,
      });
    const ends = await Promise.all([run('a'), run('b')]);
    expect(ends.map(({ summary }) => summary.exitCode)).toEqual([6, 6]);
    expect(service.spent()).toBeLessThanOrEqual(50 + 2 * 10);
    expect(service.spent()).toBeGreaterThanOrEqual(40);
  });

  it('hold it if the price rises tenfold: a tenth of what it leaves is unconfirmed, over all of them', async () => {
    const service = await pricedService({ price: (nth) => (nth > 40 ? 10 : 1) });
    const warehouse = await open();
    const run = (name: string) =>
      spend(service, warehouse, {
        budget: '{ per_day: 200 }',
        inFlight: 1,
        syncs: `  ${name}: { endpoint: microblog.user, for_each: { user: [${Array.from({ length: 60 }, (_, at) => `${name}${at}`).join(', ')}] } }`,
      });

    const ends = await Promise.all(['a', 'b', 'c', 'd'].map(run));

    expect(ends.map(({ summary }) => summary.exitCode)).toEqual([6, 6, 6, 6]);
    expect(service.spent()).toBeLessThanOrEqual(200 + 4 * 10);
  });
});
