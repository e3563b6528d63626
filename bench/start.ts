/**
 * Start: `sluice --help`, `sluice check` and the time from the start of `sluice sync` to its first request, against bare
 * `node -e 0`; and the processor time of a sync of one answer. Each runs from the sources, as in a checkout, and from the
 * JavaScript of the published package.
 */
import { join } from 'node:path';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import type { Benchmark, Line } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { run } from './stage/child.ts';
import { SOURCES } from './stage/package.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

/** Runs of each contestant for each run of the setting: they are short, so more are affordable. */
const TIMES_RUNS = 3;

export const start: Benchmark = {
  name: 'start',
  about:
    'time from start to the end of --help and of check, and to the first request, against bare node; processor time of a sync of one answer',
  run: async (setting) => {
    const workload = workloadOf('profiles', 1);
    const service = await startService({ workload: 'profiles', answers: 1 });
    const database = await (await setting.postgres()).create();
    await (await warehouseAt(database.url)).close();
    const lines: Line[] = [];
    try {
      const options = { workload, serviceUrl: service.url, warehouseUrl: database.url };
      const sources = await sluiceFor(join(setting.folder, 'sources'), { ...options, main: SOURCES });
      const published = await sluiceFor(join(setting.folder, 'published'), options);
      const took = (of: typeof sources, args: readonly string[]) => async () => (await of.run(args)).wallMs;
      const toFirst = (of: typeof sources) => async () => {
        await service.span();
        const { spawnedAt } = await of.run(SYNC);
        return (await service.span()).firstAt - spawnedAt;
      };
      const ms = await alternate(setting.runs * TIMES_RUNS, {
        bare: async () => (await run(process.execPath, ['-e', '0'])).wallMs,
        'sources, --help': took(sources, ['--help']),
        'package, --help': took(published, ['--help']),
        'sources, check': took(sources, ['check', '--json']),
        'package, check': took(published, ['check', '--json']),
        'sources, first request': toFirst(sources),
        'package, first request': toFirst(published),
        'sources, processor time of a sync': () => sources.processorMs(SYNC),
        'package, processor time of a sync': () => published.processorMs(SYNC),
      });
      const bare = figureOf(ms.bare);
      for (const [what, values] of Object.entries(ms)) {
        const figure = figureOf(values);
        const ratio = { of: '× bare node', value: figure.median / bare.median };
        if (what === 'bare') lines.push(lineOf('node -e 0', 'ms', figure));
        else if (what.endsWith('--help'))
          lines.push(lineOf(what, 'ms', figure, { ratio, target: { of: 'ratio', at: 'most', bound: 6 } }));
        else if (what.endsWith('request'))
          lines.push(lineOf(what, 'ms', figure, { ratio, target: { of: 'value', at: 'most', bound: 600 } }));
        else if (what.startsWith('package, processor time'))
          lines.push(lineOf(what, 'ms', figure, { target: { of: 'value', at: 'most', bound: 500 } }));
        else if (what.includes('processor time')) lines.push(lineOf(what, 'ms', figure));
        else lines.push(lineOf(what, 'ms', figure, { ratio }));
      }
    } finally {
      await service.stop();
      await database.drop();
    }
    const notes = [
      'check and the syncs are on a Postgres whose schema is in place',
      'each sync sends one request, stores its answer and loads it; its processor time is that of its process, without Postgres',
      'compiled code is kept between runs in ~/.cache/sluice; only the first run compiles',
    ];
    return { lines, notes };
  },
};
