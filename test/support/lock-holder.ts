/**
 * Another process: `node lock-holder.ts lock PATH` or `node lock-holder.ts open URL`. On `take` on its input it takes
 * the lock, or opens the warehouse and writes a row, and reports that; on `release` it releases the lock; it ends with its input.
 */
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { acquireLock } from '../../src/warehouse/lock/lock.ts';

const [what = '', where = '', waitMs = '0'] = process.argv.slice(2);
const effects = { now: () => new Date(), sleep: (ms: number) => wait(ms) };
const say = (word: string): void => void process.stdout.write(`${word}\n`);

async function take(): Promise<() => Promise<void> | void> {
  if (what === 'lock') return acquireLock(where, { command: 'lock-holder', waitMs: Number(waitMs) }, effects);
  const warehouse = await openWarehouse(
    { url: new Secret(where), schema: 'sluice' },
    { ...effects, command: 'lock-holder' },
  );
  await sql`create table taken as select 'acknowledged' as note`.execute(warehouse.db);
  return () => warehouse.close();
}

say('ready');
let release: (() => Promise<void> | void) | undefined;
for await (const order of createInterface({ input: process.stdin })) {
  if (order === 'take') {
    try {
      release = await take();
      say('taken');
    } catch (error) {
      say(`refused ${(error as Error).message}`);
    }
  }
  if (order === 'release') {
    await release?.();
    say('released');
  }
}
