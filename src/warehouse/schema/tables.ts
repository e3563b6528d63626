/** Derives the analyst tables from the declared resources and bridges. */
import type { Column, Table, RootTable, ChildTable } from './table-types.ts';
import { catalog } from '../../service/catalog.ts';
import type { Bridge } from '../../service/endpoint.ts';
import type { Fields, ListField, PersonalData, Resource } from '../../service/model.ts';
import { column, columnsOf, countColumn, lowerFirst, personalOf, scalarColumns } from './columns.ts';
import { filterIndex, sharedTextIndex } from './filter-index.ts';
import { changeTable, dailyTable, type Declared, type DeclaredList, listChangeTable } from './history-tables.ts';
import { type ForeignKey, referencesOf, referenceColumnNames, observationKeys, singular } from './references.ts';
import { resourcesOf } from './resources.ts';

export interface BridgeTable extends Table {
  readonly kind: 'bridge';
  readonly bridge: Bridge;
  /** Columns that identify the request. */
  readonly questionKey: readonly string[];
}

const EXTRA = column(
  'extra',
  'jsonb',
  'Fields that the service sent and that have no column, as JSON in their original structure; null if there are none.',
);
const POSITION = column('position', 'bigint', 'Index in the list, from 0.', { nullable: false });
const ITEM = column('item', 'jsonb', 'Element as sent, as JSON; the contract does not define its structure.');

const metadataColumns = (shared: boolean): Column[] => [
  ...(shared
    ? [
        column('_detail', 'text', 'Highest detail of any observation so far: reference, preview or full.', {
          nullable: false,
        }),
      ]
    : []),
  column('_first_seen_at', 'timestamptz', 'Receipt of the first answer that contained it.', { nullable: false }),
  column('_changed_at', 'timestamptz', 'Receipt of the answer that last changed it.', { nullable: false }),
  column('_run_id', 'bigint', 'Run that last wrote the row.', { nullable: false }),
  ANSWER,
  column('_content_hash', 'text', 'Digest of the content; it changes only when the content changes.', {
    nullable: false,
  }),
  column('_part_hashes', 'text', 'Digests of parts of the row. A later load uses them to detect unchanged parts.', {
    nullable: false,
  }),
];
const ANSWER = column(
  '_answer_id',
  'bigint',
  'Id of the paid answer that produced the row, in the operations schema.',
  {
    nullable: false,
  },
);

/** The name of the child table for the list at this path below a resource. */
export const childTableName = (resource: Resource, path: readonly string[], named: string | undefined): string =>
  [singular(resource.table), ...path.slice(0, -1), named ?? path.at(-1)].join('_');

function rootTable(resource: Resource): Declared {
  const declared = columnsOf(resource.fields, '').map((it) =>
    resource.key.includes(it.name) ? { ...it, nullable: false } : it,
  );
  const foreignKeys = referencesOf(resource.fields, '', resource);
  const values = [...declared, EXTRA];
  return {
    name: resource.table,
    kind: 'root',
    about: resource.about,
    resource,
    columns: [...values, ...metadataColumns(resource.shared)],
    slots: new Map(values.map(({ name }, slot) => [name, slot])),
    key: resource.key,
    foreignKeys,
    indexes: [
      ...foreignKeys.map(({ columns }) => ({ columns, using: 'btree' as const })),
      ...(resource.filters ?? []).map((name) => filterIndex(name, declared, resource.fields)),
    ],
    children: listsOf(resource.fields, []).map(({ path, list }) => childTable(resource, path, list)),
  };
}

/** Every list in these fields, including those inside objects, in declared order. */
function listsOf(
  fields: Fields,
  path: readonly string[],
  inObject?: PersonalData,
): { path: readonly string[]; list: ListField }[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const personal = field.personal ?? inObject;
    if (field.shape === 'list') return [{ path: [...path, name], list: { ...field, personal } }];
    return field.shape === 'object' ? listsOf(field.fields, [...path, name], personal) : [];
  });
}

