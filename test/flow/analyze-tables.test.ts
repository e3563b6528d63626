import { describe, expect, it } from 'vitest';
import { openRowCounter, analyzeAfterLoad } from '../../src/flow/run/analyze-tables.ts';
import type { Notice } from '../../src/ledger/summary.ts';
import { SCHEMA, eachWarehouse } from '../support/warehouse.ts';
import { sql } from 'kysely';

const receipt = (rows: number) => ({
  received: 1,
  loaded: 1,
  unchanged: 0,
  superseded: 0,
  changed: 0,
  quarantined: 0,
  written: { sec_filings: rows },
});

eachWarehouse('after a load', (open) => {
  const statistics = async (rows: number) => {
    const warehouse = await open();
    const notices: Notice[] = [];
    const tally = openRowCounter();
    tally.add(receipt(rows));
    await sql`insert into ${sql.id(SCHEMA, 'sec_filings')} (accession_number, file_name, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      select n::text, 'f', now(), now(), 1, 1, '', '' from generate_series(1, 500) n`.execute(warehouse.db);
    await analyzeAfterLoad(warehouse, tally, (notice) => notices.push(notice));
    expect(notices).toEqual([]);
    const { rows: found } = await sql<{ n: number }>`
      select reltuples::int as n from pg_class where oid = ${`${SCHEMA}.sec_filings`}::regclass`.execute(warehouse.db);
    return found[0]?.n;
  };

  it('that is large, the planner knows the table', async () => {
    expect(await statistics(10_000)).toBe(500);
  });

  it('that is small, nothing is done', async () => {
    expect(await statistics(9_999)).toBeLessThan(500);
  });
});

describe('a table that can’t be analyzed', () => {
  it('is told and ends nothing', async () => {
    const notices: Notice[] = [];
    const tally = openRowCounter();
    tally.add(receipt(20_000));
    await analyzeAfterLoad({} as never, tally, (notice) => notices.push(notice));
    expect(notices).toMatchObject([{ level: 'warn' }]);
  });
});
