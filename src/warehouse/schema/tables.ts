/** Folds the declared resources and bridges into the tables that hold them. */
import type { SqlType, Column, Table, RootTable, ChildTable } from './table-types.ts';
import { catalog } from '../../service/catalog.ts';
import type { Bridge } from '../../service/endpoint.ts';
import type { Field, Fields, Kind, ListField, Resource } from '../../service/model.ts';
import { filterIndex, sharedTextIndex } from './filter-index.ts';
import { changeTable, dailyTable, type Declared } from './history-tables.ts';
import { type ForeignKey, referencesOf, referenceColumnNames, observationKeys } from './references.ts';
import { resourcesOf } from './resources.ts';

export interface BridgeTable extends Table {
  readonly kind: 'bridge';
  readonly bridge: Bridge;
  /** Columns that name the question. */
  readonly questionKey: readonly string[];
}

const SQL: Record<Exclude<Kind, 'epoch'>, SqlType> = {
  text: 'text',
  integer: 'bigint',
  number: 'double precision',
  flag: 'boolean',
  moment: 'timestamptz',
  day: 'date',
  uuid: 'uuid',
  json: 'jsonb',
};

const column = (name: string, type: SqlType, about: string, more: Partial<Column> = {}): Column => ({
  name,
  type,
  about,
  nullable: true,
  volatile: false,
  ...more,
});

const EXTRA = column(
  'extra',
  'jsonb',
  'What the service sent and no column holds, in the shape it was sent; null when nothing.',
);
const POSITION = column('position', 'bigint', 'Place in the list, from 0.', { nullable: false });
const ITEM = column('item', 'jsonb', 'The element as sent; the contract does not show its shape.');

const machinery = (shared: boolean): Column[] => [
  ...(shared
    ? [column('_detail', 'text', 'The most that was ever seen of it: reference, preview or full.', { nullable: false })]
    : []),
  column('_first_seen_at', 'timestamptz', 'Receipt of the first answer that held it.', { nullable: false }),
  column('_changed_at', 'timestamptz', 'Receipt of the answer that last changed it.', { nullable: false }),
  column('_run_id', 'bigint', 'The run that last wrote the row.', { nullable: false }),
  ANSWER,
  column('_content_hash', 'text', 'Digest of the content; moves only when the content does.', { nullable: false }),
  column('_part_hashes', 'text', 'Digests of the row’s parts, by which a later load tells what did not change.', {
    nullable: false,
  }),
];
const ANSWER = column('_answer_id', 'bigint', 'The paid answer that produced the row, in the operations schema.', {
  nullable: false,
});

/** The columns that one scalar takes. */
function scalarColumns(name: string, kind: Kind, about: string, volatile = false): Column[] {
  if (kind !== 'epoch') return [column(name, SQL[kind], about, { volatile })];
  return [
    column(name, 'timestamptz', about, { volatile }),
    column(`${name}_epoch`, 'bigint', `${about} As sent, in seconds, milliseconds or microseconds since 1970.`, {
      volatile,
    }),
  ];
}

function columnsOf(fields: Fields, prefix: string): Column[] {
  return Object.entries(fields).flatMap(([name, field]) => columnsOfField(field, prefix + name));
}

function columnsOfField(field: Field, name: string): Column[] {
  switch (field.shape) {
    case 'scalar':
      return scalarColumns(name, field.kind, field.about, field.volatile);
    case 'given':
      return scalarColumns(name, field.kind, field.about);
    case 'object':
      return columnsOf(field.fields, `${name}_`);
    case 'list':
    case 'nested-list':
      return [
        column(
          countColumn(name),
          'bigint',
          `Number of elements: ${lowerFirst(field.about)} Null is not told, 0 is none.`,
          {
            volatile: field.volatile,
          },
        ),
      ];
    case 'nested': {
      const to = field.resource();
      return to.key.map((key) => column(`${name}_${key}`, 'text', `${field.about} Its ${key}.`));
    }
  }
}

/** The column that tells how many elements a list had. */
export const countColumn = (listName: string): string => `${listName}_count`;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
const singular = (table: string): string => table.replace(/ies$/, 'y').replace(/s$/, '');

/** The name of the child table for the list at this path below a resource. */
export const childTableName = (resource: Resource, path: readonly string[], named: string | undefined): string =>
  [singular(resource.table), ...path.slice(0, -1), named ?? path.at(-1)].join('_');

function rootTable(resource: Resource): Declared {
  const declared = columnsOf(resource.fields, '').map((it) =>
    resource.key.includes(it.name) ? { ...it, nullable: false } : it,
  );
  const foreignKeys = referencesOf(resource.fields, '', resource);
  return {
    name: resource.table,
    kind: 'root',
    about: resource.about,
    resource,
    columns: [...declared, EXTRA, ...machinery(resource.shared)],
    key: resource.key,
    foreignKeys,
    indexes: [
      ...foreignKeys.map(({ columns }) => ({ columns, using: 'btree' as const })),
      ...(resource.filters ?? []).map((name) => filterIndex(name, declared, resource.fields)),
    ],
    children: listsOf(resource.fields, []).map(({ path, list }) => childTable(resource, path, list)),
  };
}

