/** The rows of a shared limiter: one holder for each slot, starts at a distance by the database's clock, and nothing that stays. */
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { openSharedSlots } from '../../src/control/limiter/shared-slots.ts';
import { type SlotSource, START_AHEAD_MS } from '../../src/control/limiter/slot-source.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { postgresWarehouses, realEffects, SCHEMA } from '../support/warehouse.ts';

const sharingOf = ({ sharing }: SlotSource) => {
  if (!sharing) throw new Error('nothing is shared');
  return sharing;
};
const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);

/** Ends what the holder has, as time would. */
const expire = (warehouse: Warehouse, holder: string): Promise<unknown> =>
  sql`update sluice_ops.limiter_slots set expires_at = clock_timestamp() - interval '1 ms' where holder = ${holder}`.execute(
    warehouse.db,
  );

describe('the rows of a limiter', () => {
  const open = postgresWarehouses();
  const slotsOf = (warehouse: Warehouse, holder: string, inFlight = 3, intervalMs = 0.001, token = 'g') =>
    openSharedSlots(warehouse, { token, holder, inFlight, intervalMs });

  it('give each slot to one holder, until it is freed or runs out', async () => {
    const warehouse = await open();
    const [one, two] = [await slotsOf(warehouse, 'one'), await slotsOf(warehouse, 'two')];
    expect(sorted((await one.take(2, [])).numbers)).toEqual([2, 3]);
    expect((await two.take(5, [])).numbers).toEqual([1]);
    expect(await two.take(1, [1])).toMatchObject({ numbers: [], closedMs: 0 });

    await sharingOf(one).release([3]);
    expect((await two.take(5, [1])).numbers).toEqual([3]);
    // Slots of another holder are not freed and not renewed.
    await sharingOf(one).release([3]);
    expect(sorted(await sharingOf(one).renew([2, 3]))).toEqual([2]);
    expect((await one.take(5, [2])).numbers).toEqual([]);

    await expire(warehouse, 'one');
    expect((await two.take(5, [1, 3])).numbers).toEqual([2]);
    expect(await sharingOf(one).renew([2])).toEqual([]);
    // An expired slot that no holder took is renewed.
    await expire(warehouse, 'two');
    expect(sorted(await sharingOf(two).renew([1, 2, 3]))).toEqual([1, 2, 3]);
    expect((await one.take(5, [])).numbers).toEqual([]);
  });

  it('give back to a holder what a statement took whose answer never came', async () => {
    const warehouse = await open();
    const one = await slotsOf(warehouse, 'one');
    await one.take(3, []);
    expect(sorted((await one.take(3, [2])).numbers)).toEqual([1, 3]);
  });

  it('bind each process by its own bound, and leave the low numbers to the lower', async () => {
    const warehouse = await open();
    const [few, many] = [await slotsOf(warehouse, 'few', 2), await slotsOf(warehouse, 'many', 5)];
    expect(sorted((await many.take(3, [])).numbers)).toEqual([3, 4, 5]);
    expect(sorted((await few.take(5, [])).numbers)).toEqual([1, 2]);
    await sharingOf(many).release([3, 4, 5]);
    expect((await few.take(5, [1, 2])).numbers).toEqual([]);
  });

  it('keep limiters apart', async () => {
    const warehouse = await open();
    await (await slotsOf(warehouse, 'one', 1, 1, 'a')).take(1, []);
    expect((await (await slotsOf(warehouse, 'two', 1, 1, 'b')).take(1, [])).numbers).toEqual([1]);
  });

  it('grant start times an interval apart, to any holder', async () => {
    const warehouse = await open();
    const [one, two] = [await slotsOf(warehouse, 'one', 9, 40), await slotsOf(warehouse, 'two', 9, 40)];
    const asked = performance.now();
    const first = await one.take(2, []);
    const second = await two.take(1, []);
    const { firstMs: third } = await sharingOf(one).takeStarts(1);
    const tookMs = performance.now() - asked;
    expect(first.numbers).toHaveLength(2);
    expect(first.firstMs).toBe(0);
    // What time the statements took has passed of the waits.
    for (const [at, turn] of [
      [80, second.firstMs],
      [120, third],
    ] as const) {
      expect(turn).toBeLessThanOrEqual(at);
      expect(turn).toBeGreaterThanOrEqual(at - tookMs - 1);
    }
  });

  it('grant no start time that is far ahead, and return when to request again', async () => {
    const warehouse = await open();
    const one = await slotsOf(warehouse, 'one', 9, 5000);
    expect((await one.take(9, [])).numbers).toEqual([9]);
    const { numbers, closedMs } = await one.take(9, [9]);
    expect(numbers).toEqual([]);
    expect(closedMs).toBeGreaterThan(4000);
    expect(closedMs).toBeLessThanOrEqual(5000 - START_AHEAD_MS);
  });

  it('show a holder that another one lacks slots, until that is long ago', async () => {
    const warehouse = await open();
    const [one, two] = [await slotsOf(warehouse, 'one', 2), await slotsOf(warehouse, 'two', 2)];
    const { numbers, isWanted } = await one.take(2, []);
    expect([sorted(numbers), isWanted]).toEqual([[1, 2], false]);
    // A holder does not count itself as lacking slots.
    expect((await one.take(1, [1, 2])).numbers).toEqual([]);
    expect((await sharingOf(one).takeStarts(1)).isWanted).toBe(false);
    await sql`update sluice_ops.limiter_paces set wanted_at = null`.execute(warehouse.db);
    expect((await two.take(1, [])).numbers).toEqual([]);
    expect((await sharingOf(one).takeStarts(1)).isWanted).toBe(true);
    await sharingOf(one).release([1]);
    expect(await one.take(1, [2])).toMatchObject({ numbers: [1], isWanted: true });
    await sql`update sluice_ops.limiter_paces set wanted_at = wanted_at - interval '1 s'`.execute(warehouse.db);
    expect((await sharingOf(one).takeStarts(1)).isWanted).toBe(false);
  });

  it('want none while the rate allows no start', async () => {
    const warehouse = await open();
    const [one, two] = [await slotsOf(warehouse, 'one', 2, 5000), await slotsOf(warehouse, 'two', 2, 5000)];
    expect((await one.take(2, [])).numbers).toEqual([2]);
    expect((await two.take(1, [])).closedMs).toBeGreaterThan(0);
    expect((await sharingOf(one).takeStarts(1)).isWanted).toBe(false);
  });

  it('save up no start times while there are no calls', async () => {
    const warehouse = await open();
    const one = await slotsOf(warehouse, 'one', 9, 1000);
    await sql`update sluice_ops.limiter_paces set next_at = clock_timestamp() - interval '1 hour'`.execute(
      warehouse.db,
    );
    expect((await one.take(9, [])).numbers).toHaveLength(1);
    expect((await one.take(9, [9])).closedMs).toBeGreaterThan(500);
  });

  it('forget a turn that a clock left behind which was set back since', async () => {
    const warehouse = await open();
    const one = await slotsOf(warehouse, 'one', 2, 200);
    await sql`update sluice_ops.limiter_paces set next_at = clock_timestamp() + interval '1 hour'`.execute(
      warehouse.db,
    );
    expect(await one.take(1, [])).toMatchObject({ firstMs: 0, numbers: [2] });
    expect((await sharingOf(one).takeStarts(1)).firstMs).toBeLessThanOrEqual(200);
  });

  it.each([1e-6, 1e11])('accept an interval of %d ms', async (intervalMs) => {
    const warehouse = await open();
    const one = await slotsOf(warehouse, 'one', 1000, intervalMs);
    expect((await one.take(1000, [])).numbers).toHaveLength(intervalMs < 1 ? 1000 : 1);
    expect((await sharingOf(one).takeStarts(1)).firstMs).toBeLessThanOrEqual(intervalMs);
  });

  it('are free after a release by a clock that was set back since, and from the beginning', async () => {
    const warehouse = await open();
    const [one, two] = [await slotsOf(warehouse, 'one', 2), await slotsOf(warehouse, 'two', 2)];
    const [taken = 0] = (await one.take(1, [])).numbers;
    await sharingOf(one).release([taken]);
    await sql`update sluice_ops.limiter_slots set expires_at = expires_at + interval '10 days'`.execute(warehouse.db);
    expect(sorted((await two.take(2, [])).numbers)).toEqual([1, 2]);
  });

  it('are inserted once, however many processes open the limiter', async () => {
    const warehouse = await open();
    await Promise.all([1, 2, 3, 4, 5].map((n) => slotsOf(warehouse, `p${n}`, n)));
    const { rows } = await sql<{ n: string }>`
      select (select count(*) from sluice_ops.limiter_slots) + (select count(*) from sluice_ops.limiter_paces) as n`.execute(
      warehouse.db,
    );
    expect(rows).toEqual([{ n: '6' }]);
  });

  it('are entered again when they were cleared away', async () => {
    const warehouse = await open();
    const one = await slotsOf(warehouse, 'one');
    await sql`truncate sluice_ops.limiter_slots, sluice_ops.limiter_paces`.execute(warehouse.db);
    expect((await one.take(3, [])).numbers).toEqual([]);
    expect(await sharingOf(one).renew([1])).toEqual([]);
    expect((await one.take(3, [])).numbers).toHaveLength(3);
  });

  it('never grant one slot to two holders, however many request at once', async () => {
    const warehouse = await open();
    const inUse = new Map<number, string>();
    let [most, taken] = [0, 0];
    await Promise.all(
      Array.from({ length: 9 }, async (_, n) => {
        const source = await slotsOf(warehouse, `p${n}`);
        for (let rounds = 0; rounds < 60; rounds += 1) {
          const { numbers } = await source.take(1 + (rounds % 3), []);
          for (const number of numbers) {
            expect(inUse.get(number)).toBeUndefined();
            inUse.set(number, `p${n}`);
          }
          most = Math.max(most, inUse.size);
          taken += numbers.length;
          await new Promise(setImmediate);
          for (const number of numbers) inUse.delete(number);
          if (numbers.length > 0) await sharingOf(source).release(numbers);
        }
      }),
    );
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(3);
    expect(taken).toBeGreaterThan(100);
  });
});

