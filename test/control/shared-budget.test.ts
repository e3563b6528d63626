/** Limits in points that processes share: none is overshot, and after a crash they follow the ledger. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { invocationBudget } from '../../src/control/budget/budget.ts';
import {
  bothBudgets,
  type BudgetGuard,
  type BudgetReservation,
  openBudget,
} from '../../src/control/budget/local-budget.ts';
import { acquireLease } from '../../src/ledger/lease.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { openSharedBudget, type SharedLimit } from '../../src/control/budget/shared-budget.ts';
import { ensurePeriodCounter, ensureTotalCounter, spentSince } from '../../src/control/budget/spending-counters.ts';
import { openReservations } from '../../src/control/budget/reservations.ts';
import { periodAt, periodCounter } from '../../src/control/budget/spending-period.ts';
import { MeteredCalls } from '../../src/flow/points/metered-calls.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const PERIOD = periodAt(new Date('2026-03-06T00:00:00Z'), 'day');
const once = <T>(work: () => Promise<T>): Promise<T> => work();

const limits = (day: number, ever = Number.MAX_SAFE_INTEGER): readonly SharedLimit[] => [
  { what: 'the day', points: day, counter: periodCounter(PERIOD), baseline: 0 },
  { what: 'the balance', points: ever, counter: 'ever', baseline: 0 },
];
const guardOf = (warehouse: Warehouse, of: readonly SharedLimit[]): BudgetGuard =>
  openSharedBudget(warehouse, async () => of, once);

async function entered(warehouse: Warehouse): Promise<void> {
  await ensurePeriodCounter(warehouse, PERIOD, true);
  await ensureTotalCounter(warehouse);
}
async function reserved(guard: BudgetGuard, points: number): Promise<BudgetReservation> {
  const it = await guard.reserve(points);
  if ('add' in it) return it;
  throw new Error(`${it.what} was reached`);
}
async function counted(warehouse: Warehouse): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; points: string }>`select name, points from sluice_ops.spending`.execute(
    warehouse.db,
  );
  return Object.fromEntries(rows.map(({ name, points }) => [name, Number(points)]));
}

/** A request in the ledger, as far as points go. */
async function sent(
  warehouse: Warehouse,
  at: string,
  { points, charged, state = 'loaded' }: { points: number; charged?: number; state?: 'loaded' | 'sent' },
): Promise<void> {
  const ops = operationsOf(warehouse);
  const run = await ops
    .insertInto('runs')
    .values({ sync: 's', endpoint: 'e', definition_hash: 'h', state: 'running', today: PERIOD.name, started_at: at })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ops
    .insertInto('requests')
    .values({
      run_id: run.id,
      sync: 's',
      endpoint: 'e',
      request_key: 'k',
      body: '{}',
      input: '{}',
      state,
      points,
      charged: charged ?? null,
      planned_at: at,
      sent_at: at,
    })
    .execute();
}

const age = (warehouse: Warehouse): Promise<unknown> =>
  sql`update sluice_ops.spending set updated_at = updated_at - interval '1 minute'`.execute(warehouse.db);

