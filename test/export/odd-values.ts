/** A table with values that formats of files lose easily, for tests of exports. */
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

export const ODD_TEXT = 'line\r\nbreak, "quote" \u2028 \u0007 é 🙂';

/** Creates `sluice.odd` with three rows, and `sluice.empty` with its columns and without rows. */
export async function createOddTables({ db }: Pick<Warehouse, 'db'>): Promise<void> {
  await sql`create table sluice.odd (id int primary key, large bigint, amount double precision, flag boolean, name text,
    at timestamptz, local_at timestamp, day date, uid uuid, doc jsonb, exact numeric, names text[])`.execute(db);
  await sql`insert into sluice.odd values
    (1, 9223372036854775807, 'NaN', true, '', '2024-02-28 23:02:03.456789+00', '2024-02-28 01:02:03.000001', '2024-02-29',
      '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f', '{"n": 12345678901234567890, "f": 0.12345678901234567891}',
      '12345678901234567890.5', '{a,"b,c"}'),
    (2, 9007199254740993, '-Infinity', false, ${ODD_TEXT}, '1969-12-31 23:59:59.999999+00', null, '0044-03-15 BC', null,
      'null', 1.50, null),
    (3, -1, '-0', null, null, null, null, null, null, null, null, null)`.execute(db);
  await sql`create table sluice.empty (like sluice.odd)`.execute(db);
}
