/** The contents of the analyst tables as one digest, which is equal if two warehouses hold the same rows. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { rootTables, tables } from '../../src/warehouse/schema/tables.ts';
import type { Table } from '../../src/warehouse/schema/table-types.ts';

export interface Oracle {
  /** SHA-256, in hex, over all tables. */
  readonly digest: string;
  /** Rows and SHA-256 by table. */
  readonly tables: Readonly<Record<string, string>>;
}

/** Columns with the time, run and answer of a row; they differ between two equal runs. */
const OF_THE_RUN = ['_first_seen_at', '_changed_at', '_run_id', '_answer_id', '_seen_at', '_earlier', 'changed_at'];

/**
 * The service chooses ids and times in its log; `logMismatch` in `history.ts` compares them with the service's own
 * record.
 */
const OF_THE_DAY = ['fact_request_costs'];

/** Tables of daily numbers; a run may be on another day than the undisturbed one, or cross midnight. */
const BY_DAY = new Set(rootTables.flatMap(({ daily }) => (daily ? [daily.name] : [])));

/** Digests every analyst table in a fixed row order, without the columns of the run. */
export async function oracleOf(warehouse: Pick<Warehouse, 'db' | 'schema'>): Promise<Oracle> {
  const compared = tables.filter(({ name }) => !OF_THE_DAY.includes(name));
  const each = compared.map((table) => digestQuery(warehouse.schema, table));
  const { rows } = await sql<{ name: string; digest: string }>`${sql.join(each, sql` union all `)}`.execute(
    warehouse.db,
  );
  const byTable = Object.fromEntries(
    rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, digest }) => [name, digest]),
  );
  return { digest: createHash('sha256').update(JSON.stringify(byTable)).digest('hex'), tables: byTable };
}

const digestQuery = (schema: string, table: Table) => {
  const isByDay = BY_DAY.has(table.name);
  const left = isByDay ? [...OF_THE_RUN, 'date'] : OF_THE_RUN;
  const columns = table.columns.filter(({ name }) => !left.includes(name)).map(({ name }) => sql.ref(name));
  return sql`select ${table.name}::text as name, count(*) || ' ' ||
    encode(sha256(convert_to(coalesce(string_agg(x::text, e'\n' order by x::text collate "C"), ''), 'UTF8')), 'hex') as digest
    from (select ${isByDay ? sql`distinct` : sql``} ${sql.join(columns)} from ${sql.table(`${schema}.${table.name}`)}) x`;
};

/** Returns the tables in which two warehouses differ. */
export function differences(one: Oracle, other: Oracle): string[] {
  const names = [...new Set([...Object.keys(one.tables), ...Object.keys(other.tables)])];
  return names.filter((name) => one.tables[name] !== other.tables[name]);
}
