/** Rows of lists: no check for each row on a server that can do without, and no row without its owner. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { schemaDrift } from '../../src/warehouse/migrate/drift.ts';
import { migrate } from '../../src/warehouse/migrate/migrate.ts';
import { rootTables } from '../../src/warehouse/schema/tables.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const FILING = `insert into sluice.sec_filings (accession_number, file_name, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
  values ($1, $2, now(), now(), 1, 1, 'x', 'x')`;

const run = (warehouse: Warehouse, text: string, ...values: readonly string[]) =>
  sql
    .raw(values.reduce((all, value, index) => all.replaceAll(`$${index + 1}`, `'${value}'`), text))
    .execute(warehouse.db);

/** Adds a filing with two names and one item. */
async function addFiling(warehouse: Warehouse, accession: string, file: string): Promise<void> {
  await run(warehouse, FILING, accession, file);
  const list = (table: string, column: string, position: string, value: string) =>
    run(
      warehouse,
      `insert into sluice.${table} (filing_accession_number, filing_file_name, position, ${column}) values ($1, $2, ${position}, $3)`,
      accession,
      file,
      value,
    );
  await list('sec_filing_display_names', 'display_name', '0', 'One');
  await list('sec_filing_display_names', 'display_name', '1', 'Two');
  await list('sec_filing_items', 'item', '0', '2.02');
}

async function left(warehouse: Warehouse): Promise<readonly string[]> {
  const { rows } = await sql<{ row: string }>`
    select 'name ' || filing_accession_number || ' ' || filing_file_name as row from sluice.sec_filing_display_names
    union all select 'item ' || filing_accession_number || ' ' || filing_file_name from sluice.sec_filing_items
    order by 1`.execute(warehouse.db);
  return rows.map(({ row }) => row);
}

const enforced = async ({ db }: Warehouse): Promise<readonly string[]> => {
  const { rows } = await sql<{ name: string }>`
    select c.relname || ' to ' || r.relname as name from pg_constraint k
    join pg_class c on c.oid = k.conrelid join pg_class r on r.oid = k.confrelid
    where k.contype = 'f' and k.conenforced and c.relnamespace = 'sluice'::regnamespace`.execute(db);
  return rows.map(({ name }) => name);
};

eachWarehouse('rows of lists', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
  });

  describe('their keys', () => {
    it('are declared, and not enforced from Postgres 18 on; all other keys are enforced', async () => {
      const keys = await enforced(warehouse);
      const lists = rootTables.flatMap(({ name, children }) => children.map((child) => `${child.name} to ${name}`));
      expect(lists.length).toBeGreaterThan(25);
      expect(keys.filter((key) => lists.includes(key))).toEqual([]);
      expect(keys).toContain('pronet_group_members to pronet_users');
      expect(keys).toContain('fact_pronet_post_daily to pronet_posts');
      const { rows } = await sql`
        select from information_schema.referential_constraints
        where constraint_schema = 'sluice' and delete_rule = 'CASCADE'`.execute(warehouse.db);
      expect(rows.length).toBeGreaterThan(lists.length);
    });

    it('are released again after another version enforced them', async () => {
      await sql
        .raw(
          `alter table sluice.sec_filing_items alter constraint sec_filing_items_filing_accession_number_filing_file_name_fkey enforced`,
        )
        .execute(warehouse.db);
      expect(await enforced(warehouse)).toContain('sec_filing_items to sec_filings');
      await migrate(warehouse, 'up');
      expect(await enforced(warehouse)).not.toContain('sec_filing_items to sec_filings');
      expect(await schemaDrift(warehouse)).toEqual([]);
    });
  });

  describe('the rows', () => {
    it('go with their owners, and those of other owners stay', async () => {
      for (const [accession, file] of [
        ['A', '1'],
        ['A', '2'],
        ['B', '1'],
        ["C'\\", '"'],
      ] as const)
        await addFiling(warehouse, accession.replaceAll("'", "''"), file);
      await run(warehouse, `delete from sluice.sec_filings where accession_number = 'A' and file_name = '1'`);
      expect(await left(warehouse)).toEqual([
        'item A 2',
        'item B 1',
        `item C'\\ "`,
        ...['A 2', 'A 2', 'B 1', 'B 1', `C'\\ "`, `C'\\ "`].map((it) => `name ${it}`),
      ]);
      await run(warehouse, `delete from sluice.sec_filings where accession_number <> 'B'`);
      expect(await left(warehouse)).toEqual(['item B 1', 'name B 1', 'name B 1']);
      await run(warehouse, 'truncate sluice.sec_filings cascade');
      expect(await left(warehouse)).toEqual([]);
    });

    it('can be truncated together with their owners', async () => {
      await addFiling(warehouse, 'F', '1');
      const filings = rootTables.find(({ name }) => name === 'sec_filings');
      const dependent = [...(filings?.children ?? []), ...(filings?.changes ? [filings.changes] : [])];
      const names = ['sec_filings', ...dependent.map(({ name }) => name)].map((name) => `sluice.${name}`);
      // Vacuum makes Postgres forget that a table once had triggers.
      await run(warehouse, `vacuum ${names.join(', ')}`);
      await run(warehouse, `truncate ${names.join(', ')}`);
      expect(await left(warehouse)).toEqual([]);
    });

    it('go with their owners for a role that may delete owners only', async () => {
      await addFiling(warehouse, 'D', '1');
      const role = `cleaner_${randomBytes(4).toString('hex')}`;
      await run(warehouse, `create role ${role} nologin`);
      onTestFinished(async () => {
        await run(warehouse, `drop owned by ${role}`);
        await run(warehouse, `drop role ${role}`);
      });
      await run(warehouse, `grant usage on schema sluice to ${role}`);
      await run(warehouse, `grant select, delete on sluice.sec_filings to ${role}`);
      await warehouse.db.transaction().execute(async (trx) => {
        await sql.raw(`set local role ${role}`).execute(trx);
        await sql`delete from sluice.sec_filings`.execute(trx);
      });
      expect(await left(warehouse)).toEqual([]);
    });

    it('without an owner, and a missing trigger, are found by the check', async () => {
      await addFiling(warehouse, 'E', '1');
      onTestFinished(async () => {
        await run(warehouse, 'truncate sluice.sec_filings cascade');
        await run(warehouse, 'alter table sluice.sec_filings enable trigger user');
      });
      await run(warehouse, 'alter table sluice.sec_filings disable trigger user');
      await run(warehouse, `delete from sluice.sec_filings`);
      const findings = await schemaDrift(warehouse);
      expect(
        findings.filter(({ kind }) => kind === 'different').map(({ relation, message }) => [relation, message]),
      ).toEqual([
        ['sec_filing_display_names', expect.stringMatching(/^foreign key .*: rows without a row in sec_filings: 2$/)],
        ['sec_filing_items', expect.stringMatching(/^foreign key .*: rows without a row in sec_filings: 1$/)],
      ]);
      expect(findings.filter(({ kind }) => kind === 'missing')).toHaveLength(7);
    });
  });
});