/** The columns of one element, without the parent's key and the position. */
function elementColumns({ about, element, personal }: ListField): Column[] {
  switch (element.of) {
    case 'scalar':
      return [column(element.column, 'text', `One of the ${lowerFirst(about)}`, { personal })];
    case 'json':
      return [{ ...ITEM, personal }];
    case 'object':
      return [
        ...columnsOf(element.fields, '', personal),
        ...Object.entries(element.derived ?? {}).flatMap(([name, it]) => scalarColumns(name, it.kind, it.about, {})),
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
  const declared: DeclaredList = {
    name: childTableName(resource, path, list.named),
    kind: 'child',
    about: `${list.about} One row per element.`,
    columns: [
      ...parentKey.map((name, index) =>
        column(name, 'text', `Key of the ${resource.noun}.`, {
          nullable: false,
          personal: personalOf(resource, resource.key[index] ?? ''),
        }),
      ),
      ...(own.length > 0 ? [] : [POSITION]),
      ...columns,
    ],
    key: [...parentKey, ...(own.length > 0 ? own : ['position'])],
    parentKey,
    path,
    count: countColumn(path.join('_')),
    volatile: list.volatile,
    element,
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
  return { ...declared, changes: listChangeTable(declared) };
}

function bridgeTable(bridge: Bridge): BridgeTable {
  const to = bridge.to();
  const reference = referenceColumnNames(bridge.prefix, to.key);
  const questionColumns = Object.entries(bridge.questionColumns);
  return {
    name: bridge.table,
    kind: 'bridge',
    about: bridge.about,
    bridge,
    questionKey: questionColumns.map(([name]) => name),
    columns: [
      ...questionColumns.map(([name, { about, personal }]) =>
        column(name, 'text', about, { nullable: false, personal }),
      ),
      ...reference.map((name, index) =>
        column(name, 'text', `Key of the returned ${bridge.prefix}: ${to.key[index]} in ${to.table}.`, {
          nullable: false,
          personal: personalOf(to, to.key[index] ?? ''),
        }),
      ),
      column('position', 'bigint', 'Index in the answer, from 0.'),
      ...Object.entries(bridge.more ?? {}).flatMap(([name, { kind, about, personal }]) =>
        scalarColumns(name, kind, about, { personal }),
      ),
      ANSWER,
    ],
    key: [...questionColumns.map(([name]) => name), ...reference],
    foreignKeys: [{ columns: reference, table: to.table, references: to.key, onDelete: 'cascade' }],
    indexes: [{ columns: reference, using: 'btree' }],
  };
}

/** Every root table. Referenced tables come first, so that rows written in this order satisfy the foreign keys. */
export const rootTables: readonly RootTable[] = resourcesOf(catalog).map((resource) => {
  const declared = rootTable(resource);
  return { ...declared, daily: dailyTable(declared), changes: changeTable(declared) };
});

const rootTablesByName: ReadonlyMap<string, RootTable> = new Map(rootTables.map((table) => [table.name, table]));

/** The root table of that name. */
export function rootTableNamed(name: string): RootTable {
  const found = rootTablesByName.get(name);
  if (!found) throw new Error(`no resource of the catalog has the table ${name}`);
  return found;
}

/** The root table of a resource of the catalog. */
export const rootTableOf = ({ table }: Resource): RootTable => rootTableNamed(table);

export const bridgeTables: readonly BridgeTable[] = [
  ...new Map(catalog.flatMap(({ bridge }) => (bridge ? [[bridge.table, bridge] as const] : []))).values(),
].map(bridgeTable);

/** A root table and the tables that its answers fill with it: lists, daily numbers and change logs. */
export const tablesOf = (root: RootTable): readonly Table[] =>
  [root, ...root.children, root.daily, root.changes, ...root.children.map(({ changes }) => changes)].filter(
    (it) => it !== undefined,
  );

/** Every analyst table, in the order of creation. */
export const tables: readonly Table[] = [
  ...rootTables.flatMap((it) => [it, ...it.children]),
  ...bridgeTables,
  ...rootTables.flatMap(({ daily }) => daily ?? []),
  ...rootTables.flatMap((it) => [it, ...it.children].flatMap(({ changes }) => changes ?? [])),
];

/** Returns the analyst table with this name; undefined if there is none. */
export const tableNamed = (name: string): Table | undefined => tables.find((table) => table.name === name);
