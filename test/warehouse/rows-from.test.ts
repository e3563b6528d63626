/** Values in memory as rows of a query. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { insertion, rowsFrom } from '../../src/warehouse/sql/rows-from.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const ITEMS = [
  { name: 'a "quoted" \\ name', at: new Date('2026-03-06T15:00:00.123Z'), body: { list: [1, null, '{,}'] } },
  { name: '', at: undefined, body: {} },
];

const rows = (items: readonly (typeof ITEMS)[number][]) =>
  rowsFrom(items, {
    position: ['int', (_, index) => index],
    name: ['text', ({ name }) => name],
    at: ['timestamptz', ({ at }) => at ?? null],
    body: ['jsonb', ({ body }) => body],
    large: ['bigint', () => '9007199254740993'],
    exact: ['numeric', () => 0.1],
    isFirst: ['boolean', (_, index) => index === 0],
  });

eachWarehouse('rows of values', (open) => {
  it('have a row for each item, with values of the types of the columns', async () => {
    const { db } = await open();
    const found = await sql`select * from ${rows(ITEMS)} as t order by position`.execute(db);
    const same = { large: '9007199254740993', exact: '0.1' };
    expect(found.rows).toEqual([
      { position: 0, name: ITEMS[0]?.name, at: ITEMS[0]?.at, body: ITEMS[0]?.body, ...same, isFirst: true },
      { position: 1, name: '', at: null, body: {}, ...same, isFirst: false },
    ]);
  });

  it('of no items are none', async () => {
    const { db } = await open();
    expect((await sql`select * from ${rows([])} as t`.execute(db)).rows).toEqual([]);
  });

  it('are inserted under the names of their columns', async () => {
    const { columns, rows: inserted } = insertion(ITEMS, {
      name: ['text', ({ name }) => name],
      length: ['bigint', ({ name }) => name.length],
    });
    const { db } = await open();
    await db.connection().execute(async (one) => {
      await sql`create temporary table named (length bigint, name text)`.execute(one);
      await sql`insert into named (${sql.join(columns.map((it) => sql.ref(it)))}) ${inserted}`.execute(one);
      const found = await sql`select name, length from named order by length`.execute(one);
      expect(found.rows).toEqual([
        { name: '', length: '0' },
        { name: ITEMS[0]?.name, length: '17' },
      ]);
    });
  });
});
