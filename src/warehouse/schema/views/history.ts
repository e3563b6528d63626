/**
 * Views of history: each entity and each element of a keyed list as it was, one row for each version. Derived from the
 * rows and their change logs.
 */
import { literal, quoted, sameKey } from '../../sql/identifiers.ts';
import { CAME, lastCame } from '../history-tables.ts';
import type { ChangeTable, ChildTable, DailyTable, RootTable, Table } from '../table-types.ts';
import { rootTables } from '../tables.ts';
import { boolean, columnFrom, columnsOf, timestamp, view } from './view.ts';

interface Logged {
  readonly table: RootTable | ChildTable;
  readonly log: ChangeTable;
  /** The noun for a row, such as "user". */
  readonly noun: string;
  /** SQL for the present rows, each with the time at which it came. */
  readonly rows: string;
  /** The daily numbers that the view adds. */
  readonly daily: DailyTable | undefined;
  /** Whether answers remove rows. */
  readonly isRemovable: boolean;
  /** What the comment says of removed rows, and of the other columns that the view lacks. */
  readonly about: string;
}

/** A column of the view. `now` and `before` are SQL: the present value, and that of the version before a change. */
interface ShownColumn {
  readonly name: string;
  readonly about: ReturnType<typeof columnFrom>;
  readonly now: string;
  readonly before: string;
}

function columnsIn({ table, log, daily }: Logged): ShownColumn[] {
  const shown = table.columns.filter(({ name }) => log.attributes.includes(name) || isNumberOf(daily, name));
  return shown.map(({ name, type }): ShownColumn => {
    const about = columnFrom(table.name, name);
    const now = `t.${quoted(name)}`;
    if (daily && isNumberOf(daily, name))
      return { name, about: { ...about, about: numberAbout(about.about) }, now, before: numberBefore(daily, name) };
    if (!log.digested.includes(name)) return { name, about, now, before: valueBefore(name, type, now) };
    const digest = `encode(sha256(convert_to(${now}, 'UTF8')), 'hex')`;
    return {
      name: digestName(name),
      about: { ...about, type: 'text', about: `SHA-256, in hex, of: ${about.about}` },
      now: digest,
      before: valueBefore(name, 'text', digest),
    };
  });
}

const digestName = (name: string): string => `${name}_sha256`;

/** The columns that the view of a table has beside those of the table; none if it has no view. */
export function namesAddedByHistory({ name }: Pick<Table, 'name'>): readonly string[] {
  const logs = rootTables.flatMap((it) => [it, ...it.children]).filter((it) => it.name === name);
  return logs.flatMap(({ changes }) =>
    changes ? ['valid_from', 'valid_to', 'is_current', ...changes.digested.map(digestName)] : [],
  );
}

const isNumberOf = (daily: DailyTable | undefined, name: string): boolean =>
  daily?.measures.some(({ column, sum }) => column === name && !sum) === true;

/** SQL for the value before a change: that before the next change of the attribute, or else the present value. */
const valueBefore = (name: string, type: string, now: string): string =>
  `case when b.before ? ${literal(name)} then (b.before ->> ${literal(name)})::${type} else ${now} end`;

/** SQL for the last daily number that no answer changed before the version ended. */
const numberBefore = ({ name: table, entityKey }: DailyTable, name: string): string =>
  `(select d.${quoted(name)} from ${quoted(table)} d where ${sameKey('d', entityKey, 'b')} and d._seen_at < b.changed_at and d.${quoted(name)} is not null order by d.date desc limit 1)`;

const numberAbout = (about: string): string =>
  `${about} At the end of the version, by the daily numbers; null if a later answer of the same day changed it, and no earlier day is known. It begins no version.`;

/**
 * The view of one table. The value of an attribute in a version is that before its next change, and the present one if
 * there is none. Changes are collected from the newest to the oldest, so that the oldest change of an attribute since a
 * version wins. The time at which the row came is such an attribute too; without one, there was no row.
 */
