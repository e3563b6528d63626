/**
 * Another process: `node long-statement.ts FOLDER HOW`. It opens the embedded warehouse, commits a row, starts a statement
 * that takes hours, and reports that. On SIGTERM it exits at once with 143. `HOW` is `write` for a statement that
 * writes, `read` for one that does not, and `none` to end after the row without closing the warehouse.
 */
import { sql } from 'kysely';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { realEffects } from './warehouse.ts';

const [folder = '', how = ''] = process.argv.slice(2);
const { db } = await openWarehouse(
  { url: new Secret(`embedded:${folder}`), schema: 'sluice' },
  { ...realEffects, command: 'long-statement' },
);
process.on('SIGTERM', () => process.exit(143));
await sql`create table if not exists kept as select 1 as id`.execute(db);
const rows = sql`select g as id from generate_series(1, 100000000000) g`;
if (how !== 'none') {
  const running =
    how === 'write' ? sql`insert into kept ${rows}`.execute(db) : sql`select count(*) from (${rows}) r`.execute(db);
  process.stdout.write('running\n');
  await running;
}
