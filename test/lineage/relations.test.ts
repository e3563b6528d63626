/** What the lineage says about views, against the dependencies that the database itself records. */
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { baseTablesOf, readsOf, readsOfQuery, relationNamed, viewsReading } from '../../src/lineage/relations.ts';
import { dictionary } from '../../src/warehouse/schema/dictionary.ts';
import { views } from '../../src/warehouse/schema/views/views.ts';
import { blocksOf, pageOf } from '../docs/shell-blocks.ts';
import { anyWarehouse } from '../support/warehouse.ts';

anyWarehouse('the lineage of views', (open) => {
  /** By view, the tables and views that its rule depends on. */
  let recorded: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const { db } = await open();
    const { rows } = await sql<{ view: string; reads: string[] }>`
      select v.relname::text as view, array_agg(distinct t.relname::text order by t.relname::text) as reads
      from pg_class v
      join pg_rewrite r on r.ev_class = v.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
      join pg_class t on t.oid = d.refobjid and t.oid <> v.oid
      where v.relnamespace = 'sluice'::regnamespace and v.relkind = 'v'
      group by v.relname`.execute(db);
    recorded = new Map(rows.map(({ view, reads }) => [view, reads]));
  });
  const recordedReads = (relation: string): readonly string[] => recorded.get(relation) ?? [];
  const recordedBase = (relation: string): string[] =>
    recordedReads(relation).length === 0 ? [relation] : recordedReads(relation).flatMap(recordedBase);

  it('has the tables and views that each view reads', () => {
    expect(recorded.size).toBeGreaterThan(50);
    for (const { name } of views)
      expect([name, readsOf(name).toSorted()]).toEqual([name, recordedReads(name).toSorted()]);
  });

  it('has the tables below each view', () => {
    for (const { name } of views)
      expect([name, baseTablesOf(name).toSorted()]).toEqual([name, [...new Set(recordedBase(name))].toSorted()]);
  });

  it('has the views that read each table and view, itself or through others', () => {
    for (const { table } of dictionary()) {
      const direct = [...recorded.keys()].filter((view) => recordedReads(view).includes(table));
      const all = new Set(direct);
      for (const view of all)
        for (const other of recorded.keys()) if (recordedReads(other).includes(view)) all.add(other);
      const found = viewsReading([table]);
      expect([table, found.map(({ view }) => view).toSorted()]).toEqual([table, [...all].toSorted()]);
      expect(
        found
          .filter(({ isDirect }) => isDirect)
          .map(({ view }) => view)
          .toSorted(),
      ).toEqual(direct.toSorted());
    }
  });
});

it('no column has the name of a table or view for analysts, so queries are read without doubt', () => {
  const entries = dictionary();
  const columns = new Set(entries.flatMap((it) => it.columns.map(({ name }) => name)));
  expect(entries.filter(({ area, table }) => area === 'analyst' && columns.has(table))).toEqual([]);
});

it('each query of the documentation reads tables and views that are declared', async () => {
  const queries = blocksOf(await pageOf('docs/queries.md')).filter(({ language }) => language === 'sql');
  expect(queries.length).toBeGreaterThan(10);
  for (const { body } of queries) {
    const reads = readsOfQuery(body);
    expect(reads, body).not.toEqual([]);
    expect(reads.filter((it) => !relationNamed(it))).toEqual([]);
  }
});
