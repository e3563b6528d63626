/**
 * Another process that has an embedded warehouse and answers readers: `node reads-owner.ts FOLDER`. It says `ready`, then
 * follows the commands on its input, line by line: `close` closes it in order; it ends with its input.
 */
import { createInterface } from 'node:readline';
import { sql } from 'kysely';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { ensureSchema } from '../../src/warehouse/migrate/migrate.ts';
import { serveReads } from '../../src/warehouse/read-server/server.ts';
import { realEffects } from './warehouse.ts';

const [folder = ''] = process.argv.slice(2);
const settings = { url: new Secret(`embedded:${folder}`), schema: 'sluice' };
const warehouse = await openWarehouse(settings, { ...realEffects, command: 'reads-owner' });
await ensureSchema(warehouse);
await sql`create table if not exists public.seen as
  select g as number, 'row ' || g as name, now() as at, '{"a": [1]}'::jsonb as data from generate_series(1, 5000) g`.execute(
  warehouse.db,
);
const reads = await serveReads(warehouse, folder, realEffects);
const say = (word: string): void => void process.stdout.write(`${word}\n`);
say(reads ? 'ready' : 'no socket');
for await (const order of createInterface({ input: process.stdin })) {
  if (order === 'close') {
    await reads?.close();
    await warehouse.close();
    say('closed');
  } else {
    await sql.raw(order).execute(warehouse.db);
    say('done');
  }
}
