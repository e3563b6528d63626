/** Converts one stored answer to one batch of rows; pure. */
import type { KeyedRequest } from '../service/request-body.ts';
import type { Bridge, Endpoint } from '../service/endpoint.ts';
import type { Detail, Resource } from '../service/model.ts';
import { isPseudonym, isTombstone } from '../service/names/forgotten.ts';
import { isFull } from '../service/paging.ts';
import { isKeyedByPseudonym } from '../service/resource.ts';
import { referenceColumnNames } from '../warehouse/schema/references.ts';
import { rootTableOf } from '../warehouse/schema/tables.ts';
import { type Batch, type Cell, LONGEST_KEY, type Reject, type RootRow, valuesOf } from './batch.ts';
import { decode } from './decode.ts';
import { driftCounter } from './drift.ts';
import { lackingInLone, otherKindOf } from './item-kind.ts';
import { builderFor, entityReaderOf, finishRow } from './entity-reader.ts';
import { isObject, type Roots, type Scope, type EntityObservation, type JsonObject } from './scope.ts';
import { canonicalJson, digestOf } from '../service/canonical-json.ts';

/**
 * The rows of an answer. Never throws because of an answer's content. An item without a key is rejected with position
 * and reason. A body that is neither an array of items nor a single item is rejected completely. Any other difference
 * from the contract is loaded and counted as drift.
 */
export function normalize(endpoint: Endpoint, keyed: KeyedRequest, body: Uint8Array): Batch {
  const decoded = decode(body);
  if (decoded.kind === 'unreadable') return rejectedWhole(decoded.reason);
  const { length } = decoded.items;
  if (length > MOST_ITEMS) return rejectedWhole(`the body has ${length} items; at most ${MOST_ITEMS} are allowed`);
  const resource = endpoint.returns;
  const lacking = lackingInLone(decoded, resource);
  if (lacking !== undefined) return rejectedWhole(`the body is an object without ${lacking}; expected a JSON array`);

  const roots: Roots = new Map();
  const drift = driftCounter();
  const rejects: Reject[] = [];
  const links: BridgeLink[] = [];
  let forgotten = 0;
  let foreign = 0;
  const isOfForgotten = isKeyedByPseudonym(resource, keyed.request);
  decoded.items.forEach((item, position) => {
    if (isOfForgotten || isTombstone(item)) forgotten += 1;
    if (isOfForgotten && !isTombstone(item)) return;
    const otherKind = otherKindOf(item, resource);
    if (otherKind !== undefined) foreign += 1;
    const reason =
      otherKind ?? readItem(endpoint, keyed, item as JsonObject, position, { roots, drift: drift.add, links });
    if (reason !== undefined) rejects.push({ position, pointer: `/${position}`, reason });
  });
  const [reject] = rejects;
  // An envelope or an error may have fields of an item, so an object without a key is no item.
  if (decoded.lone && reject)
    return rejectedWhole(`the body is an object, and ${reject.reason}; expected a JSON array`);

  const page = { request: keyed.request, items: decoded.items };
  // A quarantined item may belong to the set, so the set is not known to be complete.
  const complete = !isFull(page) && rejects.length === 0;
  const { bridge } = endpoint;
  const questionCells =
    bridge &&
    unlessForgotten(
      Object.entries(bridge.questionColumns).map(([name, { from }]) => [name, shortKey(from(keyed))] as const),
    );
  const ownerKey =
    resource.owner && unlessForgotten(resource.owner.map((name) => [name, ownerCell(resource, name, keyed)] as const));
  return {
    received: decoded.items.length,
    items: decoded.items.map((item) => itemForPaging(endpoint, item)),
    roots,
    bridge: bridge &&
      questionCells && {
        table: bridge.table,
        questionCells,
        rows: links.map((link) => bridgeRow(bridge, endpoint, link)),
        complete: complete && bridge.lists,
      },
    owner: ownerKey && {
      table: resource.table,
      key: ownerKey,
      complete,
    },
    rejects,
    foreign,
    forgotten,
    drift: drift.all(),
  };
}

function itemForPaging({ paging: { itemFields } }: Endpoint, item: unknown): unknown {
  if (!itemFields) return undefined;
  return isObject(item) ? Object.fromEntries(itemFields.map((name) => [name, item[name]])) : item;
}

/** Far more than any `count` returns. During a load, the rows take about 3 kB each, and all are in memory. */
const MOST_ITEMS = 250_000;

/** The batch of an answer that has no readable items. */
export const rejectedWhole = (reason: string): Batch => ({
  received: 1,
  items: [],
  roots: new Map(),
  bridge: undefined,
  owner: undefined,
  rejects: [{ position: undefined, pointer: '', reason }],
  foreign: 0,
  forgotten: 0,
  drift: [],
});

/** The cells of a request; undefined if it names a forgotten entity, since no row is linked to it. */
const unlessForgotten = (cells: readonly (readonly [string, Cell])[]): Readonly<Record<string, Cell>> | undefined =>
  cells.some(([, cell]) => isPseudonym(cell)) ? undefined : Object.fromEntries(cells);

/** A returned entity: its row, the row of its item, and its position. */
interface BridgeLink {
  readonly row: RootRow;
  readonly item: RootRow;
  readonly position: number;
}

