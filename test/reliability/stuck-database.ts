/** A process that fills its disk by an embedded database that does not look at it, and so gets stuck; the watchdog ends it. */
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { startWatchdog } from '../../src/warehouse/lock/watchdog.ts';

const folder = process.argv[2] ?? '';
startWatchdog(folder, 2000);
const pglite = await PGlite.create(join(folder, 'data'));
await pglite.exec('create table t (a int, b text)');
// It must be ended: there is no end to this.
for (;;)
  await pglite
    .query('insert into t select g, repeat(md5(g::text), 30) from generate_series(1, 2000) g')
    .catch(() => undefined);