function historyView(logged: Logged) {
  const { table, log, noun, rows, about } = logged;
  const { name, key } = table;
  const shown = columnsIn(logged);
  const entity = log.entityKey.map(quoted).join(', ');
  const pastKey = log.entityKey.map((column) => `b.${quoted(column)}`);
  const came = `t.${quoted(CAME)}`;
  const cameBefore = valueBefore(CAME, 'timestamptz', came);
  // Values of a later row of the same key must not appear in an earlier one, so each time that a row existed is a life.
  const life = logged.isRemovable ? `${entity}, "life"` : entity;
  const lives = `(
          select *, count(*) filter (where attribute = ${literal(CAME)} and to_value is null)
            over (partition by ${entity} order by changed_at desc, _answer_id desc) as "life"
          from ${quoted(log.name)}
        ) as "lives"`;
  const isPresent = logged.isRemovable ? ' and b.life = 0' : '';
  const lines = (...columns: readonly string[]): string => columns.join(',\n      ');
  return view(
    `${name}_history`,
    `${table.about.replace(/\.(?: One row per element\.)?$/, '')}, as they were: one row per ${noun} and version. A version begins when an answer shows a change. Image addresses are not included.${about}${referencesByTime(table)}`,
    [...key, 'valid_from'],
    {
      ...columnsOf(name, ...key),
      valid_from: timestamp('Receipt of the answer that showed this version first.'),
      valid_to: timestamp(
        'Receipt of the answer that showed the next version, or that showed that there is none; null for the current one.',
      ),
      is_current: boolean('Whether it is the current version.'),
      ...Object.fromEntries(shown.map((it) => [it.name, it.about])),
    },
    `
    with "past" as (
      select distinct on (${entity}, changed_at) ${life}, changed_at, before
      from (
        select ${life}, changed_at, _answer_id,
          jsonb_object_agg(attribute, from_value) over (partition by ${life} order by changed_at desc, _answer_id desc) as "before"
        from ${logged.isRemovable ? lives : quoted(log.name)}
      ) as "each"
      order by ${entity}, changed_at, _answer_id
    )
    select
      ${lines(
        ...key.map((column, index) => `${pastKey[index]} as ${quoted(column)}`),
        `greatest(lag(b.changed_at) over (partition by ${pastKey.join(', ')} order by b.changed_at), ${cameBefore}) as "valid_from"`,
        'b.changed_at as "valid_to"',
        'false as "is_current"',
        ...shown.map((it) => `${it.before} as ${quoted(it.name)}`),
      )}
    from "past" b
    left join ${rows} t on ${sameKey('b', log.entityKey, 't', key)}${isPresent}
    where b.changed_at > ${cameBefore}
    union all
    select
      ${lines(
        ...key.map((column) => `t.${quoted(column)}`),
        `greatest(${came}, l.changed_at)`,
        'null',
        'true',
        ...shown.map((it) => it.now),
      )}
    from ${rows} t
    left join (
      select ${entity}, max(changed_at) as "changed_at" from ${quoted(log.name)} group by ${entity}
    ) l on ${sameKey('l', log.entityKey, 't', key)}`,
  );
}

/** What the comment says of the views that the table's foreign keys lead to. */
function referencesByTime({ foreignKeys }: RootTable | ChildTable): string {
  const to = foreignKeys.filter(({ table }) => rootTables.some(({ name, changes }) => changes && name === table));
  if (to.length === 0) return '';
  return ` Foreign keys by time: ${to.map(({ columns, table }) => `${columns.join(', ')} to ${table}_history`).join('; ')}.`;
}

function rootView(table: RootTable, log: ChangeTable) {
  const { resource, daily } = table;
  const isRemovable = resource.owner !== undefined;
  const about = isRemovable ? ' A row that a complete answer no longer lists has no current version.' : '';
  return historyView({ table, log, noun: resource.noun, rows: quoted(table.name), daily, isRemovable, about });
}

/** An element has the time of its own log, or else that of its parent. */
function listView(parent: RootTable, table: ChildTable, log: ChangeTable) {
  const isParent = table.parentKey.map((name, at) => `p.${quoted(parent.key[at] ?? '')} = e.${quoted(name)}`);
  const rows = `(
      select e.*, coalesce((${lastCame(quoted(log.name), log, 'e')})::timestamptz, p._first_seen_at) as ${quoted(CAME)}
      from ${quoted(table.name)} e
      join ${quoted(parent.name)} p on ${isParent.join(' and ')}
    )`;
  return historyView({
    table,
    log,
    noun: 'element',
    rows,
    daily: undefined,
    isRemovable: true,
    about: ` A version ends without a next one when an answer shows the list without the element. An answer without the list changes nothing.`,
  });
}

/** The views, by table. */
export const historyViews = rootTables.flatMap((table) => [
  ...(table.changes ? [rootView(table, table.changes)] : []),
  ...table.children.flatMap((it) => (it.changes ? [listView(table, it, it.changes)] : [])),
]);
