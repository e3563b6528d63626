/** A process that fills its disk with an embedded database until a write fails, which ends the database. */
import { join } from 'node:path';
import { SluiceError, TransientError } from '../../src/errors.ts';
import { openPool } from '../../src/warehouse/embedded/pool.ts';
import { openThread } from '../../src/warehouse/embedded/thread.ts';

/** Ignores errors of the database that it survives. */
function report(error: unknown): void {
  if (!(error instanceof SluiceError)) return;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}

const folder = process.argv[2] ?? '';
const database = await openThread(
  { dataDir: join(folder, 'data') },
  { failure: ({ message }) => new TransientError(message, { next: 'Free space.' }) },
);
const { runScript } = openPool(database);
await runScript('create table t (a int, b text)');
// The loop ends only with the database.
while (process.exitCode === undefined)
  await runScript('insert into t select g, repeat(md5(g::text), 30) from generate_series(1, $1::int) g', [
    '2000',
  ]).catch(report);
