/** The statements that write the change log, with arrays as parameters. */
import { quoted, quotedList } from '../../warehouse/sql/identifiers.ts';
import type { ChangeTable } from '../../warehouse/schema/table-types.ts';

const arraysOf = ({ columns }: ChangeTable): string =>
  `unnest(${columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')})`;

/** SQL that inserts changes and ignores existing ones. Parameters are all columns. */
export function insertChanges(schema: string, table: ChangeTable): string {
  const names = quotedList(table.columns.map(({ name }) => name));
  return `insert into ${quoted(schema)}.${quoted(table.name)} (${names}) select * from ${arraysOf(table)} on conflict do nothing`;
}

/**
 * SQL that inserts the values of a late answer before the next known change. If the value equals that change's
 * `from_value`, nothing is new. If it equals its `to_value`, the change moves to the late answer. Otherwise there were
 * two changes. Without a later change nothing is written, since the earlier value is unknown. Parameters are all
 * columns, with the late value in `to_value`.
 */
export function insertLateChanges(schema: string, log: ChangeTable): string {
  const { name, columns, entityKey, key } = log;
  const table = `${quoted(schema)}.${quoted(name)}`;
  const of = [...entityKey, 'attribute'];
  const same = (a: string, b: string, by: readonly string[]): string =>
    by.map((it) => `${a}.${quoted(it)} = ${b}.${quoted(it)}`).join(' and ');
  const entity = of.map((it) => `l.${quoted(it)}`).join(', ');
  const isNext = `${same('c', 'n', of)} and c.changed_at = n.next_at and c._answer_id = n.next_id`;
  return `with late as (
  select * from ${arraysOf(log)} as u (${quotedList(columns.map((it) => it.name))})
), next as (
  select distinct on (${entity})
    ${entity}, l.changed_at, l.to_value as value, l._answer_id,
    c.changed_at as next_at, c._answer_id as next_id, c.from_value as came_from, c.to_value as led_to
  from late l join ${table} c on ${same('c', 'l', of)} and c._answer_id > l._answer_id
  order by ${entity}, c._answer_id
), gone as (
  delete from ${table} c using next n
  where ${isNext} and n.value is distinct from n.came_from and n.value is not distinct from n.led_to
), split as (
  update ${table} c set from_value = n.value from next n
  where ${isNext} and n.value is distinct from n.came_from and n.value is distinct from n.led_to
)
insert into ${table} (${quotedList([...entityKey, 'attribute', 'changed_at', 'from_value', 'to_value', '_answer_id'])})
select ${of.map((it) => `n.${quoted(it)}`).join(', ')}, n.changed_at, n.came_from, n.value, n._answer_id
from next n where n.value is distinct from n.came_from
on conflict (${quotedList(key)}) do nothing`;
}
