/** The statement that brings a day's numbers together with those that are there, number by number. */
import { literal, quoted, quotedList } from '../../warehouse/sql/identifiers.ts';
import type { DailyTable } from '../../warehouse/schema/table-types.ts';

const made = new WeakMap<DailyTable, Map<string, string>>();

/**
 * Days, added or brought together with those that are there; parameters are all columns, no day twice. A day of which no
 * number changes is not written.
 */
export function upsertDaily(schema: string, table: DailyTable): string {
  const known = made.get(table) ?? new Map<string, string>();
  made.set(table, known);
  const statement = known.get(schema) ?? upsert(schema, table);
  known.set(schema, statement);
  return statement;
}

/** A row in the statement: the one that is there, or the one that comes. */
type Row = 't' | 'excluded';

function upsert(schema: string, { name, columns, key, measures }: DailyTable): string {
  const names = columns.map((it) => it.name);
  const arrays = columns.map(({ type }, place) => `$${place + 1}::${type}[]`).join(', ');
  const told = measures.map(({ column }) => column);
  const sets = [
    ...told.map((it) => `${quoted(it)} = ${chosen(it, quoted(it))}`),
    `_seen_at = ${last('_seen_at')}`,
    `_answer_id = ${last('_answer_id')}`,
    `_earlier = nullif(jsonb_strip_nulls(jsonb_build_object(${told.map((it) => `${literal(it)}, ${earlier(it)}`).join(', ')})), '{}')`,
  ];
  return [
    `insert into ${quoted(schema)}.${quoted(name)} as t (${quotedList(names)})`,
    `select * from unnest(${arrays})`,
    `on conflict (${quotedList(key)}) do update set ${sets.join(', ')}`,
    `where ${told.map((it) => `${isLater(it)} and excluded.${quoted(it)} is distinct from t.${quoted(it)}`).join(' or ')}`,
  ].join('\n');
}

const IS_NEWER = '(excluded._seen_at, excluded._answer_id) > (t._seen_at, t._answer_id)';

const last = (column: string): string => `case when ${IS_NEWER} then excluded.${column} else t.${column} end`;

/** Receipt and id of the answer that told a number of this row. */
const receipt = (row: Row, measure: string): string =>
  `coalesce((${row}._earlier -> ${literal(measure)} ->> 0)::timestamptz, ${row}._seen_at)`;
const answer = (row: Row, measure: string): string =>
  `coalesce((${row}._earlier -> ${literal(measure)} ->> 1)::bigint, ${row}._answer_id)`;
const version = (row: Row, measure: string): string => `(${receipt(row, measure)}, ${answer(row, measure)})`;

/** True when the row that comes tells the number, and later than the one that is there. */
const isLater = (measure: string): string =>
  `(excluded.${quoted(measure)} is not null and (t.${quoted(measure)} is null or ${version('excluded', measure)} > ${version('t', measure)}))`;

const chosen = (measure: string, column: string): string =>
  `case when ${isLater(measure)} then excluded.${column} else t.${column} end`;

/** Who told the number, where that is not the day's last answer. */
function earlier(measure: string): string {
  const isOld = (row: Row): string =>
    `${row}.${quoted(measure)} is not null and ${version(row, measure)} < (${last('_seen_at')}, ${last('_answer_id')})`;
  const told = (row: Row): string =>
    `jsonb_build_array(to_char(${receipt(row, measure)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (${answer(row, measure)})::text)`;
  const of = (row: Row): string => `case when ${isOld(row)} then ${told(row)} end`;
  return `case when ${isLater(measure)} then ${of('excluded')} else ${of('t')} end`;
}