/** Every list below these fields, those inside objects too, in declared order. */
function listsOf(fields: Fields, path: readonly string[]): { path: readonly string[]; list: ListField }[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.shape === 'list') return [{ path: [...path, name], list: field }];
    return field.shape === 'object' ? listsOf(field.fields, [...path, name]) : [];
  });
}

/** The columns of one element, without the parent's key and the position. */
function elementColumns({ about, element }: ListField): Column[] {
  switch (element.of) {
    case 'scalar':
      return [column(element.column, 'text', `One of the ${lowerFirst(about)}`)];
    case 'json':
      return [ITEM];
    case 'object':
      return [
        ...columnsOf(element.fields, ''),
        ...Object.entries(element.derived ?? {}).flatMap(([name, it]) => scalarColumns(name, it.kind, it.about)),
        EXTRA,
      ];
  }
}

function childTable(resource: Resource, path: readonly string[], list: ListField): ChildTable {
  const { element } = list;
  const parentKey = referenceColumnNames(resource.noun, resource.key);
  const own = element.of === 'object' ? element.key : [];
  const columns = elementColumns(list).map((it) => (own.includes(it.name) ? { ...it, nullable: false } : it));
  const parent: ForeignKey = {
    columns: parentKey,
    table: resource.table,
    references: resource.key,
    onDelete: 'cascade',
  };
  const elsewhere =
    element.of === 'object'
      ? [...referencesOf(element.fields, '', undefined), ...observationKeys(element.observation, '')]
      : [];
  return {
    name: childTableName(resource, path, list.named),
    kind: 'child',
    about: `${list.about} One row an element.`,
    columns: [
      ...parentKey.map((name) => column(name, 'text', `Key of the ${resource.noun}.`, { nullable: false })),
      ...(own.length > 0 ? [] : [POSITION]),
      ...columns,
    ],
    key: [...parentKey, ...(own.length > 0 ? own : ['position'])],
    parentKey,
    count: countColumn(path.join('_')),
    volatile: list.volatile,
    foreignKeys: [
      parent,
      ...elsewhere.map(
        (it): ForeignKey => ({
          ...it,
          onDelete: it.columns.every((name) => own.includes(name)) ? 'cascade' : 'set null',
        }),
      ),
    ],
    // The parent's key leads the primary key, which serves as its index.
    indexes: [
      ...elsewhere.map(({ columns: names }) => ({ columns: names, using: 'btree' as const })),
      ...(element.of === 'scalar' && element.filtered ? [sharedTextIndex(element.column)] : []),
    ],
  };
}

function bridgeTable(bridge: Bridge): BridgeTable {
  const to = bridge.to();
  const reference = referenceColumnNames(bridge.prefix, to.key);
  const asked = Object.entries(bridge.questionColumns);
  return {
    name: bridge.table,
    kind: 'bridge',
    about: bridge.about,
    bridge,
    questionKey: asked.map(([name]) => name),
    columns: [
      ...asked.map(([name, { about }]) => column(name, 'text', about, { nullable: false })),
      ...reference.map((name, place) =>
        column(name, 'text', `The ${bridge.prefix} that was returned: its ${to.key[place]} in ${to.table}.`, {
          nullable: false,
        }),
      ),
      column('position', 'bigint', 'Place in the answer, from 0.'),
      ...Object.entries(bridge.more ?? {}).flatMap(([name, it]) => scalarColumns(name, it.kind, it.about)),
      ANSWER,
    ],
    key: [...asked.map(([name]) => name), ...reference],
    foreignKeys: [{ columns: reference, table: to.table, references: to.key, onDelete: 'cascade' }],
    indexes: [{ columns: reference, using: 'btree' }],
  };
}

/** Every root table; what others refer to comes first, so that rows written in this order satisfy the foreign keys. */
export const rootTables: readonly RootTable[] = resourcesOf(catalog).map((resource) => {
  const declared = rootTable(resource);
  return { ...declared, daily: dailyTable(declared), changes: changeTable(declared) };
});

export const bridgeTables: readonly BridgeTable[] = [
  ...new Map(catalog.flatMap(({ bridge }) => (bridge ? [[bridge.table, bridge] as const] : []))).values(),
].map(bridgeTable);

/** Every table for analysts, in an order in which they can be created. */
export const tables: readonly Table[] = [
  ...rootTables.flatMap((it) => [it, ...it.children]),
  ...bridgeTables,
  ...rootTables.flatMap(({ daily }) => daily ?? []),
  ...rootTables.flatMap(({ changes }) => changes ?? []),
];
