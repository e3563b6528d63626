/**
 * The rows that the warehouse's naming rules make of an item, worked out from the declarations and the rules alone:
 * neither the tables' declarations nor the normalizer has a part in it. Items are well-typed; fields that nobody
 * declared are allowed.
 */
import type { KeyedRequest } from '../../src/service/request-body.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type {
  Detail,
  ListElement,
  Field,
  Fields,
  Kind,
  ListField,
  ObservationSpec,
  Resource,
} from '../../src/service/model.ts';
import type { Item } from '../support/sample.ts';

/** A column's type as the database prints it, and its value: parsed JSON for `jsonb`, else text. */
export interface ExpectedCell {
  readonly type: string;
  readonly value: unknown;
}
export type ExpectedCells = Readonly<Record<string, ExpectedCell>>;

export interface ExpectedRow {
  readonly table: string;
  readonly key: readonly string[];
  readonly cells: ExpectedCells;
  /** Of a root row of a table with several sources. */
  readonly detail?: Detail;
}

/** Every row of an answer with this one item: its own, those of its lists, of entities in it, and of the bridge. */
export function expectedRows(endpoint: Endpoint, keyed: KeyedRequest, item: Item): ExpectedRow[] {
  const rows: ExpectedRow[] = [];
  const own = entityRows(endpoint.returns, item, 'full', keyed, rows);
  return [...rows, ...bridgeRows(endpoint, keyed, item, own)];
}

/** The item's own row. */
export function ownRow(endpoint: Endpoint, keyed: KeyedRequest, item: Item): ExpectedRow {
  const rows: ExpectedRow[] = [];
  const own = entityRows(endpoint.returns, item, 'full', keyed, rows);
  return rows.find(({ cells }) => cells === own) as ExpectedRow;
}

const TYPES: Readonly<Record<Exclude<Kind, 'epoch'>, string>> = {
  text: 'text',
  integer: 'bigint',
  number: 'double precision',
  flag: 'boolean',
  moment: 'timestamp with time zone',
  day: 'date',
  uuid: 'uuid',
  json: 'jsonb',
};

interface Reading {
  readonly keyed: KeyedRequest;
  readonly resource: Resource;
  /** A full reading takes defaults for what is absent. */
  readonly full: boolean;
  /** Rows found on the way. */
  readonly rows: ExpectedRow[];
  /** Child rows lack their parent's key until the parent is read. */
  readonly lists: {
    readonly path: readonly string[];
    readonly list: ListField;
    readonly elements: readonly unknown[];
  }[];
}

function entityRows(
  resource: Resource,
  item: Item,
  detail: Detail,
  keyed: KeyedRequest,
  rows: ExpectedRow[],
): ExpectedCells {
  const reading: Reading = { keyed, resource, full: detail === 'full', rows, lists: [] };
  const cells = {
    ...columnsOf(resource.fields, item, '', [], reading),
    extra: extraOf(resource.fields, resource.tag, item),
  };
  rows.push({ table: resource.table, key: resource.key, cells, ...(resource.shared && { detail }) });
  for (const { path, list, elements } of reading.lists)
    rows.push(...childRows(resource, cells, path, list, elements, reading));
  return cells;
}

function columnsOf(
  fields: Fields,
  wire: Item | undefined,
  prefix: string,
  path: readonly string[],
  reading: Reading,
): ExpectedCells {
  return Object.assign(
    {},
    ...Object.entries(fields).map(([name, field]) =>
      columnsOfField(field, prefix + name, wire?.[name], wire !== undefined, [...path, name], reading),
    ),
  ) as ExpectedCells;
}

function columnsOfField(
  field: Field,
  name: string,
  sent: unknown,
  inside: boolean,
  path: readonly string[],
  reading: Reading,
): ExpectedCells {
  switch (field.shape) {
    case 'scalar':
      return scalarCells(
        field.kind,
        name,
        sent ?? (reading.full && inside && sent === undefined ? field.fallback : undefined),
      );
    case 'given':
      return scalarCells(field.kind, name, field.from(reading.keyed, 0));
    case 'object': {
      const value = sent as Item | undefined;
      if (value && field.observation) reading.rows.push(sightingRow(field.observation, field.fields, value, reading));
      return columnsOf(field.fields, value, `${name}_`, path, reading);
    }
    case 'list':
      if (Array.isArray(sent)) reading.lists.push({ path, list: field, elements: sent });
      return countCell(name, sent);
    case 'nested': {
      const to = field.resource();
      const cells = sent === undefined ? {} : entityRows(to, sent as Item, field.detail, reading.keyed, reading.rows);
      return Object.fromEntries(to.key.map((key) => [`${name}_${key}`, cells[key] ?? { type: 'text', value: null }]));
    }
    case 'nested-list':
      for (const it of (sent as Item[] | undefined) ?? [])
        entityRows(field.resource(), it, field.detail, reading.keyed, reading.rows);
      return countCell(name, sent);
  }
}

const countCell = (name: string, sent: unknown): ExpectedCells => ({
  [`${name}_count`]: { type: 'bigint', value: Array.isArray(sent) ? String(sent.length) : null },
});

function scalarCells(kind: Kind, name: string, sent: unknown): ExpectedCells {
  if (kind !== 'epoch')
    return {
      [name]: {
        type: TYPES[kind],
        value: sent == null ? null : kind === 'json' ? sent : `${sent as string | number | boolean}`,
      },
    };
  const seconds = typeof sent === 'number' && sent > 0 ? sent : undefined;
  return {
    [name]: {
      type: 'timestamp with time zone',
      value: seconds === undefined ? null : new Date(seconds * 1000).toISOString().replace('.000Z', '.000000Z'),
    },
    [`${name}_epoch`]: { type: 'bigint', value: sent == null ? null : `${sent as string | number | boolean}` },
  };
}

