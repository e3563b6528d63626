/** Statements of a load: one after the other, in whatever way they are requested. */
import { expect, it } from 'vitest';
import { type SqlExecutor, sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Table } from '../../src/warehouse/schema/table-types.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const SCHEMA = 'pg_temp';
const column = { name: 'n', type: 'bigint', about: '', nullable: false, volatile: false } as const;
const table = (name: string) => ({ name, columns: [column] }) as unknown as Table;
const upsert = (name: string): string =>
  `insert into ${SCHEMA}.${name} select * from unnest($1::bigint[]) on conflict do nothing`;
const numbers = (count: number) => ({
  count,
  cells: (from: number, to: number) => Array.from({ length: count }, (_, n) => [n]).slice(from, to),
});

eachWarehouse('a run', (open) => {
  const running = async (work: (run: SqlExecutor) => Promise<void>): Promise<void> => {
    const { db } = await open();
    await db.transaction().execute(async (tx) => {
      const run = sqlExecutorOn(tx, SCHEMA);
      for (const name of ['one', 'other'])
        await run.count(`create temp table ${name} (n bigint primary key) on commit drop`, []);
      await work(run);
    });
  };
  const countIn = async (run: SqlExecutor, name: string): Promise<number> =>
    Number(
      (await run.rows(`select json_build_object('n', count(*)::text)::text as row from ${SCHEMA}.${name}`, []))[0]?.[
        'n'
      ],
    );

  it.each([1, 20, 1000])('adds %i rows, and leaves those of another writer unchanged', (count) =>
    running(async (run) => {
      await run.count(`insert into ${SCHEMA}.one values (0)`, []);
      expect(await run.insert(table('one'), numbers(count), upsert('one'))).toBe(count - 1);
      expect(await run.insert(table('other'), numbers(count), upsert('other'))).toBe(count);
      expect(await countIn(run, 'one')).toBe(count);
    }),
  );

  it('keeps what is written while it adds rows of which one is there', () =>
    running(async (run) => {
      await run.count(`insert into ${SCHEMA}.one values (7)`, []);
      const adding = run.insert(table('one'), numbers(30), upsert('one'));
      await run.write(`insert into ${SCHEMA}.other values (1)`, []);
      const counting = run.count(`insert into ${SCHEMA}.other values (2)`, []);
      const also = run.insert(table('other'), numbers(30), upsert('other'));
      expect([await adding, await counting, await also]).toEqual([29, 1, 28]);
      expect(await countIn(run, 'one')).toBe(30);
      expect(await countIn(run, 'other')).toBe(30);
    }));

  it('reports the error of a write at the next call', async () => {
    const failing = running(async (run) => {
      await run.write('select 1 / 0', []);
      await expect(run.count('select 1', [])).rejects.toThrow('division by zero');
      await run.drain();
    });
    await expect(failing).rejects.toThrow('division by zero');
  });
});
