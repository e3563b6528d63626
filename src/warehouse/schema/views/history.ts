/** Views of history: each entity as it was, one row for each version. Derived from the rows and their change logs. */
import { literal, quoted } from '../../sql/identifiers.ts';
import type { ChangeTable, RootTable } from '../table-types.ts';
import { rootTables } from '../tables.ts';
import { boolean, columnFrom, columnsOf, timestamp, view } from './view.ts';

/** A logged column, as the view shows it. */
interface Attribute {
  readonly name: string;
  readonly type: string;
  /** The name in the view; that of a digest differs from that of the text. */
  readonly shown: string;
  /** SQL of the present value. */
  readonly current: string;
}

function attributesOf({ columns }: RootTable, { attributes, digested }: ChangeTable): Attribute[] {
  return attributes.map((name) => {
    const current = `t.${quoted(name)}`;
    if (digested.includes(name))
      return {
        name,
        type: 'text',
        shown: `${name}_sha256`,
        current: `encode(sha256(convert_to(${current}, 'UTF8')), 'hex')`,
      };
    return { name, type: columns.find((it) => it.name === name)?.type ?? 'text', shown: name, current };
  });
}

/**
 * The view of one table. The value of an attribute in a version is that before its next change, and the present one if
 * there is none. Changes are collected from the newest to the oldest, so that the oldest change of an attribute since a
 * version wins.
 */
function historyView(table: RootTable, log: ChangeTable) {
  const { name, key } = table;
  const attributes = attributesOf(table, log);
  const entity = log.entityKey.map(quoted).join(', ');
  const isEntity = (other: string): string =>
    key.map((column, index) => `${other}.${quoted(log.entityKey[index] ?? '')} = t.${quoted(column)}`).join(' and ');
  const shownKey = key.map((column) => `t.${quoted(column)}`);
  const before = attributes.map(
    (it) =>
      `case when b.before ? ${literal(it.name)} then r.${quoted(it.name)} else ${it.current} end as ${quoted(it.shown)}`,
  );
  return view(
    `${name}_history`,
    `${table.resource.about.replace(/\.$/, '')}, as they were: one row per ${table.resource.noun} and version. A version begins when an answer shows a change. Daily numbers and image addresses are not included.`,
    [...key, 'valid_from'],
    {
      ...columnsOf(name, ...key),
      valid_from: timestamp('Receipt of the answer that showed this version first.'),
      valid_to: timestamp('Receipt of the answer that showed the next version; null for the current one.'),
      is_current: boolean('Whether it is the current version.'),
      ...Object.fromEntries(
        attributes.map(({ name: column, shown }) => {
          const { about, type, personal } = columnFrom(name, column);
          return [shown, { type, personal, about: shown === column ? about : `SHA-256, in hex, of: ${about}` }];
        }),
      ),
    },
    `
    with "past" as (
      select distinct on (${entity}, changed_at) ${entity}, changed_at, before
      from (
        select ${entity}, changed_at, _answer_id,
          jsonb_object_agg(attribute, from_value) over (partition by ${entity} order by changed_at desc, _answer_id desc) as "before"
        from ${quoted(log.name)}
      ) as "each"
      order by ${entity}, changed_at, _answer_id
    )
    select
      ${[...shownKey, ''].join(',\n      ')}coalesce(lag(b.changed_at) over (partition by ${shownKey.join(', ')} order by b.changed_at), t._first_seen_at) as "valid_from",
      b.changed_at as "valid_to",
      false as "is_current",
      ${before.join(',\n      ')}
    from "past" b
    join ${quoted(name)} t on ${isEntity('b')} and b.changed_at > t._first_seen_at
    cross join lateral jsonb_to_record(b.before) as r(${attributes.map((it) => `${quoted(it.name)} ${it.type}`).join(', ')})
    union all
    select
      ${[...shownKey, ''].join(',\n      ')}greatest(t._first_seen_at, l.changed_at),
      null,
      true,
      ${attributes.map((it) => it.current).join(',\n      ')}
    from ${quoted(name)} t
    left join (
      select ${entity}, max(changed_at) as "changed_at" from ${quoted(log.name)} group by ${entity}
    ) l on ${isEntity('l')}`,
  );
}

/** The views, by table. */
export const historyViews = rootTables.flatMap((table) => (table.changes ? [historyView(table, table.changes)] : []));
