/**
 * Growth, by table size: loading filings into tables of 0 to ten million rows, as time a row against the time at zero. Bare
 * upserts of as many new rows show what grows in the database itself. Growth, by work: `sluice sync` of ten times the
 * answers, as time and peak memory against a tenth.
 */
import { join } from 'node:path';
import { alternate, figureOf, lineOf } from './core/alternate.ts';
import { type Benchmark, type Line, scaled, type Setting } from './core/benchmark.ts';
import { loadAll, SCHEMA, warehouseAt } from './stage/batches.ts';
import { fill, filingBatches, prefixOfCopy } from './stage/fill.ts';
import { byUpsert, rowsOf } from './stage/limit.ts';
import { type Database, execute, valueOf } from './stage/postgres.ts';
import { startService } from './stage/service.ts';
import { sluiceFor, SYNC } from './stage/sluice.ts';
import { rowsIn, workloadOf } from './stage/workload.ts';

const LEVELS = [0, 100_000, 1_000_000, 10_000_000];
const SAMPLE_ANSWERS = 20;
const LOADED_ANSWERS = 50;
const ANSWERS = 50;
const TEN = 10;
/** Distance between the answer ids of two rounds, so that they never overlap. */
const ROUND = 10_000;

const LOG_BYTES = `select pg_current_wal_insert_lsn() - '0/0'::pg_lsn`;
const READ_TABLES = `select sum(pg_prewarm(oid, 'read')) from pg_class
  where relkind in ('r', 'i') and relnamespace = '${SCHEMA}'::regnamespace`;

const TARGET = { of: 'ratio', at: 'most', bound: 1.25 } as const;
/** The figures of each table size; only loads have a target. */
const FIGURES = [
  { of: 'new', what: 'new filings', unit: 'µs a filing', target: TARGET },
  { of: 'bare', what: 'bare new filings', unit: 'µs a filing' },
  { of: 'log', what: 'log of new filings', unit: 'kB a filing' },
  { of: 'changed', what: 'changed filings', unit: 'µs a filing', target: TARGET },
  { of: 'unchanged', what: 'unchanged filings', unit: 'µs a filing', target: TARGET },
] as const;

export const growth: Benchmark = {
  name: 'growth',
  about: 'loading into tables of growing size, time a row over that at zero; and ten times the work',
  run: async (setting) => ({
    lines: [...(await byTableSize(setting)), ...(await byWork(setting))],
    notes: [
      'held: rows of sec_filings, and as many of sec_filing_ciks, the only list of these filings',
      `loaded each time: ${LOADED_ANSWERS} answers of 99 filings: new keys spread over the existing ones, then the same with one column changed, then the same unchanged`,
      'tables and indexes are read once before each round, so that pages that only a slow disk had do not count',
      'bare: as many other new filings, with keys spread in the same way, by unnest upserts; first in every other round, because the first load brings pages into the buffers',
      'log: the write-ahead log of the new filings',
    ],
  }),
};

interface Level {
  readonly database: Database;
  /** Copies of the sample that it holds. */
  readonly copies: number;
}

async function byTableSize(setting: Setting): Promise<Line[]> {
  const postgres = await setting.postgres();
  const empty = await postgres.create();
  await (await warehouseAt(empty.url)).close();
  const sample = workloadOf('filings', SAMPLE_ANSWERS);
  const sizes = LEVELS.map((rows) => scaled(setting, rows, 0));
  const levels = new Map<string, Level>();
  for (const size of sizes) {
    setting.report(`filling a table with ${size} rows`);
    const database = await postgres.create(empty);
    levels.set(String(size), { database, copies: size === 0 ? 0 : await fill(database.url, sample, size) });
  }
  const contestants = Object.fromEntries(
    [...levels].map(([size, level]) => [
      size,
      async (round: number) => {
        const scratch = await postgres.create(empty);
        const database = level.copies > 0 ? level.database : await postgres.create(empty);
        const times = await timesIn({ ...level, database }, round, scratch);
        if (database !== level.database) await database.drop();
        await scratch.drop();
        return times;
      },
    ]),
  );
  const times = await alternate(setting.runs, contestants);
  for (const { database } of levels.values()) await database.drop();
  await empty.drop();
  const atZero = times[String(sizes[0])] ?? [];
  return FIGURES.flatMap(({ of, what, unit, ...target }) =>
    sizes.map((size) => {
      const figure = figureOf((times[String(size)] ?? []).map((it) => it[of]));
      const ratio = { of: 'of that at zero', value: figure.median / figureOf(atZero.map((it) => it[of])).median };
      const held = `${what}, ${size.toLocaleString('en-US')} held`;
      return lineOf(held, unit, figure, size === 0 ? {} : { ratio, ...target });
    }),
  );
}

