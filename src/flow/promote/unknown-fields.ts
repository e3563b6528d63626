/** Reads the fields that answers contain and that no declaration has. Their values are in `extra`. */
import { sql } from 'kysely';
import { parseExact } from '../../service/exact-json.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { namesAddedByHistory } from '../../warehouse/schema/views/history.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { type FieldPlace, placeInAnswer } from './field-place.ts';
import { suggestedType } from './field-type.ts';

/** A field that answers contain and that no declaration has. */
export interface UnknownField extends FieldPlace {
  /** The names below the row of its table, joined by dots. */
  readonly field: string;
  /** The column that it would be. */
  readonly column: string;
  /** Answers that contain it. */
  readonly answers: number;
  /** A JSON type that was found. */
  readonly sampleType: string;
  readonly lastSeenAt: Date;
}

/** A field that should be a column, as status shows it. */
export interface Proposal {
  readonly table: string;
  readonly field: string;
  readonly column: string;
  readonly answers: number;
  readonly type: string;
  readonly lastSeenAt: Date;
  /** The command that makes it a column. */
  readonly command: string;
}

export interface Proposals {
  /** Unknown fields in many answers, which can become columns: at most 20, those in most answers first. */
  readonly proposals: readonly Proposal[];
  /** The number of all these fields. */
  readonly proposedFields: number;
}

/**
 * Fields in more answers than this are proposed. Few answers can be a trial of the service, and a column stays; a greater
 * number would delay the proposal for syncs that run weekly.
 */
const PROPOSED_ABOVE = 3;
const MOST_PROPOSALS = 20;

/** Rows that are looked through for values, so that a large table takes no longer. */
const MOST_ROWS = 1000;

type Target = Pick<Warehouse, 'db' | 'schema' | 'ops'>;

/** Every unknown field that could be a column, those in most answers first. */
export async function readUnknownFields(warehouse: Target): Promise<readonly UnknownField[]> {
  const rows = await operationsOf(warehouse)
    .selectFrom('drift')
    .select(['resource', 'path', 'answers', 'sample_type', 'last_seen_at'])
    .where('kind', '=', 'unknown field')
    .orderBy('resource')
    .orderBy('path')
    .execute();
  const found = new Map<string, UnknownField>();
  for (const { resource, path: joined, answers, sample_type: sampleType, last_seen_at: at } of rows) {
    const place = placeInAnswer(resource, joined.split('.'));
    if (!place) continue;
    const field = place.path.join('.');
    const id = `${place.at.table.name} ${field}`;
    // The same field can be in the answers of several endpoints.
    const known = found.get(id);
    found.set(id, {
      ...place,
      field,
      column: place.path.join('_'),
      answers: Number(answers ?? 1) + (known?.answers ?? 0),
      sampleType: known?.sampleType ?? sampleType,
      lastSeenAt: known && known.lastSeenAt > at ? known.lastSeenAt : at,
    });
  }
  return [...found.values()].toSorted((a, b) => b.answers - a.answers);
}

/** The reason why a field cannot be a column; undefined if it can. */
export function obstacleTo({
  at: { table },
  path,
  column,
}: Pick<UnknownField, 'at' | 'path' | 'column'>): string | undefined {
  if (path.some((name) => !COLUMN.test(name)))
    return 'its name is not a column name: small letters, digits and _, with a letter first';
  if (path.some((name) => name in Object.prototype)) return 'every JavaScript object has a property of its name';
  if (column.length > LONGEST_COLUMN) return `the column name would have more than ${LONGEST_COLUMN} characters`;
  if ([column, `${column}_epoch`].some((name) => table.columns.some((it) => it.name === name)))
    return `${table.name} already has a column ${column}, of another field`;
  if (namesAddedByHistory(table).includes(column)) return `the view ${table.name}_history has a column of its name`;
  return undefined;
}

const COLUMN = /^[a-z][a-z0-9_]*$/;
/** Postgres cuts longer names. An epoch has a column with six more characters. */
const LONGEST_COLUMN = 57;

/** At most 20 unknown fields in many answers, with the types that their values suggest, and the number of all such fields. */
export async function readProposals(warehouse: Target): Promise<Proposals> {
  const fields = (await readUnknownFields(warehouse)).filter(
    (it) => it.answers > PROPOSED_ABOVE && obstacleTo(it) === undefined,
  );
  const proposals: Proposal[] = [];
  for (const it of fields.slice(0, MOST_PROPOSALS)) {
    const { field, column, answers, lastSeenAt, sampleType } = it;
    const table = it.at.table.name;
    const { sql: type, constructor: word } = suggestedType(await sampleValues(warehouse, it), sampleType);
    const typed = type.includes(' ') ? word : type;
    const command = `sluice promote ${table} ${field} ${typed}`;
    proposals.push({ table, field, column, answers, type, lastSeenAt, command });
  }
  return { proposals, proposedFields: fields.length };
}

/** Values of the field in some rows of its table, without nulls. */
export async function sampleValues(
  { db, schema }: Target,
  { at: { table }, path }: FieldPlace,
): Promise<readonly unknown[]> {
  const { rows } = await sql<{ value: string }>`
    select value::text as value from (
      select extra #> ${arrayLiteral(path)}::text[] as value
      from (select extra from ${sql.id(schema, table.name)} where extra is not null limit ${sql.lit(MOST_ROWS)}) r
    ) v where value <> 'null'::jsonb`.execute(db);
  return rows.map(({ value }) => parseExact(value));
}