eachWarehouse('a shared limit', (open, kind) => {
  it('counts what everybody sets aside, under every limit or none', async () => {
    const warehouse = await open();
    await entered(warehouse);
    const [one, two] = [guardOf(warehouse, limits(10, 8)), guardOf(warehouse, limits(10, 8).slice(0, 1))];

    const five = await reserved(one, 5);
    expect(await counted(warehouse)).toEqual({ [periodCounter(PERIOD)]: 5, ever: 5 });
    expect(await one.check(3)).toBeUndefined();
    expect(await one.check(4)).toEqual({ what: 'the balance', points: 8, spent: 5 });
    expect(await one.reserve(4)).toEqual({ what: 'the balance', points: 8, spent: 5 });
    expect(await counted(warehouse)).toEqual({ [periodCounter(PERIOD)]: 5, ever: 5 });
    await reserved(two, 4);
    expect(await one.reserve(2)).toEqual({ what: 'the day', points: 10, spent: 9 });

    await five.add(-3.5);
    expect(await counted(warehouse)).toEqual({ [periodCounter(PERIOD)]: 5.5, ever: 1.5 });
    // It cost more than was set aside.
    await (await reserved(two, 1)).add(6);
    expect(await two.check(0.5)).toEqual({ what: 'the day', points: 10, spent: 12.5 });
    // What is free is allowed all the same.
    expect(await two.check(0)).toBeUndefined();
    await reserved(two, 0);
  });

  it('holds from where the count stood', async () => {
    const warehouse = await open();
    await entered(warehouse);
    await reserved(guardOf(warehouse, limits(1000)), 70);
    const later = guardOf(warehouse, [{ what: 'the balance', points: 10, counter: 'ever', baseline: 66 }]);
    expect(await later.reserve(7)).toEqual({ what: 'the balance', points: 10, spent: 4 });
    await reserved(later, 6);
  });

  it('allows the last points although the sums of mean prices are inexact', async () => {
    const warehouse = await open();
    await entered(warehouse);
    const guard = guardOf(warehouse, limits(10));
    const four = await reserved(guard, 4);
    await four.add(1e-9);
    await reserved(guard, 6);
    expect(await guard.check(1)).toMatchObject({ what: 'the day', points: 10 });
  });

  it('leaves each run its part of the rest, which is compared with the limits of one process', async () => {
    const warehouse = await open();
    await entered(warehouse);
    const budget = openSharedBudget(warehouse, async () => limits(60), once);
    expect(await budget.tightest()).toMatchObject({ what: 'the day', points: 60, runs: 1 });
    const ops = operationsOf(warehouse);
    for (const name of ['sync:a', 'sync:b', 'chunk:1:1:1', 'chunk:1:1:2', 'rebuild'])
      await acquireLease(ops, name, name, true);
    await sql`update sluice_ops.leases set expires_at = clock_timestamp() - interval '1 s' where name = 'sync:b'`.execute(
      warehouse.db,
    );
    const ofProcess = openBudget([{ what: 'the run', points: 30, spent: 0 }]);
    expect(await bothBudgets(ofProcess, budget).tightest()).toMatchObject({ what: 'the day', points: 60, runs: 3 });
  });

  it('is never exceeded, however many calls come at once', async () => {
    const warehouse = await open();
    await entered(warehouse);
    const workers = kind === 'postgres' ? 9 : 2;
    let [held, most, refused] = [0, 0, 0];
    await Promise.all(
      Array.from({ length: workers }, async (_, n) => {
        // Half of them name the limits in the other order.
        const guard = guardOf(warehouse, n % 2 === 0 ? limits(5) : limits(5).toReversed());
        for (let rounds = 0; rounds < 40; rounds += 1) {
          const it = await guard.reserve(1 + (rounds % 2));
          if (!('add' in it)) {
            refused += 1;
            continue;
          }
          held += 1 + (rounds % 2);
          most = Math.max(most, held);
          await new Promise(setImmediate);
          held -= 1 + (rounds % 2);
          await it.add(-1 - (rounds % 2));
        }
      }),
    );
    expect(most).toBeLessThanOrEqual(5);
    expect(await counted(warehouse)).toEqual({ [periodCounter(PERIOD)]: 0, ever: 0 });
    if (kind === 'postgres') expect(refused).toBeGreaterThan(0);
  });

  it('is changed by one statement for calls that come at once, and allows as many of them as there is room for', async () => {
    const warehouse = await open();
    await entered(warehouse);
    let statements = 0;
    const guard = openSharedBudget(
      warehouse,
      async () => limits(30),
      (work) => {
        statements += 1;
        return work();
      },
    );
    const together = await Promise.all(Array.from({ length: 20 }, () => guard.reserve(1)));
    expect(together.every((it) => 'add' in it)).toBe(true);
    expect(await counted(warehouse)).toMatchObject({ [periodCounter(PERIOD)]: 20 });
    // The first call does not wait for the others. Each statement is preceded by a look at the limits.
    expect(statements).toBe(4);

    const rest = await Promise.all(Array.from({ length: 6 }, () => guard.reserve(2)));
    expect(rest.filter((it) => 'add' in it).length).toBe(5);
    expect(rest.filter((it) => !('add' in it))).toEqual([{ what: 'the day', points: 30, spent: 30 }]);

    statements = 0;
    await Promise.all(together.flatMap((it) => ('add' in it ? [it.add(-1)] : [])));
    expect(await counted(warehouse)).toMatchObject({ [periodCounter(PERIOD)]: 10 });
    expect(statements).toBe(2);
  });

  it('creates its rows again when they are gone, and allows nothing without them', async () => {
    const warehouse = await open();
    const reported: boolean[] = [];
    const guard = openSharedBudget(
      warehouse,
      async (isGone) => {
        reported.push(isGone);
        if (isGone) await entered(warehouse);
        return limits(10);
      },
      once,
    );
    await reserved(guard, 4);
    expect(reported).toEqual([false, true]);
    expect(await counted(warehouse)).toEqual({ [periodCounter(PERIOD)]: 4, ever: 4 });
    await expect(
      guardOf(warehouse, [{ what: 'x', points: 1, counter: 'none', baseline: 0 }]).reserve(1),
    ).rejects.toThrow('none');
  });

  it('releases at most once: again if the database rolled it back, not if the outcome is unknown', async () => {
    const warehouse = await open();
    await entered(warehouse);
    const errors: Error[] = [];
    const db = warehouse.db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        const error = errors.shift();
        if (error) throw error;
        return result;
      },
    });
    const twice = async <T>(work: () => Promise<T>): Promise<T> => work().catch(work);
    const guard = openSharedBudget({ ...warehouse, db }, async () => limits(10), twice);
    const five = await reserved(guard, 5);
    errors.push(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
    // A plugin reports a failure although the statement succeeded, so a second attempt would show.
    await five.add(-1);
    expect(await counted(warehouse)).toMatchObject({ ever: 3 });
    errors.push(new Error('Connection terminated unexpectedly'));
    await five.add(-1);
    expect(await counted(warehouse)).toMatchObject({ ever: 2 });
    errors.push(Object.assign(new Error('a'), { code: '53300' }), Object.assign(new Error('b'), { code: '53300' }));
    await five.add(-1);
    expect(errors).toEqual([]);
  });

  it('releases what a call did not cost on the day of its reservation, also after midnight', async () => {
    const warehouse = await open();
    const next = periodAt(new Date('2026-03-07T00:00:00Z'), 'day');
    for (const day of [PERIOD, next]) await ensurePeriodCounter(warehouse, day, false);
    let today = PERIOD;
    const limit = () => ({ what: 'the day', points: 1000, counter: periodCounter(today), baseline: 0 });
    const budget = openSharedBudget(warehouse, async () => [limit()], once);
    const reservations = openReservations(budget);
    const calls = new MeteredCalls({ now: () => PERIOD.from, budget, logReader: { costs: async () => new Map() } });
    const reservation = await reservations.reserve(100);
    if (!reservation) throw new Error('the limit was reached');
    const ticket = calls.openTicket();
    await ticket.claim({ id: '1', attempts: 0 }, reservation);
    const refusal = { status: 429, headers: {}, body: new Uint8Array(), receivedAt: PERIOD.from, tookMs: 1 };
    ticket.ended({ kind: 'answered', ...refusal });
    reservation.settle(ticket.settle(0));

    today = next;
    await reservations.reserve(60);
    await calls.releaseRefused();

    expect(await counted(warehouse)).toEqual({ [periodCounter(PERIOD)]: 0, [periodCounter(next)]: 60 });
  });
});

