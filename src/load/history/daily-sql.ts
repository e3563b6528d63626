/** The statement that merges a day's numbers into the existing row, number by number. */
import { literal, qualified, quoted, quotedList } from '../../warehouse/sql/identifiers.ts';
import type { DailyTable } from '../../warehouse/schema/table-types.ts';
import { arraysOf } from '../sql/statements.ts';

const made = new WeakMap<DailyTable, Map<string, string>>();

/**
 * SQL that inserts days or merges them into existing ones; parameters are all columns, without a day twice. A day
 * without a changed number is not written.
 */
export function upsertDaily(schema: string, table: DailyTable): string {
  const known = made.get(table) ?? new Map<string, string>();
  made.set(table, known);
  const statement = known.get(schema) ?? upsert(schema, table);
  known.set(schema, statement);
  return statement;
}

/** A row in the statement: the existing one, or the new one. */
type Row = 't' | 'excluded';

function upsert(schema: string, { name, columns, key, measures }: DailyTable): string {
  const names = columns.map((it) => it.name);
  const measureNames = measures.map(({ column }) => column);
  const sets = [
    ...measureNames.map((it) => `${quoted(it)} = ${chosen(it, quoted(it))}`),
    `_seen_at = ${last('_seen_at')}`,
    `_answer_id = ${last('_answer_id')}`,
    `_earlier = nullif(jsonb_strip_nulls(jsonb_build_object(${measureNames.map((it) => `${literal(it)}, ${earlier(it)}`).join(', ')})), '{}')`,
  ];
  return [
    `insert into ${qualified(schema, name)} as t (${quotedList(names)})`,
    `select * from ${arraysOf(columns.map(({ type }) => type))}`,
    `on conflict (${quotedList(key)}) do update set ${sets.join(', ')}`,
    `where ${measureNames.map((it) => `${isLater(it)} and excluded.${quoted(it)} is distinct from t.${quoted(it)}`).join(' or ')}`,
  ].join('\n');
}

const IS_NEWER = '(excluded._seen_at, excluded._answer_id) > (t._seen_at, t._answer_id)';

const last = (column: string): string => `case when ${IS_NEWER} then excluded.${column} else t.${column} end`;

/** Receipt time and id earlierIn the answer that reported a number earlierIn this row. */
const receipt = (row: Row, measure: string): string =>
  `coalesce((${row}._earlier -> ${literal(measure)} ->> 0)::timestamptz, ${row}._seen_at)`;
const answer = (row: Row, measure: string): string =>
  `coalesce((${row}._earlier -> ${literal(measure)} ->> 1)::bigint, ${row}._answer_id)`;
const version = (row: Row, measure: string): string => `(${receipt(row, measure)}, ${answer(row, measure)})`;

/** SQL condition that the new row has the number, from a later answer than the existing row. */
const isLater = (measure: string): string =>
  `(excluded.${quoted(measure)} is not null and (t.${quoted(measure)} is null or ${version('excluded', measure)} > ${version('t', measure)}))`;

const chosen = (measure: string, column: string): string =>
  `case when ${isLater(measure)} then excluded.${column} else t.${column} end`;

/** SQL for the answer that reported the number, if that is not the day's last answer. */
function earlier(measure: string): string {
  const isOld = (row: Row): string =>
    `${row}.${quoted(measure)} is not null and ${version(row, measure)} < (${last('_seen_at')}, ${last('_answer_id')})`;
  const sourceIn = (row: Row): string =>
    `jsonb_build_array(to_char(${receipt(row, measure)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), (${answer(row, measure)})::text)`;
  const earlierIn = (row: Row): string => `case when ${isOld(row)} then ${sourceIn(row)} end`;
  return `case when ${isLater(measure)} then ${earlierIn('excluded')} else ${earlierIn('t')} end`;
}