/** The row that an object reports about an entity with a table of its own; other columns of that table are null. */
function sightingRow(sighting: ObservationSpec, fields: Fields, value: Item, reading: Reading): ExpectedRow {
  const urn = (sighting.bare === true ? value : value['urn']) as Item | undefined;
  const resource = sighting.resourceOf(typeof urn?.['type'] === 'string' ? urn['type'] : '');
  const quiet: Reading = { ...reading, resource, full: false, rows: [], lists: [] };
  const none = columnsOf(resource.fields, undefined, '', [], quiet);
  const reported =
    sighting.bare === true
      ? columnsOf({ urn: resource.fields['urn'] as Field }, { urn: value }, '', [], quiet)
      : columnsOf(fields, value, '', [], quiet);
  return {
    table: resource.table,
    key: resource.key,
    cells: { ...none, ...reported, extra: { type: 'jsonb', value: null } },
    detail: sighting.detail,
  };
}

const singular = (word: string): string => word.replace(/ies$/, 'y').replace(/s$/, '');

/** Rule 4: the parent's key with its noun in front, then the position or the element's own key. */
function childRows(
  parent: Resource,
  cells: ExpectedCells,
  path: readonly string[],
  list: ListField,
  elements: readonly unknown[],
  reading: Reading,
): ExpectedRow[] {
  const { element } = list;
  const table = [singular(parent.table), ...path.slice(0, -1), list.named ?? path.at(-1)].join('_');
  const parentKey = parent.key.map(
    (name) => [name.startsWith(`${parent.noun}_`) ? name : `${parent.noun}_${name}`, name] as const,
  );
  const own = element.of === 'object' ? element.key : [];
  const order = own.length > 0 ? own : ['position'];
  return elements.map((value, position) => ({
    table,
    key: [...parentKey.map(([name]) => name), ...order],
    cells: {
      ...Object.fromEntries(parentKey.map(([name, key]) => [name, cells[key] as ExpectedCell])),
      ...(own.length > 0 ? {} : { position: { type: 'bigint', value: String(position) } }),
      ...elementCells(element, path.at(-1) ?? '', value, reading),
    },
  }));
}

function elementCells(element: ListElement, field: string, value: unknown, reading: Reading): ExpectedCells {
  switch (element.of) {
    case 'scalar':
      return { [singular(field)]: { type: 'text', value } };
    case 'json':
      return { item: { type: 'jsonb', value } };
    case 'object': {
      const item = value as Item;
      const cells = columnsOf(element.fields, item, '', [], { ...reading, full: true });
      if (element.observation) reading.rows.push(sightingRow(element.observation, element.fields, item, reading));
      const plain = Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, cell.value]));
      const derived = Object.entries(element.derived ?? {}).map(([name, { kind, from }]) =>
        scalarCells(
          kind,
          name,
          from((column) => plain[column]),
        ),
      );
      return Object.assign({}, cells, ...derived, {
        extra: extraOf(element.fields, element.tag, item),
      }) as ExpectedCells;
    }
  }
}

/** Rule 7: undeclared fields, in the shape in which they were sent. Those of elements and entities are in their own rows. */
function extraOf(fields: Fields, tag: string | undefined, item: Item): ExpectedCell {
  const left = leftOver(fields, tag, item);
  return { type: 'jsonb', value: Object.keys(left).length > 0 ? left : null };
}

function leftOver(fields: Fields, tag: string | undefined, item: Item): Item {
  const left: Item = {};
  for (const [name, value] of Object.entries(item)) {
    const field = fields[name];
    if (name === '@type' && value === tag) continue;
    if (field === undefined) left[name] = value;
    else if (field.shape === 'object') {
      const inner = leftOver(field.fields, field.tag, value as Item);
      if (Object.keys(inner).length > 0) left[name] = inner;
    }
  }
  return left;
}

function bridgeRows(endpoint: Endpoint, keyed: KeyedRequest, item: Item, own: ExpectedCells): ExpectedRow[] {
  const { bridge } = endpoint;
  if (!bridge) return [];
  const to = bridge.to();
  const items =
    bridge.via === undefined
      ? [own]
      : ((item[bridge.via] ?? []) as Item[]).map((it) => entityRows(to, it, 'preview', keyed, []));
  const reference = to.key.map((name) => [`${bridge.prefix}_${name}`, name] as const);
  const valuesOf = (cells: ExpectedCells) => (column: string) => cells[column]?.value;
  const itemValue = valuesOf(own);
  return items.map((cells, position) => ({
    table: bridge.table,
    key: [...Object.keys(bridge.questionColumns), ...reference.map(([name]) => name)],
    cells: {
      ...Object.fromEntries(
        Object.entries(bridge.questionColumns).map(([name, { from }]) => [name, { type: 'text', value: from(keyed) }]),
      ),
      ...Object.fromEntries(reference.map(([name, key]) => [name, cells[key] as ExpectedCell])),
      position: { type: 'bigint', value: String(position) },
      ...Object.assign(
        {},
        ...Object.entries(bridge.more ?? {}).map(([name, { kind, from }]) =>
          scalarCells(kind, name, from(bridge.via === undefined ? itemValue : valuesOf(cells), itemValue)),
        ),
      ),
    },
  }));
}
