/**
 * The limit: Sluice's load of prepared batches, many answers in a transaction, against the cost of the database itself. COPY
 * and bare upserts of arrays write the rows that the load results in, into the same tables with the same keys and indexes.
 * Batches and rows are prepared before the measurement.
 */
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, type Measured, scaled, type Setting } from './core/benchmark.ts';
import { batchesOf, loadAll, warehouseAt } from './stage/batches.ts';
import { byCopy, byUpsert, rowsOf } from './stage/limit.ts';
import type { Database } from './stage/postgres.ts';
import { type WorkloadName, workloadOf } from './stage/workload.ts';

const ANSWERS = { filings: 100, posts: 500, groups: 50, photoshare: 2_000 } as const;

export const limit: Benchmark = {
  name: 'limit',
  about: 'load of prepared batches against COPY and bare unnest upserts of the same rows into the same empty tables',
  run: async (setting) => {
    const postgres = await setting.postgres();
    const empty = await postgres.create();
    await (await warehouseAt(empty.url)).close();
    const lines: Line[] = [];
    const notes: string[] = [];
    for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]) {
      const measured = await compare(setting, name, scaled(setting, ANSWERS[name], 2), empty);
      lines.push(...measured.lines);
      notes.push(...measured.notes);
    }
    return { lines, notes };
  },
};

async function compare(setting: Setting, name: WorkloadName, answers: number, empty: Database): Promise<Measured> {
  const postgres = await setting.postgres();
  const batches = batchesOf(workloadOf(name, answers));
  const loadInto = async (url: string): Promise<number> => {
    const warehouse = await warehouseAt(url);
    const startedMs = performance.now();
    await loadAll(warehouse, batches, 1);
    const tookMs = performance.now() - startedMs;
    await warehouse.close();
    return tookMs;
  };
  const inFresh = async (work: (url: string) => Promise<number>): Promise<number> => {
    const database = await postgres.create(empty);
    const tookMs = await work(database.url);
    await database.drop();
    return tookMs;
  };
  const filled = await postgres.create(empty);
  await loadInto(filled.url);
  const rows = await rowsOf(filled.url);
  await filled.drop();
  const count = rows.reduce((sum, it) => sum + it.count, 0);
  setting.report(`${name}: ${count} rows in ${rows.length} tables`);
  const ms = await alternate(setting.runs, {
    load: () => inFresh(loadInto),
    copy: () => inFresh((url) => byCopy(url, rows)),
    upsert: () => inFresh((url) => byUpsert(url, rows)),
  });
  const rate = (of: readonly number[]) => figureOf(of.map((it) => (count / it) * 1000));
  const load = figureOf(ms.load).median;
  const ratio = (of: readonly number[]) => ({ of: 'load time / it', value: load / figureOf(of).median });
  return {
    lines: [
      lineOf(`${name}: load`, 'rows/s', rate(ms.load)),
      lineOf(`${name}: COPY`, 'rows/s', rate(ms.copy), {
        ratio: ratio(ms.copy),
        target: { of: 'ratio', at: 'most', bound: 2 },
      }),
      lineOf(`${name}: unnest upsert`, 'rows/s', rate(ms.upsert), {
        ratio: ratio(ms.upsert),
        target: { of: 'ratio', at: 'most', bound: 1.3 },
      }),
    ],
    notes: [`${name}: ${answers} answers, ${count} rows in ${rows.length} tables`],
  };
}
