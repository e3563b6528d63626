/** Compares the live schema with the declared one in both directions. */
import { type Catalog, readCatalog } from './live-schema.ts';
import { readCommentDrift } from './comments.ts';
import { listKeyDrift } from './list-keys.ts';
import type { Warehouse } from '../connect/connect.ts';
import type { DdlTable } from '../schema/ddl.ts';
import type { SchemaFinding } from './finding.ts';
import { operationsTables } from '../schema/operations.ts';
import { shapeOf, type TableShape, type ViewShape, printedType } from './table-shape.ts';
import { tables } from '../schema/tables.ts';
import { views } from '../schema/views/views.ts';
import type { View } from '../schema/views/view.ts';

/** Every difference between the live schema and the declared one; empty if they are equal. */
export async function schemaDrift(warehouse: Pick<Warehouse, 'db' | 'schema' | 'ops'>): Promise<SchemaFinding[]> {
  const live = await readCatalog(warehouse);
  return [
    ...areaDrift(warehouse.schema, tables, views, live.analyst),
    ...areaDrift(warehouse.ops, operationsTables, [], live.operations),
    ...(await readCommentDrift(warehouse)),
    ...(await listKeyDrift(warehouse.db, warehouse)),
  ];
}

function areaDrift(
  schema: string,
  declared: readonly DdlTable[],
  declaredViews: readonly View[],
  live: Catalog,
): SchemaFinding[] {
  const wanted = new Map(declared.map((it) => [it.name, shapeOf(it)]));
  const wantedViews = new Map(declaredViews.map((it) => [it.name, viewShape(it)]));
  return [
    ...compared([...wanted.values()], live.tables, 'table').flatMap(({ name, want, have, ...it }) =>
      want && have ? tableDrift(schema, want, have) : [{ schema, relation: name, ...it }],
    ),
    ...compared([...wantedViews.values()], live.views, 'view').flatMap(({ name, want, have, ...it }) =>
      want && have
        ? partsDrift(schema, name, 'column', want.columns, have.columns)
        : [{ schema, relation: name, ...it }],
    ),
  ];
}

const viewShape = ({ name, columns }: View): ViewShape => ({
  name,
  columns: columns.map((it) => ({ name: it.name, type: printedType(it.type) })),
});

/** The differences between two shapes of one table. */
export const tableDrift = (schema: string, want: TableShape, have: TableShape): SchemaFinding[] => [
  ...partsDrift(schema, want.name, 'column', want.columns, have.columns),
  ...partsDrift(schema, want.name, 'primary key', want.key ? [want.key] : [], have.key ? [have.key] : []),
  ...partsDrift(schema, want.name, 'unique key', want.uniques, have.uniques),
  ...partsDrift(schema, want.name, 'foreign key', want.foreignKeys, have.foreignKeys),
  ...partsDrift(schema, want.name, 'index', want.indexes, have.indexes),
];

interface Named {
  readonly name: string;
}

function partsDrift(
  schema: string,
  relation: string,
  what: string,
  want: readonly Named[],
  have: readonly Named[],
): SchemaFinding[] {
  return compared(want, have, what).flatMap(({ name, want: declared, have: live, kind, message }): SchemaFinding[] => {
    if (!declared || !live) return [{ schema, relation, part: name, kind, message }];
    const found = differences(declared, live);
    return found === ''
      ? []
      : [{ schema, relation, part: name, kind: 'different', message: `${what} ${name}: ${found}` }];
  });
}

/** Pairs of the same name, declared ones first. */
function compared<W extends Named, H extends Named>(want: readonly W[], have: readonly H[], what: string) {
  const wanted = new Map(want.map((it) => [it.name, it]));
  const live = new Map(have.map((it) => [it.name, it]));
  return [...new Set([...wanted.keys(), ...live.keys()])].map((name) => ({
    name,
    want: wanted.get(name),
    have: live.get(name),
    kind: wanted.has(name) ? ('missing' as const) : ('unknown' as const),
    message: wanted.has(name)
      ? `${what} ${name} is declared and does not exist`
      : `${what} ${name} exists and is not declared`,
  }));
}

/** Each property in which the two differ, such as `type is text, declared bigint`. */
function differences(want: object, have: object): string {
  return Object.entries(want)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify((have as Record<string, unknown>)[name]))
    .map(([name, value]) => `${name} is ${shown((have as Record<string, unknown>)[name])}, declared ${shown(value)}`)
    .join('; ');
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : 'none';
}