eachWarehouse('a day that is counted', (open, kind) => {
  const row = periodCounter(PERIOD);

  it('begins at what the ledger says was sent on it', async () => {
    const warehouse = await open();
    await sent(warehouse, '2026-03-05T23:59:59.999Z', { points: 1 });
    await sent(warehouse, '2026-03-06T00:00:00.000Z', { points: 20, charged: 2 });
    await sent(warehouse, '2026-03-06T12:00:00Z', { points: 300 });
    // An attempt is in flight, in addition to the charge of an earlier one.
    await sent(warehouse, '2026-03-06T13:00:00Z', { points: 4000, charged: 1, state: 'sent' });
    await ensurePeriodCounter(warehouse, PERIOD, false);
    expect(await counted(warehouse)).toEqual({ [row]: 4302 });
    expect(Number((await spentSince(warehouse, new Date('2026-03-06T12:30:00Z'))).points)).toBe(4000);
    // By a clock that was ahead.
    await sent(warehouse, '2027-04-10T12:00:00Z', { points: 90_000 });
    await ensurePeriodCounter(warehouse, PERIOD, true);
    expect(await counted(warehouse)).toEqual({ [row]: 4302 });
  });

  it('follows the ledger if no other process can be running, and otherwise is not below its count', async () => {
    const warehouse = await open();
    await sent(warehouse, '2026-03-06T12:00:00Z', { points: 3 });
    await ensurePeriodCounter(warehouse, PERIOD, false);
    const guard = openSharedBudget(warehouse, async () => limits(100).slice(0, 1), once);
    // Set aside by a process that died before it sent anything.
    await reserved(guard, 40);

    await ensurePeriodCounter(warehouse, PERIOD, false);
    expect(await counted(warehouse)).toEqual({ [row]: 43 });
    await age(warehouse);
    await acquireLease(operationsOf(warehouse), 'sync:other', 'other', true);
    await ensurePeriodCounter(warehouse, PERIOD, false);
    expect(await counted(warehouse)).toEqual({ [row]: 43 });
    await age(warehouse);
    await sql`update sluice_ops.leases set expires_at = clock_timestamp() - interval '1 s'`.execute(warehouse.db);
    await ensurePeriodCounter(warehouse, PERIOD, false);
    expect(await counted(warehouse)).toEqual({ [row]: 3 });

    await reserved(guard, 40);
    await ensurePeriodCounter(warehouse, PERIOD, true);
    expect(await counted(warehouse)).toEqual({ [row]: 3 });
    await sent(warehouse, '2026-03-06T15:00:00Z', { points: 9 });
    await ensurePeriodCounter(warehouse, PERIOD, false);
    expect(await counted(warehouse)).toEqual({ [row]: 12 });
  });

  it('follows the ledger once in an embedded process, and then keeps the points of its other runs', async () => {
    const warehouse = await open();
    const effects = { now: () => PERIOD.from, sleep: async () => undefined, random: () => 0.5 };
    const openRun = () => invocationBudget(warehouse, { perDay: 100 }, {}, effects);
    await ensurePeriodCounter(warehouse, PERIOD, false);
    // Set aside by a process that died before it sent anything.
    await reserved(guardOf(warehouse, limits(100).slice(0, 1)), 40);
    const ofDead = kind === 'embedded' ? 0 : 40;

    const first = await openRun();
    expect(await counted(warehouse)).toEqual({ [row]: ofDead });
    const thirty = await reserved(first, 30);
    await openRun();
    expect(await counted(warehouse)).toEqual({ [row]: ofDead + 30 });
    await thirty.add(-20);
    expect(await counted(warehouse)).toEqual({ [row]: ofDead + 10 });
  });

  it('of everything continues from its current value', async () => {
    const warehouse = await open();
    expect(await ensureTotalCounter(warehouse)).toEqual({ row: 'ever', points: 0 });
    await ensurePeriodCounter(warehouse, PERIOD, true);
    await reserved(guardOf(warehouse, limits(100)), 7);
    expect(await ensureTotalCounter(warehouse)).toEqual({ row: 'ever', points: 7 });
  });
});
