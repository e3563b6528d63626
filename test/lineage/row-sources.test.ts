/** Where the declarations say that rows and values come from, against what the loader writes for answers with every field. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { rowSourcesOf } from '../../src/lineage/row-sources.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { endpoints, questionOf } from '../catalog/fixture.ts';
import { loaderOf } from '../support/loading.ts';
import { type Item, sampleItem } from '../support/sample.ts';
import { anyWarehouse, SCHEMA } from '../support/warehouse.ts';
import { valuesAt } from './values-at.ts';

/**
 * Items with every field, each in two versions. They differ in values and in the length of lists, so that changes are
 * logged, also of the entities inside the items if these are the same ones.
 */
const itemsOf = ({ returns }: Endpoint): Item[] =>
  [false, true].flatMap((acquainted) =>
    [0, 1].map((version) =>
      sampleItem(returns, { entity: 1, version, size: 3 - version, strangers: true, acquainted }),
    ),
  );

/** True for a path into an entity inside one of its kind inside another, which samples do not have. */
const isDeeper = (path: string): boolean => /\.(\w+)\.\1\./.test(path);

/** By table with rows, the columns that have a value in one of them. */
async function filledColumns({ db }: Warehouse): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, ReadonlySet<string>>();
  for (const { name, columns } of tables) {
    const counts = columns.map((it) => sql`count(${sql.ref(it.name)})::int as ${sql.ref(it.name)}`);
    const { rows } = await sql<Record<string, number>>`
      select count(*)::int as "the rows", ${sql.join(counts)} from ${sql.table(`${SCHEMA}.${name}`)}`.execute(db);
    const [{ 'the rows': count = 0, ...filled } = {}] = rows;
    if (count > 0) found.set(name, new Set(Object.keys(filled).filter((column) => (filled[column] ?? 0) > 0)));
  }
  return found;
}

/** By table, the columns of its sources, without those of some origins. */
function namedColumns(endpoint: Endpoint, ...without: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>();
  for (const { table, columns } of rowSourcesOf(endpoint)) {
    const known = named.get(table) ?? new Set();
    named.set(table, known);
    for (const { column, from } of columns) if (!without.includes(from)) known.add(column);
  }
  return named;
}

const listed = (columns: ReadonlyMap<string, ReadonlySet<string>>): string[] =>
  [...columns].flatMap(([table, names]) => [...names].map((name) => `${table}.${name}`)).toSorted();

anyWarehouse('the sources of rows', (open) => {
  it.each(endpoints)('of %s are the tables and columns that its answers fill', async (name, endpoint) => {
    const warehouse = await open();
    const loader = loaderOf(warehouse);
    const { request } = questionOf(endpoint, 1);
    for (const item of itemsOf(endpoint)) await loader.take(name, request, [item]);
    const filled = await filledColumns(warehouse);
    expect([...filled.keys()].toSorted()).toEqual([...namedColumns(endpoint).keys()].toSorted());
    const named = listed(namedColumns(endpoint));
    expect(listed(filled).filter((it) => !named.includes(it))).toEqual([]);
    // A computed value can be null: the first daily numbers have no earlier ones.
    expect(listed(namedColumns(endpoint, 'computed')).filter((it) => !listed(filled).includes(it))).toEqual([]);
  });

  it.each(endpoints)('of %s have the paths of the values in the answer', async (name, endpoint) => {
    const warehouse = await open();
    const { request } = questionOf(endpoint, 1);
    const [item] = itemsOf(endpoint);
    await loaderOf(warehouse).take(name, request, [item]);
    const sources = rowSourcesOf(endpoint).flatMap(({ table, columns }) =>
      columns.flatMap(({ column, from, path }) => {
        const type = tables.find((it) => it.name === table)?.columns.find((it) => it.name === column)?.type;
        return from === 'answer' && path !== null && type === 'text' ? [{ table, column, path }] : [];
      }),
    );
    expect(sources.length).toBeGreaterThan(0);
    const stored = new Map<string, Set<unknown>>();
    for (const { table, column } of sources) {
      const { rows } = await sql<{ value: string | null }>`
        select ${sql.ref(column)} as value from ${sql.table(`${SCHEMA}.${table}`)}`.execute(warehouse.db);
      stored.set(`${table}.${column}`, new Set(rows.flatMap(({ value }) => value ?? [])));
    }
    for (const { table, column, path } of sources) {
      const values = valuesAt([item], path);
      if (!isDeeper(path)) expect(values, path).not.toEqual([]);
      // The type of a URN can decide between tables, so one of the tables with this path has the value.
      const places = sources.filter((it) => it.path === path).map((it) => stored.get(`${it.table}.${it.column}`));
      expect(
        values.filter((value) => !places.some((it) => it?.has(value) === true)),
        `${path} is in ${table}.${column}`,
      ).toEqual([]);
      // And no value of the column is from elsewhere.
      const known = sources.filter((it) => it.table === table && it.column === column);
      const all = new Set(known.flatMap((it) => valuesAt([item], it.path)));
      const others = [...(stored.get(`${table}.${column}`) ?? [])].filter((value) => !all.has(value));
      expect({ table, column, others }).toEqual({ table, column, others: [] });
    }
  });
});

it('every table is fed, and every column except those that no answer can fill', () => {
  const fed = new Set(endpoints.flatMap(([, endpoint]) => listed(namedColumns(endpoint))));
  const unfed = tables
    .flatMap(({ name, columns }) => columns.map((it) => `${name}.${it.name}`))
    .filter((it) => !fed.has(it));
  // Only other rows contain these entities, and those rows keep the fields without a column.
  expect(unfed).toEqual(['pronet_industries.extra', 'pronet_companies.extra']);
});