/**
 * Microseconds a filing for new, changed and unchanged filings and for bare upserts, and kilobytes of log. `scratch` is an
 * empty database in which the rows of the upserts are prepared. The upserts come first in every other round, because the
 * first load brings pages into the buffers.
 */
async function timesIn({ database, copies }: Level, round: number, scratch: Database) {
  const workload = workloadOf('filings', LOADED_ANSWERS);
  // A prime multiplier spreads the items over all copies.
  const prefixOf = (item: number): string => `${prefixOfCopy((item * 7_919) % Math.max(1, copies))}-${round}`;
  const first = filingBatches(workload, prefixOf);
  const changed = filingBatches(workload, prefixOf, ' again');
  const filings = first.reduce((sum, { received }) => sum + received, 0);
  const loaded = async (url: string, batches: typeof first, step: number): Promise<number> => {
    const warehouse = await warehouseAt(url);
    const startedMs = performance.now();
    await loadAll(warehouse, batches, ROUND * (3 * round + step + 1));
    const tookMs = performance.now() - startedMs;
    await warehouse.close();
    return (tookMs * 1000) / filings;
  };
  const others = filingBatches(workload, (item) => `${prefixOf(item)}-bare`);
  await loaded(scratch.url, others, 0);
  const rows = await rowsOf(scratch.url);
  const bareOf = async (): Promise<number> => ((await byUpsert(database.url, rows)) * 1000) / filings;
  const logAt = async (): Promise<number> => Number(await valueOf(database.url, LOG_BYTES));
  await readTables(database.url);
  const isBareFirst = copies > 0 && round % 2 === 1;
  const bare = isBareFirst ? await bareOf() : undefined;
  const before = await logAt();
  const added = await loaded(database.url, first, 0);
  const log = (await logAt()) - before;
  return {
    new: added,
    changed: await loaded(database.url, changed, 1),
    unchanged: await loaded(database.url, changed, 2),
    bare: bare ?? (await bareOf()),
    log: log / 1024 / filings,
  };
}

/** Brings tables and indexes into the memory of the operating system. */
async function readTables(url: string): Promise<void> {
  await execute(url, 'create extension if not exists pg_prewarm');
  await execute(url, READ_TABLES);
}

async function byWork(setting: Setting): Promise<Line[]> {
  const few = scaled(setting, ANSWERS, 2);
  const postgres = await setting.postgres();
  const contestants = [few, few * TEN].map(async (answers) => {
    const workload = workloadOf('filings', answers);
    const service = await startService({ workload: 'filings', answers });
    const run = async (round: number) => {
      const database = await postgres.create();
      const options = { workload, serviceUrl: service.url, warehouseUrl: database.url };
      const ran = await (await sluiceFor(join(setting.folder, `${answers}-${round}`), options)).run(SYNC);
      await database.drop();
      return ran;
    };
    return { rows: rowsIn(workload), service, run };
  });
  const [one, ten] = await Promise.all(contestants);
  if (!one || !ten) throw new Error('two contestants are expected');
  setting.report(`ten times the work: ${one.rows} rows and ${ten.rows}`);
  const ran = await alternate(setting.runs, { one: one.run, ten: ten.run });
  await Promise.all([one.service.stop(), ten.service.stop()]);
  const wallMs = (of: typeof ran.one) => figureOf(of.map((it) => it.wallMs));
  const peakMb = (of: typeof ran.one) => figureOf(of.map((it) => it.peakMb));
  return [
    lineOf(`sync of ${one.rows} rows`, 'ms', wallMs(ran.one)),
    lineOf(`sync of ${ten.rows} rows`, 'ms', wallMs(ran.ten), {
      ratio: { of: 'times a tenth of it', value: wallMs(ran.ten).median / wallMs(ran.one).median },
      target: { of: 'ratio', at: 'most', bound: 10.5 },
    }),
    lineOf(`peak memory, ${one.rows} rows`, 'MB', peakMb(ran.one)),
    lineOf(`peak memory, ${ten.rows} rows`, 'MB', peakMb(ran.ten), {
      ratio: { of: 'of that at a tenth', value: peakMb(ran.ten).median / peakMb(ran.one).median },
    }),
  ];
}
