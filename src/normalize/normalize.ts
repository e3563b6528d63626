/** One stored answer in, one batch of rows out; pure. */
import type { KeyedRequest } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import type { Detail, Fields, Resource } from '../service/model.ts';
import { asksForPseudonym, isPseudonym, isTombstone } from '../service/names/forgotten.ts';
import { isFull } from '../service/paging.ts';
import { isKeyedByQuestion } from '../service/resource.ts';
import { memoizeByObject } from '../warehouse/sql/compile-once.ts';
import { referenceColumnNames } from '../warehouse/schema/references.ts';
import { childTableName } from '../warehouse/schema/tables.ts';
import type { Batch, BridgeRow, Cell, Reject, RootRow } from './batch.ts';
import { decode } from './decode.ts';
import { isKey, LONGEST_KEY } from './key.ts';
import { readerOf } from './reader.ts';
import {
  type RowBuilder,
  driftCounter,
  isObject,
  type Roots,
  type Scope,
  type EntityObservation,
  type JsonObject,
} from './scope.ts';
import { canonicalJson, digestOf } from '../service/canonical-json.ts';

/**
 * The rows of an answer. Never throws on what an answer holds: an item that can't be keyed is rejected with its place
 * and reason, a body that is no array of items is rejected whole, and whatever else differs from the contract loads
 * and is counted as drift.
 */
