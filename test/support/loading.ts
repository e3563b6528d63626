/** Answers into a warehouse and rows out of it, as tests of normalizing and loading need them. */
import { type CompiledQuery, sql } from 'kysely';
import { expect } from 'vitest';
import type { LoadContext } from '../../src/load/merge/receipt-builder.ts';
import { load } from '../../src/load/load.ts';
import type { Receipt } from '../../src/load/merge/receipt.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Batch } from '../../src/normalize/batch.ts';
import { normalize } from '../../src/normalize/normalize.ts';
import type { KeyedRequest, RequestBody } from '../../src/service/request-body.ts';
import { endpointNamed } from '../../src/service/catalog.ts';
import { canonicalRequest, requestKeyOf } from '../../src/service/request-key.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { SCHEMA } from './warehouse.ts';

export interface Loaded {
  readonly batch: Batch;
  readonly receipt: Receipt;
  readonly answerId: number;
}

export interface TakeOptions {
  /** Another than the next. */
  readonly answerId?: number;
  readonly sync?: string;
  /** A newer answer replaced its set of rows. */
  readonly isSetReplaced?: boolean;
}

/** A row with every column as text: instants in UTC, the rest as Postgres prints it. */
export type TextRow = Readonly<Record<string, string | null>>;

export interface Loader {
  readonly warehouse: Warehouse;
  /** Loads an answer, given as items or as the text of its body, and checks that every item is accounted for. */
  readonly take: (endpoint: string, request: RequestBody, answer: unknown, options?: TakeOptions) => Promise<Loaded>;
  /** All rows of a table, or those that match these columns, in key order. */
  readonly rows: (table: string, where?: Readonly<Record<string, string>>) => Promise<TextRow[]>;
  /** The one row that matches. */
  readonly row: (table: string, where: Readonly<Record<string, string>>) => Promise<TextRow>;
  /** The lengths in characters of these columns of the rows that match, as the database counts them. */
  readonly lengths: (
    table: string,
    where: Readonly<Record<string, string>>,
    columns: readonly string[],
  ) => Promise<Record<string, number>[]>;
  /** Table, place and version of every row for analysts: the same text as before means that nothing was written. */
  readonly versions: () => Promise<string[]>;
}

/** Versions of the rows with the current state of entities, without those of their history. */
export const withoutHistory = (versions: readonly string[]): string[] =>
  versions.filter((version) => !/^\S+_(?:daily|changes) /.test(version));

/** The instant at which the answer of this number was received. */
export const receivedAt = (answerId: number): string =>
  new Date(Date.UTC(2026, 10, 20) + answerId * 1000).toISOString().replace('000Z', '000000Z');

/** The request, with the contract's defaults. */
export function askedOf(endpointName: string, request: RequestBody, sync = 'a_sync'): KeyedRequest {
  const endpoint = endpointOf(endpointName);
  const canonical = canonicalRequest(endpoint, request);
  return { sync, requestKey: requestKeyOf(endpoint.name, canonical), request: canonical };
}

/** The batch of an answer, given as items or as the text or bytes of its body. */
export function batchOf(endpointName: string, request: RequestBody, answer: unknown, sync?: string): Batch {
  const body =
    answer instanceof Uint8Array ? answer : Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
  return normalize(endpointOf(endpointName), askedOf(endpointName, request, sync), body);
}

function endpointOf(name: string) {
  const endpoint = endpointNamed(name);
  if (!endpoint) throw new Error(`no endpoint ${name}`);
  return endpoint;
}

/** Every received item is loaded, unchanged, superseded or quarantined. */
export function expectAllAccounted({ received, loaded, unchanged, superseded, quarantined }: Receipt): void {
  expect({ received }).toEqual({ received: loaded + unchanged + superseded + quarantined });
}

/** How many rows a load wrote, over all tables. */
export const rowsCount = ({ written }: Receipt): number => Object.values(written).reduce((sum, rows) => sum + rows, 0);

/** Loads a batch in a transaction of its own. */
export async function loadBatch(
  warehouse: Warehouse,
  batch: Batch,
  answerId: number,
  more: Pick<LoadContext, 'isSetReplaced'> = {},
): Promise<Receipt> {
  const context = { ...contextOf(answerId), ...more };
  const [receipt] = await warehouse.db
    .transaction()
    .execute((tx) => load(sqlExecutorOn(tx, warehouse.schema), [{ batch, context }]));
  if (!receipt) throw new Error(`no receipt of answer ${answerId}`);
  return receipt;
}

/** What the rows of the answer of this number carry. */
export const contextOf = (answerId: number): LoadContext => ({
  answerId: String(answerId),
  runId: '1',
  receivedAt: receivedAt(answerId),
});