interface Sink {
  readonly roots: Roots;
  readonly drift: (resource: string, path: string, kind: Parameters<Scope['drift']>[1], found: unknown) => void;
  readonly links: BridgeLink[];
}

/** Adds a top-level item to the sink, or returns the reason why it cannot be loaded. */
function readItem(
  endpoint: Endpoint,
  source: KeyedRequest,
  item: JsonObject,
  position: number,
  sink: Sink,
): string | undefined {
  // Rows are collected separately and kept only if the complete item can be read and has a key.
  const rows: [Resource, RootRow][] = [];
  const nested: { readonly via: string; readonly index: number; readonly row: RootRow }[] = [];
  const resource = endpoint.returns;
  const scopeOf = (depth: number, muted: boolean): Scope => ({
    source,
    position,
    drift: (path, kind, found) => {
      if (!muted) sink.drift(resource.name, path, kind, found);
    },
    addObservation: (observation) => {
      if (muted) return;
      const row = observationRow(observation, scopeOf(depth, true));
      if (row) rows.push([observation.resource, row]);
    },
    addNested: (inner, value, via, index) => {
      // A value without a row stays with the row around it.
      if (depth >= DEEPEST_NESTING || !isObject(value)) return undefined;
      if (isTombstone(value)) {
        readRemains(inner, value, scopeOf(depth + 1, muted));
        return undefined;
      }
      const row = entityRow(inner, value, 'preview', scopeOf(depth + 1, muted), via);
      if (typeof row === 'string') return undefined;
      rows.push([inner, row]);
      if (depth === 0) nested.push({ via, index, row });
      return row.values;
    },
  });
  let row: RootRow | string | undefined;
  try {
    if (isTombstone(item)) readRemains(resource, item, scopeOf(0, false));
    else row = entityRow(resource, item, 'full', scopeOf(0, false), '');
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
  if (typeof row === 'string') return row;
  const own: RootRow | undefined = row && { ...row, item: position };
  for (const [{ table }, rootRow] of [...rows, ...(own ? [[resource, own] as const] : [])]) {
    const collected = sink.roots.get(table);
    if (collected) collected.push(rootRow);
    else sink.roots.set(table, [rootRow]);
  }
  // No row is linked to a forgotten entity.
  if (!own) return undefined;
  const via = endpoint.bridge?.via;
  if (via === undefined) sink.links.push({ row: own, item: own, position });
  else
    nested
      .filter((it) => it.via === via)
      .forEach((it) => sink.links.push({ row: it.row, item: own, position: it.index }));
  return undefined;
}

/** Deeper reposts of reposts do not occur in real data and could overflow the stack, so they get no rows of their own. */
const DEEPEST_NESTING = 50;

/** The row of an entity, or the reason why it has none. */
function entityRow(
  resource: Resource,
  value: JsonObject,
  detail: Detail,
  scope: Scope,
  path: string,
): RootRow | string {
  const reader = entityReaderOf(resource, resource.fields);
  const builder = builderFor(reader, detail, path, scope);
  const unmapped = reader.read(value, builder);
  if (unmapped !== undefined || builder.full)
    builder.values[reader.table.slots.size - 1] = unmapped === undefined ? null : canonicalJson(unmapped);
  return finishRow(reader, builder, detail);
}

/** Reads what a forgotten entity reported about other entities. It has no row of its own. */
function readRemains(resource: Resource, value: JsonObject, scope: Scope): void {
  const { '@type': _, ...remains } = value;
  const reader = entityReaderOf(resource, resource.fields);
  reader.read(remains, builderFor(reader, 'preview', '', scope));
}

/**
 * The row of an observed entity. It contains the fields of the observing object; unmapped fields stay with the row
 * around it.
 */
function observationRow(seen: EntityObservation, scope: Scope): RootRow | undefined {
  const reader = entityReaderOf(seen.resource, seen.fields);
  const builder = builderFor(reader, seen.detail, '', scope);
  reader.read(seen.value, builder);
  const row = finishRow(reader, builder, seen.detail);
  return typeof row === 'string' ? undefined : row;
}

/** The cells of a bridge's row, without the columns of the request. */
function bridgeRow(bridge: Bridge, endpoint: Endpoint, link: BridgeLink): Readonly<Record<string, Cell>> {
  const to = bridge.to();
  const reference = referenceColumnNames(bridge.prefix, to.key);
  const rowValue = valuesOf(rootTableOf(to), link.row);
  const itemValue = link.item === link.row ? rowValue : valuesOf(rootTableOf(endpoint.returns), link.item);
  const cells: Record<string, Cell> = Object.fromEntries(
    to.key.map((name, index) => [reference[index] as string, rowValue(name) ?? null]),
  );
  cells['position'] = link.position;
  for (const [name, { from }] of Object.entries(bridge.more ?? {})) cells[name] = from(rowValue, itemValue);
  return cells;
}

function ownerCell(resource: Resource, name: string, keyed: KeyedRequest): Cell {
  const field = resource.fields[name];
  const value = field?.shape === 'given' ? field.from(keyed, 0) : undefined;
  return typeof value === 'string' ? value : null;
}

/** A request's text can be too long for a key; then its digest is stored. */
const shortKey = (text: string): string => (Buffer.byteLength(text) <= LONGEST_KEY ? text : `sha256:${digestOf(text)}`);
