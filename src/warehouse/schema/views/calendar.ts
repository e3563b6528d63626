/** The calendar for grouping days, and a view of the change logs of all kinds of entities. */
import type { RootTable } from '../table-types.ts';
import { rootTables } from '../tables.ts';
import { bigint, boolean, date, identifier, integer, personal, selection, text, timestamp, view } from './view.ts';

export const calendarViews = [
  selection(
    'dim_date',
    'Calendar: one row per day from 1990-01-01 to 2049-12-31. It begins before the first filing and the oldest profile.',
    ['date'],
    {
      date: date('Day.', 'd'),
      year: integer('Calendar year.', 'extract(year from d)::integer'),
      quarter: integer('Quarter of the year, from 1.', 'extract(quarter from d)::integer'),
      month: integer('Month of the year, from 1.', 'extract(month from d)::integer'),
      day: integer('Day of the month, from 1.', 'extract(day from d)::integer'),
      day_of_year: integer('Day of the year, from 1.', 'extract(doy from d)::integer'),
      iso_year: integer(
        'Year of the ISO week; differs from the calendar year around New Year.',
        'extract(isoyear from d)::integer',
      ),
      iso_week: integer('ISO week, from 1; weeks begin on Monday.', 'extract(week from d)::integer'),
      iso_weekday: integer('Day of the ISO week: 1 is Monday, 7 is Sunday.', 'extract(isodow from d)::integer'),
      weekday_name: text('Name of the weekday in English.', `to_char(d::timestamp, 'FMDay')`),
      weekday_short: text('First three letters of that name.', `to_char(d::timestamp, 'Dy')`),
      month_name: text('Name of the month in English.', `to_char(d::timestamp, 'FMMonth')`),
      month_short: text('First three letters of that name.', `to_char(d::timestamp, 'Mon')`),
      year_quarter: text('Year and quarter, such as 2026-Q1.', `to_char(d::timestamp, 'YYYY"-Q"Q')`),
      year_month: text('Year and month, such as 2026-03.', `to_char(d::timestamp, 'YYYY-MM')`),
      iso_year_week: text('ISO year and week, such as 2026-W10.', `to_char(d::timestamp, 'IYYY"-W"IW')`),
      is_weekend: boolean('Whether the day is a Saturday or a Sunday.', 'extract(isodow from d) > 5'),
      is_first_of_month: boolean('Whether it is the first day of its month.', 'extract(day from d) = 1'),
      is_last_of_month: boolean('Whether it is the last day of its month.', 'extract(day from d + 1) = 1'),
      first_of_week: date('Monday of the ISO week.', `date_trunc('week', d::timestamp)::date`),
      last_of_week: date('Sunday of the ISO week.', `date_trunc('week', d::timestamp)::date + 6`),
      first_of_month: date('First day of the month.', `date_trunc('month', d::timestamp)::date`),
      last_of_month: date(
        'Last day of the month.',
        `(date_trunc('month', d::timestamp) + interval '1 month - 1 day')::date`,
      ),
      first_of_quarter: date('First day of the quarter.', `date_trunc('quarter', d::timestamp)::date`),
      last_of_quarter: date(
        'Last day of the quarter.',
        `(date_trunc('quarter', d::timestamp) + interval '3 months - 1 day')::date`,
      ),
      first_of_year: date('First day of the year.', `date_trunc('year', d::timestamp)::date`),
      last_of_year: date(
        'Last day of the year.',
        `(date_trunc('year', d::timestamp) + interval '1 year - 1 day')::date`,
      ),
      days_in_month: integer(
        'Number of days in the month.',
        `extract(day from date_trunc('month', d::timestamp) + interval '1 month - 1 day')::integer`,
      ),
    },
    `
    from (select date '1990-01-01' + n as d from generate_series(0, 21914) as n) as days`,
  ),
  view(
    'attribute_changes',
    'Attribute changes of all entities: one row per change. Changes of list elements, and of rows that an answer removed, are not included.',
    ['table_name', 'entity_key', 'attribute', 'changed_at', 'answer_id'],
    {
      table_name: text('Table of the entity, such as pronet_users.'),
      entity_key: identifier(text('Key of the entity; colons separate its parts.')),
      entity_name: personal(text('Name of the entity; null if it has none or it is unknown.')),
      attribute: text('Name of the changed column.'),
      from_value: personal(text('Value before the change, as text; null if there was none.')),
      to_value: personal(text('Value after the change, as text; null if there is none.')),
      changed_at: timestamp('Receipt of the answer that showed the change.'),
      changed_on: date('UTC day of changed_at; joins dim_date.'),
      answer_id: bigint('Paid answer that showed the change; joins paid_answers.'),
    },
    rootTables.flatMap(changesOf).join('\n    union all'),
  ),
];

/** The changes of one kind of entity; none for a table without a change log. */
function changesOf({ name, key, changes, slots, resource }: RootTable): string[] {
  if (!changes) return [];
  const isRemovable = resource.owner !== undefined;
  const { entityKey } = changes;
  const isSame = key.map((column, index) => `e.${column} = c.${entityKey[index]}`).join(' and ');
  return [
    `
    select
      '${name}'::text as "table_name",
      ${entityKey.map((column) => `c.${column}`).join(" || ':' || ")} as "entity_key",
      ${slots.has('name') ? 'e.name' : 'null::text'} as "entity_name",
      c.attribute,
      c.from_value,
      c.to_value,
      c.changed_at,
      (c.changed_at at time zone 'UTC')::date as "changed_on",
      c._answer_id as "answer_id"
    from "${changes.name}" c
    join "${name}" e on ${isSame}${isRemovable ? ' and c.changed_at > e._first_seen_at' : ''}`,
  ];
}
