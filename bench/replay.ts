/**
 * Replay: `sluice replay` of stored answers, into emptied tables against bare unnest upserts of the same rows, and in place,
 * where nothing changes. The time is the one that the replay reports, without the start of the process.
 */
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Warehouse } from '../src/warehouse/connect/connect.ts';
import { tables } from '../src/warehouse/schema/tables.ts';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled, type Setting } from './core/benchmark.ts';
import { warehouseAt } from './stage/batches.ts';
import { byUpsertIn, type Rows, rowsOf } from './stage/limit.ts';
import type { Database } from './stage/postgres.ts';
import { startService } from './stage/service.ts';
import { type Sluice, sluiceFor, SYNC } from './stage/sluice.ts';
import { type Workload, type WorkloadName, workloadOf } from './stage/workload.ts';

const ANSWERS = { filings: 100, photoshare: 2_000 } as const;
type Kind = 'Postgres' | 'embedded';

export const replay: Benchmark = {
  name: 'replay',
  about: 'stored answers into emptied tables, against the bare unnest upsert of the same rows; and in place',
  run: async (setting) => {
    const lines: Line[] = [];
    for (const name of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])
      lines.push(...(await compare(setting, name, scaled(setting, ANSWERS[name], 2))));
    return { lines, notes: ['the upserts of each kind of warehouse go through its own driver'] };
  },
};

async function compare(setting: Setting, name: WorkloadName, answers: number): Promise<Line[]> {
  const workload = workloadOf(name, answers);
  const service = await startService({ workload: name, answers });
  const databases: Database[] = [];
  const lines: Line[] = [];
  let rows: Rows[] | undefined;
  try {
    for (const kind of ['Postgres', 'embedded'] as const) {
      const folder = join(setting.folder, `${name}-${kind}`);
      const url = await createWarehouse(kind, setting, folder, databases);
      const sluice = await sluiceFor(folder, { workload, serviceUrl: service.url, warehouseUrl: url });
      await sluice.run(SYNC);
      // Both kinds have the same final rows, so the rows of the first serve both.
      rows ??= await rowsOf(url);
      const bare = await createWarehouse(kind, setting, join(folder, 'bare'), databases);
      lines.push(...(await measure(setting, kind, workload, { sluice, url, bare, rows })));
    }
  } finally {
    await service.stop();
    for (const database of databases) await database.drop();
  }
  return lines;
}

/** The address of a new warehouse; a new database joins `databases`. */
async function createWarehouse(kind: Kind, setting: Setting, folder: string, databases: Database[]): Promise<string> {
  if (kind === 'embedded') return `embedded:${join(folder, 'warehouse')}`;
  const database = await (await setting.postgres()).create();
  databases.push(database);
  return database.url;
}

interface Stage {
  readonly sluice: Sluice;
  /** The warehouse with the answers. */
  readonly url: string;
  /** A warehouse for the bare upserts. */
  readonly bare: string;
  readonly rows: readonly Rows[];
}

async function measure(setting: Setting, kind: Kind, { name, answers }: Workload, stage: Stage): Promise<Line[]> {
  const { sluice, url, bare, rows } = stage;
  const count = rows.reduce((sum, it) => sum + it.count, 0);
  const replayMs = async (): Promise<number> => {
    const { stdout } = await sluice.run(['replay', '--json', '--quiet']);
    return (JSON.parse(stdout) as { readonly tookMs: number }).tookMs;
  };
  const ms = await alternate(setting.runs, {
    emptied: async () => {
      await inEmptied(url, () => Promise.resolve());
      return replayMs();
    },
    upsert: () => inEmptied(bare, (warehouse) => byUpsertIn(warehouse, rows)),
    inPlace: replayMs,
  });
  const rate = (of: readonly number[], units: number) => figureOf(of.map((it) => (units / it) * 1000));
  const who = `${name}, ${kind}`;
  setting.report(`${who}: ${count} rows of ${answers} answers`);
  const upsert = rate(ms.upsert, count);
  const emptied = rate(ms.emptied, count);
  return [
    lineOf(`${who}: unnest upsert`, 'rows/s', upsert),
    lineOf(`${who}: replay into emptied tables`, 'rows/s', emptied, {
      ratio: { of: 'of the upsert', value: emptied.median / upsert.median },
      target: { of: 'ratio', at: 'least', bound: 0.7 },
    }),
    lineOf(`${who}: replay into emptied tables`, 'answers/s', rate(ms.emptied, answers)),
    lineOf(`${who}: replay in place`, 'answers/s', rate(ms.inPlace, answers)),
  ];
}

/** Empties the analyst tables, then does the work. */
async function inEmptied<T>(url: string, work: (warehouse: Warehouse) => Promise<T>): Promise<T> {
  const warehouse = await warehouseAt(url);
  try {
    const all = tables.map(({ name }) => sql.id(warehouse.schema, name));
    await sql`truncate ${sql.join(all)}`.execute(warehouse.db);
    return await work(warehouse);
  } finally {
    await warehouse.close();
  }
}
