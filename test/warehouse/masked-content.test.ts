/** What masked views show of the columns that they leave out, found by changing the values of these columns. */
import { sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';
import { isLeftOut, maskedViews } from '../../src/warehouse/masking/masked-views.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import type { SqlType } from '../../src/warehouse/schema/table-types.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { postgresWarehouses } from '../support/warehouse.ts';

/** The years decide which school is the latest. Masked views show all schools of a person anyway. */
const LATEST = ['pronet_user_overview.school_name', 'pronet_user_overview.school_urn_value'];

/** SQL that gives a different value for each value, and null for null. Digits keep numbers and dates readable. */
const OTHER: Readonly<Record<SqlType, (column: string) => string>> = {
  text: (it) => `translate(${it}, '12345678aeiou', '21436587eioua')`,
  jsonb: (it) => `case when ${it} is not null then jsonb_build_object('other', ${it}) end`,
  bigint: (it) => `${it} + 1`,
  'double precision': (it) => `${it} + 1`,
  boolean: (it) => `not ${it}`,
  timestamptz: (it) => `${it} + interval '400 days'`,
  date: (it) => `${it} + 400`,
  uuid: (it) => `md5(${it}::text)::uuid`,
};

/** The values of each column of the masked schema, as one text. */
async function shown(trx: Transaction<OperationsTables>): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await sql<{ view: string; column: string }>`
    select table_name as view, column_name as column from information_schema.columns
    where table_schema = 'sluice_masked' order by 1, 2`.execute(trx);
  const values = new Map<string, string | null>();
  for (const { view, column } of rows) {
    const value = sql`${sql.ref(column)}::text`;
    const found = await sql<{ all: string | null }>`
      select string_agg(${value}, ',' order by ${value}) as "all" from ${sql.table(`sluice_masked.${view}`)}`.execute(
      trx,
    );
    values.set(`${view}.${column}`, found.rows[0]?.all ?? null);
  }
  return values;
}

describe('masked views', () => {
  const open = postgresWarehouses();

  it('stay the same when the columns change that they leave out, except for the latest school', async () => {
    const warehouse = await open();
    await runQuickstart(warehouse);
    const changed = await warehouse.db.transaction().execute(async (trx) => {
      await sql`create schema sluice_masked`.execute(trx);
      await sql
        .raw(
          maskedViews(warehouse)
            .flatMap(({ statements }) => statements)
            .join(';\n'),
        )
        .execute(trx);
      await sql`insert into sluice_ops.masking_keys (id, key) values (1, '\\x01')`.execute(trx);
      const before = await shown(trx);
      // A log holds values of all types as text, which other digits would make unreadable.
      for (const { name, columns } of tables.filter(({ kind }) => kind !== 'changes')) {
        const set = columns
          .filter(isLeftOut)
          .map((it) => sql`${sql.ref(it.name)} = ${sql.raw(OTHER[it.type](`"${it.name}"`))}`);
        if (set.length > 0) await sql`update ${sql.table(`sluice.${name}`)} set ${sql.join(set)}`.execute(trx);
      }
      const after = await shown(trx);
      return [...after].filter(([column, values]) => values !== before.get(column)).map(([column]) => column);
    });
    expect(changed).toEqual(LATEST);
  });
});
