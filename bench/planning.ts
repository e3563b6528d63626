/**
 * Planning: a sync of a million inputs. Measured are the time from the start of `sluice sync` to its first request,
 * its memory, and the time in which the ledger returns the next page of requests at the start, middle and end of the plan.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openRequests } from '../src/ledger/requests/planned.ts';
import { operationsOf } from '../src/warehouse/connect/operations-db.ts';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { workloadOf } from './stage/workload.ts';

const TASKS = 1_000_000;
/** Requests in a page. */
const PAGE = 200;
const READS = 50;
/** The exit code of a run that stops at its limit in points, with all but a few requests planned. */
const OUT_OF_POINTS = 6;

export const planning: Benchmark = {
  name: 'planning',
  about: `a plan of ${TASKS.toLocaleString('en')} requests: time to the first of them, memory, and the cost of the next page`,
  run: async (setting) => {
    const tasks = scaled(setting, TASKS, 1000);
    const workload = { ...workloadOf('profiles', 1), answers: 1 };
    const service = await startService({ workload: workload.name, answers: 1 });
    const postgres = await setting.postgres();
    const firstMs: number[] = [];
    const peakMb: number[] = [];
    const pageMs: Record<'first' | 'middle' | 'last', number[]> = { first: [], middle: [], last: [] };
    try {
      for (let round = 0; round < setting.runs; round += 1) {
        const database = await postgres.create();
        const warehouse = await warehouseAt(database.url);
        const folder = join(setting.folder, String(round));
        const sluice = await sluiceFor(folder, { workload, serviceUrl: service.url, warehouseUrl: database.url });
        const inputs = [workload.input(0), ...Array.from({ length: tasks - 1 }, (_, at) => `nobody_${at}`)];
        await writeFile(join(folder, 'inputs.txt'), `${inputs.join('\n')}\n`);
        await service.span();
        const ran = await sluice.run([...SYNC, '--max-points', '1'], { codes: [OUT_OF_POINTS] });
        firstMs.push((await service.span()).firstAt - ran.spawnedAt);
        peakMb.push(ran.peakMb);
        const ops = operationsOf(warehouse);
        const { id, first } = await ops
          .selectFrom('requests')
          .select(({ fn }) => [fn.max('run_id').as('id'), fn.min('id').as('first')])
          .executeTakeFirstOrThrow();
        const offsets = { first: 1, middle: tasks / 2, last: tasks - PAGE - 1 };
        for (const [name, offset] of Object.entries(offsets) as [keyof typeof offsets, number][])
          for (let read = 0; read < READS; read += 1) {
            const startedMs = performance.now();
            await openRequests(ops, { id }, String(BigInt(first) + BigInt(Math.round(offset))), PAGE);
            pageMs[name].push(performance.now() - startedMs);
          }
        await warehouse.close();
        await database.drop();
      }
    } finally {
      await service.stop();
    }
    const lines: Line[] = [
      lineOf(`from start to the first of ${tasks} requests`, 'ms', figureOf(firstMs)),
      lineOf('peak memory', 'MB', figureOf(peakMb)),
      ...Object.entries(pageMs).map(([name, ms]) => lineOf(`the next ${PAGE}, ${name}`, 'ms', figureOf(ms))),
    ];
    return { lines, notes: ['the complete plan is in the ledger before the first request is sent'] };
  },
};