/** A loader that numbers its answers. */
export function loaderOf(warehouse: Warehouse): Loader {
  let last = 0;
  return {
    warehouse,
    take: async (endpoint, request, answer, options = {}) => {
      const { answerId = last + 1, sync, ...more } = options;
      last = Math.max(last, answerId);
      const batch = batchOf(endpoint, request, answer, sync);
      const receipt = await loadBatch(warehouse, batch, answerId, more);
      expectAllAccounted(receipt);
      expect(receipt.received).toBe(batch.received);
      return { batch, receipt, answerId };
    },
    rows: (table, where = {}) => rowsOf(warehouse.db, table, where),
    row: async (table, where) => {
      const rows = await rowsOf(warehouse.db, table, where);
      expect({ table, where, found: rows.length }).toEqual({ table, where, found: 1 });
      return rows[0] as TextRow;
    },
    lengths: (table, where, columns) => lengthsOf(warehouse.db, table, where, columns),
    versions: () => versionsOf(warehouse.db),
  };
}

interface TableShape {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly key: readonly string[];
}

const shapes = new WeakMap<Warehouse['db'], Promise<ReadonlyMap<string, TableShape>>>();

/** The tables for analysts as the database itself describes them. */
export function shapesOf(db: Warehouse['db']): Promise<ReadonlyMap<string, TableShape>> {
  const known = shapes.get(db) ?? readShapes(db);
  shapes.set(db, known);
  return known;
}

async function readShapes(db: Warehouse['db']): Promise<ReadonlyMap<string, TableShape>> {
  const { rows } = await sql<{ table: string; name: string; type: string; key: number | null }>`
    select c.relname::text as "table", a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type,
      array_position(i.indkey::int2[], a.attnum) as key
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    where n.nspname = ${SCHEMA} and c.relkind = 'r'
    order by c.relname, a.attnum`.execute(db);
  const found = new Map<string, { columns: { name: string; type: string }[]; key: string[] }>();
  for (const { table, name, type, key } of rows) {
    const shape = found.get(table) ?? { columns: [], key: [] };
    found.set(table, shape);
    shape.columns.push({ name, type });
    if (key !== null) shape.key[key] = name;
  }
  return new Map([...found].map(([name, { columns, key }]) => [name, { columns, key: key.filter(Boolean) }]));
}

async function rowsOf(db: Warehouse['db'], table: string, where: Readonly<Record<string, string>>): Promise<TextRow[]> {
  const shape = (await shapesOf(db)).get(table);
  if (!shape) throw new Error(`no table ${table}`);
  const columns = shape.columns.map(({ name, type }) =>
    type === 'timestamp with time zone'
      ? sql`to_char(${sql.ref(name)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${sql.ref(name)}`
      : sql`${sql.ref(name)}::text as ${sql.ref(name)}`,
  );
  const { rows } =
    await sql<TextRow>`select ${sql.join(columns)} from ${sql.table(`${SCHEMA}.${table}`)} where ${matching(where)}
    order by ${sql.join(shape.key.map((name) => sql`${sql.table(table)}.${sql.ref(name)}`))}`.execute(db);
  return rows;
}

const matching = (where: Readonly<Record<string, string>>) =>
  sql.join(
    [sql`true`, ...Object.entries(where).map(([name, value]) => sql`${sql.ref(name)}::text = ${value}`)],
    sql` and `,
  );

async function lengthsOf(
  db: Warehouse['db'],
  table: string,
  where: Readonly<Record<string, string>>,
  columns: readonly string[],
): Promise<Record<string, number>[]> {
  const lengths = columns.map((name) => sql`length(${sql.ref(name)}) as ${sql.ref(name)}`);
  const { rows } = await sql<
    Record<string, number>
  >`select ${sql.join(lengths)} from ${sql.table(`${SCHEMA}.${table}`)} where ${matching(where)}`.execute(db);
  return rows;
}

/** The statement of `versionsOf`: it names every table, so it is compiled once. */
const versionStatements = new WeakMap<Warehouse['db'], CompiledQuery<{ version: string }>>();

async function versionsOf(db: Warehouse['db']): Promise<string[]> {
  const statement = versionStatements.get(db) ?? versionStatement(db, await shapesOf(db));
  versionStatements.set(db, statement);
  const { rows } = await db.executeQuery(statement);
  return rows.map(({ version }) => version).toSorted();
}

function versionStatement(db: Warehouse['db'], tables: ReadonlyMap<string, TableShape>) {
  const all = [...tables.keys()].map(
    (name) =>
      sql`select ${name}::text || ' ' || ctid::text || ' ' || xmin::text as version from ${sql.table(`${SCHEMA}.${name}`)}`,
  );
  return sql<{ version: string }>`${sql.join(all, sql` union all `)}`.compile(db);
}
