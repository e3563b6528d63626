/**
 * Again: `sluice sync` of the same answers a second time, against the first time: duration, write-ahead log, and row
 * versions and dead rows in the analyst tables. The ledger and the stored answers are written both times.
 */
import { join } from 'node:path';
import { figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled, type Setting } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { startService } from './stage/service.ts';
import { type Sluice, sluiceFor, SYNC } from './stage/sluice.ts';
import { traceOf } from './stage/trace.ts';
import { rowsIn, type WorkloadName, workloadOf } from './stage/workload.ts';

const ANSWERS = { filings: 100, posts: 500, groups: 50, photoshare: 2_000 } as const;
type Kind = 'Postgres' | 'embedded';

export const again: Benchmark = {
  name: 'again',
  about: 'the same answers a second time: time, write-ahead log, row versions and dead rows',
  run: async (setting) => {
    const lines: Line[] = [];
    for (const kind of ['Postgres', 'embedded'] as const)
      for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])
        lines.push(...(await compare(setting, kind, name, scaled(setting, ANSWERS[name], 2))));
    return {
      lines,
      notes: [
        'time is of the complete process; the log is of the complete database, with ledger and stored answers',
        'image addresses have the same signature in all answers; with a new signature in each, every answer would refresh a shared author',
        'row versions and dead rows are counted in the analyst tables only',
      ],
    };
  },
};

async function compare(setting: Setting, kind: Kind, name: WorkloadName, answers: number): Promise<Line[]> {
  const workload = workloadOf(name, answers, true);
  const service = await startService({ workload: name, answers, sameSignatures: true });
  const faster: number[] = [];
  const secondMs: number[] = [];
  const walShare: number[] = [];
  const walMb: number[] = [];
  const versions: number[] = [];
  const dead: number[] = [];
  try {
    for (let round = 0; round < setting.runs; round += 1) {
      const folder = join(setting.folder, `${kind}-${name}-${round}`);
      const database = kind === 'Postgres' ? await (await setting.postgres()).create() : undefined;
      const warehouseUrl = database?.url ?? `embedded:${join(folder, 'warehouse')}`;
      const sluice = await sluiceFor(folder, { workload, serviceUrl: service.url, warehouseUrl });
      await createSchema(warehouseUrl);
      const first = await traced(sluice, warehouseUrl);
      const second = await traced(sluice, warehouseUrl);
      faster.push(first.wallMs / second.wallMs);
      secondMs.push(second.wallMs);
      walShare.push(second.walBytes / first.walBytes);
      walMb.push(second.walBytes / 2 ** 20);
      versions.push(second.versions);
      dead.push(second.dead);
      await database?.drop();
    }
  } finally {
    await service.stop();
  }
  const who = `${name}, ${kind}`;
  setting.report(`${who}: ${rowsIn(workload)} rows, ${figureOf(faster).median.toFixed(2)} × faster`);
  return [
    lineOf(`${who}: second time`, 'ms', figureOf(secondMs), {
      ratio: { of: 'times faster than the first', value: figureOf(faster).median },
      target: { of: 'ratio', at: 'least', bound: 3 },
    }),
    lineOf(`${who}: write-ahead log`, 'MB', figureOf(walMb), {
      ratio: { of: 'of the first', value: figureOf(walShare).median },
    }),
    lineOf(`${who}: new row versions`, 'rows', figureOf(versions), { target: { of: 'value', at: 'most', bound: 0 } }),
    lineOf(`${who}: dead rows`, 'rows', figureOf(dead), { target: { of: 'value', at: 'most', bound: 0 } }),
  ];
}

/** Creates the schema before the measurement, since only the first load would have to. */
const createSchema = async (url: string): Promise<void> => (await warehouseAt(url)).close();

async function traced(sluice: Sluice, warehouseUrl: string) {
  const before = await traceOf(warehouseUrl);
  const { wallMs } = await sluice.run(SYNC);
  const after = await traceOf(warehouseUrl, before.nextXid);
  return { wallMs, walBytes: after.walAt - before.walAt, versions: after.versions, dead: after.dead };
}
