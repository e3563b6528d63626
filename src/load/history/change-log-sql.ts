/** The statements that write the change log, with arrays as parameters. */
import { qualified, quoted, quotedList, sameKey } from '../../warehouse/sql/identifiers.ts';
import type { ChangeTable, RootTable } from '../../warehouse/schema/table-types.ts';
import { arraysOf } from '../sql/statements.ts';

/** SQL that inserts changes and ignores existing ones. Parameters are all columns. */
export function insertChanges(schema: string, table: ChangeTable): string {
  const names = quotedList(table.columns.map(({ name }) => name));
  const arrays = arraysOf(table.columns.map(({ type }) => type));
  return `insert into ${qualified(schema, table.name)} (${names}) select * from ${arrays} on conflict do nothing`;
}

interface LoggedTable {
  readonly table: Pick<RootTable, 'name' | 'key'>;
  readonly log: ChangeTable;
}

/**
 * SQL that inserts the values of a late answer before the next known change. If the value equals that change's
 * `from_value`, nothing is new. If it equals its `to_value`, the change moves to the late answer. Otherwise there were
 * two changes. Without a later change the row has the value, which its last change reported: if the late value differs,
 * it came with the late answer and ended with that change. An answer before the first one of the row has no place.
 * Parameters are all columns, with the late value in `to_value`, then the value of the row, and whether that is known.
 */
export function insertLateChanges(schema: string, { table, log }: LoggedTable): string {
  const { name, columns, entityKey, key } = log;
  const changes = qualified(schema, name);
  const of = [...entityKey, 'attribute'];
  const entity = of.map((it) => `l.${quoted(it)}`).join(', ');
  const arrays = arraysOf([...columns.map(({ type }) => type), 'text', 'boolean']);
  const isNext = `n.is_logged and ${sameKey('c', of, 'n')} and c.changed_at = n.next_at and c._answer_id = n.next_id`;
  const subject = of.map((it) => `n.${quoted(it)}`).join(', ');
  return `with late as (
  select u.*, t._answer_id as row_id, t._changed_at as row_at
  from ${arrays} as u (${quotedList([...columns.map((it) => it.name), 'row_value', 'is_known'])})
  join ${qualified(schema, table.name)} t on ${sameKey('t', table.key, 'u', entityKey)} and t._first_seen_at < u.changed_at
), next as (
  select distinct on (${entity})
    ${entity}, l.changed_at, l.to_value as value, l._answer_id, c._answer_id is not null as is_logged,
    coalesce(c.changed_at, l.row_at) as next_at, coalesce(c._answer_id, l.row_id) as next_id,
    case when c._answer_id is null then l.row_value else c.from_value end as came_from,
    case when c._answer_id is null then l.row_value else c.to_value end as led_to
  from late l left join ${changes} c on ${sameKey('c', of, 'l')} and c._answer_id > l._answer_id
  where c._answer_id is not null or (l.is_known and l.row_id > l._answer_id and l.row_at > l.changed_at)
  order by ${entity}, c._answer_id
), gone as (
  delete from ${changes} c using next n
  where ${isNext} and n.value is distinct from n.came_from and n.value is not distinct from n.led_to
), split as (
  update ${changes} c set from_value = n.value from next n
  where ${isNext} and n.value is distinct from n.came_from and n.value is distinct from n.led_to
)
insert into ${changes} (${quotedList([...entityKey, 'attribute', 'changed_at', 'from_value', 'to_value', '_answer_id'])})
select ${subject}, n.changed_at, n.came_from, n.value, n._answer_id
from next n where n.value is distinct from n.came_from
union all
select ${subject}, n.next_at, n.value, n.led_to, n.next_id
from next n where not n.is_logged and n.value is distinct from n.led_to
on conflict (${quotedList(key)}) do nothing`;
}
