/** The statistics of the planner after loads of different sizes. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openStatistics } from '../../src/flow/run/analyze-tables.ts';
import { removeDeletedValues, outdatedTables } from '../../src/warehouse/connect/analyze.ts';
import type { Notice } from '../../src/ledger/summary.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { eachWarehouse, postgresWarehouses, SCHEMA } from '../support/warehouse.ts';

const receipt = (rows: number) => ({
  received: 1,
  loaded: 1,
  unchanged: 0,
  superseded: 0,
  changed: 0,
  quarantined: 0,
  written: { sec_filings: rows },
});
const { signal } = new AbortController();

const insertFilings = (warehouse: Warehouse, from: number, to: number) =>
  sql`insert into ${sql.id(SCHEMA, 'sec_filings')} (accession_number, file_name, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
    select n::text, 'f', now(), now(), 1, 1, '', '' from generate_series(${from}::int, ${to}::int) n`.execute(
    warehouse.db,
  );

const knownRows = async (warehouse: Warehouse): Promise<number | undefined> => {
  const { rows } = await sql<{ n: number }>`
    select reltuples::int as n from pg_class where oid = ${`${SCHEMA}.sec_filings`}::regclass`.execute(warehouse.db);
  return rows[0]?.n;
};

/** Opens a warehouse whose server leaves the filings alone. */
async function openUnattended(open: () => Promise<Warehouse>): Promise<Warehouse> {
  const warehouse = await open();
  if (warehouse.kind !== 'embedded')
    await sql`alter table ${sql.id(SCHEMA, 'sec_filings')} set (autovacuum_enabled = off)`.execute(warehouse.db);
  return warehouse;
}

/** Loads these numbers of rows, as the receipts of one run report them. */
async function load(warehouse: Warehouse, ...receipts: readonly number[]): Promise<void> {
  const notices: Notice[] = [];
  const statistics = openStatistics(warehouse, (notice) => notices.push(notice));
  for (const rows of receipts) statistics.add(receipt(rows));
  await statistics.finish(signal);
  expect(notices).toEqual([]);
}

eachWarehouse('the planner', (open) => {
  it('knows a table after a large load', async () => {
    const warehouse = await openUnattended(open);
    await insertFilings(warehouse, 1, 500);
    await load(warehouse, 10_000);
    expect(await knownRows(warehouse)).toBe(500);
  });

  it('knows a table after many small answers of one load', async () => {
    const warehouse = await openUnattended(open);
    await insertFilings(warehouse, 1, 500);
    await load(warehouse, 4_000, 4_000, 4_000);
    expect(await knownRows(warehouse)).toBe(500);
  });

  it('does not know a table after a small load', async () => {
    const warehouse = await openUnattended(open);
    await insertFilings(warehouse, 1, 500);
    await load(warehouse, 9_999);
    expect(await knownRows(warehouse)).toBeLessThan(500);
  });
});

describe('values of deleted rows', () => {
  const open = postgresWarehouses();
  const frequentNames = ({ db }: Warehouse) =>
    sql`select most_common_vals from pg_stats where tablename = 'sec_filings' and attname = 'file_name'
      and most_common_vals is not null`.execute(db);
  const deleteFilings = ({ db }: Warehouse) => sql`delete from ${sql.id(SCHEMA, 'sec_filings')}`.execute(db);

  it('leave the statistics of a table that has no rows left', async () => {
    const warehouse = await open();
    await insertFilings(warehouse, 1, 500);
    await sql`analyze ${sql.id(SCHEMA, 'sec_filings')}`.execute(warehouse.db);
    expect((await frequentNames(warehouse)).rows).toHaveLength(1);
    await deleteFilings(warehouse);

    await removeDeletedValues(warehouse);

    expect((await frequentNames(warehouse)).rows).toEqual([]);
  });

  it('leave the statistics that another session was writing', async () => {
    const warehouse = await openUnattended(open);
    await insertFilings(warehouse, 1, 500);
    const { cleaning } = await warehouse.db.transaction().execute(async (tx) => {
      await sql`analyze ${sql.id(SCHEMA, 'sec_filings')}`.execute(tx);
      await deleteFilings(warehouse);
      const started = { cleaning: removeDeletedValues(warehouse), hasEnded: false };
      void started.cleaning.then(() => (started.hasEnded = true));
      while (!started.hasEnded) {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(tx);
        if (rows.length > 0) break;
      }
      return started;
    });
    await cleaning;
    expect((await frequentNames(warehouse)).rows).toEqual([]);
  });
});

describe('the planner of a server', () => {
  const open = postgresWarehouses();
  const filings = { area: 'analyst', table: 'sec_filings' } as const;
  const answers = { area: 'operations', table: 'answers', rows: 20_000 } as const;

  it('is left to autovacuum, except for tables that are excluded from it', async () => {
    const warehouse = await openUnattended(open);
    expect(await outdatedTables(warehouse, [{ ...filings, rows: 20_000 }, answers])).toEqual([
      { ...filings, rows: 20_000 },
    ]);
  });

  it('does not read a table again that grew by less than a tenth', async () => {
    const warehouse = await openUnattended(open);
    await insertFilings(warehouse, 1, 500);
    await load(warehouse, 10_000);
    expect(await outdatedTables(warehouse, [{ ...filings, rows: 50 }])).toEqual([]);
    expect(await outdatedTables(warehouse, [{ ...filings, rows: 51 }])).toHaveLength(1);
  });
});

describe('a table that can’t be analyzed', () => {
  it('is reported and ends nothing', async () => {
    const notices: Notice[] = [];
    const statistics = openStatistics({} as never, (notice) => notices.push(notice));
    statistics.add(receipt(20_000));
    await statistics.finish(signal);
    expect(notices).toMatchObject([{ level: 'warn' }]);
  });
});