export function normalize(endpoint: Endpoint, asked: KeyedRequest, body: Uint8Array): Batch {
  const decoded = decode(body);
  if (decoded.kind === 'unreadable') return rejectedWhole(decoded.reason);
  const { length } = decoded.items;
  if (length > MOST_ITEMS)
    return rejectedWhole(`the body holds ${length} items, and no more than ${MOST_ITEMS} are read at once`);
  const resource = endpoint.returns;
  const known = wireNames(resource);
  if (decoded.lone && !isTombstone(decoded.items[0]) && !looksLike(decoded.items[0], known))
    return rejectedWhole(`the body is an object with no field of ${resource.name}, where a JSON array is due`);

  const roots: Roots = new Map();
  const drift = driftCounter();
  const rejects: Reject[] = [];
  const ties: Tie[] = [];
  let forgotten = 0;
  let foreign = 0;
  const isOfForgotten = isKeyedByQuestion(resource) && asksForPseudonym(asked.request);
  decoded.items.forEach((item, position) => {
    if (isOfForgotten || isTombstone(item)) forgotten += 1;
    if (isOfForgotten && !isTombstone(item)) return;
    const pointer = decoded.lone ? '' : `/${position}`;
    const isForeign = !isTombstone(item) && !looksLike(item, known);
    const reason = !isForeign
      ? readItem(endpoint, asked, item, position, { roots, drift: drift.add, ties })
      : `not a ${resource.name}: ${isObject(item) ? 'none of its fields is there' : `found ${describe(item)}`}`;
    if (reason !== undefined) rejects.push({ position, pointer, reason });
    if (isForeign) foreign += 1;
  });

  const step = { request: asked.request, items: decoded.items };
  // What is in quarantine may belong to the set, so nothing is missing from it for certain.
  const complete = !isFull(step) && rejects.length === 0;
  const bridgeAsked =
    endpoint.bridge &&
    unlessForgotten(
      Object.entries(endpoint.bridge.questionColumns).map(([name, { from }]) => [name, shortKey(from(asked))] as const),
    );
  const ownerKey =
    resource.owner && unlessForgotten(resource.owner.map((name) => [name, ownerCell(resource, name, asked)] as const));
  return {
    received: decoded.items.length,
    items: decoded.items,
    roots,
    bridge: endpoint.bridge &&
      bridgeAsked && {
        table: endpoint.bridge.table,
        questionCells: bridgeAsked,
        rows: ties.flatMap((tie) => bridgeRow(endpoint, tie)),
        complete: complete && endpoint.bridge.lists,
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

/** Far more than any `count` brings; their rows take some 3 kB each while they load, and a process has to hold them all. */
const MOST_ITEMS = 250_000;

/** The batch of an answer that nothing can be made of. */
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

/** Nothing is tied to a question about what is forgotten. */
const unlessForgotten = (cells: readonly (readonly [string, Cell])[]): Readonly<Record<string, Cell>> | undefined =>
  cells.some(([, cell]) => isPseudonym(cell)) ? undefined : Object.fromEntries(cells);

const describe = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

/** Names that the service sends; what the request gives is not among them. */
const wireNames = memoizeByObject(
  (resource: Resource): ReadonlySet<string> =>
    new Set(Object.entries(resource.fields).flatMap(([name, { shape }]) => (shape === 'given' ? [] : [name]))),
);

const looksLike = (item: unknown, known: ReadonlySet<string>): item is JsonObject =>
  isObject(item) && Object.keys(item).some((name) => known.has(name));

/** An entity that a question returned: its row, the item it was in, and where. */
interface Tie {
  readonly row: Readonly<Record<string, Cell>>;
  readonly item: Readonly<Record<string, Cell>>;
  readonly position: number;
}

interface Sink {
  readonly roots: Roots;
  readonly drift: (resource: string, path: string, kind: Parameters<Scope['drift']>[1], found: unknown) => void;
  readonly ties: Tie[];
}

/** Reads a top-level item into the sink; returns why it can't be loaded. */
function readItem(
  endpoint: Endpoint,
  source: KeyedRequest,
  item: JsonObject,
  position: number,
  sink: Sink,
): string | undefined {
  // Rows are gathered apart and kept only when the item can be keyed and read to its end.
  const rows: [Resource, RootRow][] = [];
  const nested: { readonly via: string; readonly place: number; readonly row: RootRow }[] = [];
  const resource = endpoint.returns;
  const scopeOf = (depth: number, muted: boolean): Scope => ({
    source,
    resource: resource.name,
    position,
    drift: (path, kind, found) => {
      if (!muted) sink.drift(resource.name, path, kind, found);
    },
    addObservation: (seen) => {
      if (muted) return;
      const row = sightingRow(seen, scopeOf(depth, true));
      if (row) rows.push([seen.resource, row]);
    },
    addNested: (inner, value, via, place) => {
      if (depth >= DEEPEST_NESTING) throw new RangeError(`nested deeper than ${DEEPEST_NESTING} posts`);
      if (!isObject(value)) return undefined;
      if (isTombstone(value)) {
        readRemains(inner, value, scopeOf(depth + 1, muted));
        return undefined;
      }
      const row = entityRow(inner, value, 'preview', scopeOf(depth + 1, muted), via);
      if (typeof row === 'string') return undefined;
      rows.push([inner, row]);
      if (depth === 0) nested.push({ via, place, row });
      return row.cells;
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
  for (const [of, seen] of [...rows, ...(own ? [[resource, own] as const] : [])]) {
    const known = sink.roots.get(of.table);
    if (known) known.push(seen);
    else sink.roots.set(of.table, [seen]);
  }
  // Nothing is tied to what is forgotten.
  if (!own) return undefined;
  const via = endpoint.bridge?.via;
  if (via === undefined) sink.ties.push({ row: own.cells, item: own.cells, position });
  else
    nested
      .filter((it) => it.via === via)
      .forEach((it) => sink.ties.push({ row: it.row.cells, item: own.cells, position: it.place }));
  return undefined;
}

/** Reposts of reposts beyond this are no data but an attack on the stack. */
const DEEPEST_NESTING = 50;

type Plan = ReturnType<typeof readerOf>;
const plans = new WeakMap<Fields, Map<Resource, Plan>>();

function planOf(resource: Resource, fields: Fields): Plan {
  const known = plans.get(fields) ?? new Map<Resource, Plan>();
  plans.set(fields, known);
  const plan =
    known.get(resource) ?? readerOf(fields, resource.tag, (path, named) => childTableName(resource, path, named));
  known.set(resource, plan);
  return plan;
}

/** The row of an entity, or why it has none. */
function entityRow(
  resource: Resource,
  value: JsonObject,
  detail: Detail,
  scope: Scope,
  path: string,
): RootRow | string {
  const draft: RowBuilder = { cells: {}, lists: {}, full: detail === 'full', path, scope };
  const residue = planOf(resource, resource.fields)(value, draft);
  if (residue !== undefined || draft.full) draft.cells['extra'] = residue === undefined ? null : canonicalJson(residue);
  return keyed(resource, draft, detail);
}

/** What a forgotten entity told of others; it has no row of its own. */
function readRemains(resource: Resource, value: JsonObject, scope: Scope): void {
  const { '@type': _, ...remains } = value;
  planOf(resource, resource.fields)(remains, { cells: {}, lists: {}, full: false, path: '', scope });
}

/** A sighting tells the fields of the place it stands in; what they leave over stays with the row around it. */
function sightingRow(seen: EntityObservation, scope: Scope): RootRow | undefined {
  const draft: RowBuilder = { cells: {}, lists: {}, full: seen.detail === 'full', path: '', scope };
  planOf(seen.resource, seen.fields)(seen.value, draft);
  const row = keyed(seen.resource, draft, seen.detail);
  return typeof row === 'string' ? undefined : row;
}

function keyed(resource: Resource, draft: RowBuilder, detail: Detail): RootRow | string {
  const bad = resource.key.find((name) => !isKey(draft.cells[name]));
  if (bad !== undefined) {
    const cell = draft.cells[bad];
    const found =
      typeof cell === 'string' && cell !== ''
        ? `is longer than ${LONGEST_KEY} bytes`
        : 'is missing, empty or of a wrong type';
    return `its key field ${bad} ${found}`;
  }
  return { id: idOf(draft.cells, resource.key), cells: draft.cells, lists: draft.lists, detail };
}

/** No text holds a NUL, so the parts can't run into each other. */
const idOf = (cells: Readonly<Record<string, Cell>>, key: readonly string[]): string =>
  key.map((name) => String(cells[name])).join('\0');

function bridgeRow(endpoint: Endpoint, tie: Tie): BridgeRow[] {
  const bridge = endpoint.bridge;
  if (!bridge) return [];
  const to = bridge.to();
  const reference = referenceColumnNames(bridge.prefix, to.key);
  const cells: Record<string, Cell> = Object.fromEntries(
    to.key.map((name, index) => [reference[index] as string, tie.row[name] ?? null]),
  );
  cells['position'] = tie.position;
  for (const [name, { from }] of Object.entries(bridge.more ?? {})) cells[name] = from(tie.row, tie.item);
  return [{ id: idOf(cells, reference), cells }];
}

function ownerCell(resource: Resource, name: string, asked: KeyedRequest): Cell {
  const field = resource.fields[name];
  const value = field?.shape === 'given' ? field.from(asked, 0) : undefined;
  return typeof value === 'string' ? value : null;
}

/** What was asked may be longer than a key can be; its digest then stands for it. */
const shortKey = (text: string): string => (Buffer.byteLength(text) <= LONGEST_KEY ? text : `sha256:${digestOf(text)}`);
