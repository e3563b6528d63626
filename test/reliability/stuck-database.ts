/** A process that fills its disk with an embedded database and gets stuck in a write; the watchdog ends it. */
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { startWatchdog } from '../../src/warehouse/lock/watchdog.ts';

const folder = process.argv[2] ?? '';
startWatchdog(folder, 2000);
const pglite = await PGlite.create(join(folder, 'data'));
await pglite.exec('create table t (a int, b text)');
// The loop never ends by itself.
for (;;)
  await pglite
    .query('insert into t select g, repeat(md5(g::text), 30) from generate_series(1, 2000) g')
    .catch(() => undefined);