it('statements of a limiter do not wait for the disk, and other statements on the same connection do', async () => {
  const database = await freshDatabase(await postgresTemplate());
  onTestFinished(() => database.drop());
  // The tests' own server waits for nothing.
  const url = new Secret(`${database.url}?options=${encodeURIComponent('-c synchronous_commit=on')}`);
  const warehouse = await openWarehouse({ url, schema: SCHEMA }, realEffects);
  onTestFinished(() => warehouse.close());
  const source = await openSharedSlots(warehouse, { token: 'g', holder: 'one', inFlight: 3, intervalMs: 1 });
  const number = async (text: string): Promise<number> => {
    const { rows } = await sql<{ at: string }>`select ${sql.raw(text)} - '0/0'::pg_lsn as at`.execute(warehouse.db);
    return Number(rows[0]?.at);
  };
  /** Of many times, how often what the work wrote was not on disk when it was done. */
  const unwritten = async (work: () => Promise<unknown>): Promise<number> => {
    let count = 0;
    for (let times = 0; times < 30; times += 1) {
      const before = await number('pg_current_wal_insert_lsn()');
      await work();
      if ((await number('pg_current_wal_flush_lsn()')) <= before) count += 1;
    }
    return count;
  };
  expect(await unwritten(() => source.take(3, []))).toBeGreaterThan(0);
  expect(await unwritten(() => sharingOf(source).takeStarts(1))).toBeGreaterThan(0);
  expect(await unwritten(() => sharingOf(source).renew([1, 2, 3]))).toBeGreaterThan(0);
  expect(await unwritten(() => sharingOf(source).release([1, 2, 3]))).toBeGreaterThan(0);
  const write = sql`update sluice_ops.limiter_paces set next_at = clock_timestamp()`;
  expect(await unwritten(() => write.execute(warehouse.db))).toBe(0);
});
