/** Views of presence: when each entity was last seen in an answer, and since when it is missing. One for each root table. */
import { catalog } from '../../../service/catalog.ts';
import { LOG_TABLE } from '../../../service/request-log/request-log.ts';
import { entityHashSql, HASH_BYTES, type Place } from '../entity-hash.ts';
import { resourcesOf } from '../resources.ts';
import type { RootTable } from '../table-types.ts';
import { rootTables } from '../tables.ts';
import { literal, quotedList } from '../../sql/identifiers.ts';
import { columnsOf, timestamp, view } from './view.ts';

/** The places in which answers contain the entities of a table. */
const placesOf = ({ name, resource }: RootTable): readonly Place[] => [
  ...(catalog.some(({ returns }) => returns.table === name) ? (['item'] as const) : []),
  ...(resource.shared ? (['nested'] as const) : []),
];

/** The endpoints whose answers can contain entities of the table. */
const endpointsOf = ({ resource }: RootTable): string =>
  catalog
    .filter((endpoint) => resourcesOf([endpoint]).includes(resource))
    .map(({ name }) => literal(name))
    .join(', ');

/** The hashes of a question are read once, and not again for each hash. */
function presenceView(table: RootTable) {
  const places = placesOf(table);
  const greatest = (column: string, more: readonly string[] = []): string =>
    `greatest(${[...more, ...places.map((place) => `"${place}".${column}`)].join(', ')})`;
  const isHeld = places.map((place) => `coalesce("${place}".is_held, false)`).join(' or ');
  // Only an item can prove by its absence that it is gone: what an item contains may be a part, such as recent posts.
  const { resource } = table;
  const isListed = places.includes('item');
  const missing = isListed
    ? `case when not (${isHeld}) and "item".gone_at > ${greatest('seen_at')} then ${greatest('gone_at')} end`
    : 'null::timestamptz';
  return view(
    `${table.name}_presence`,
    `When each row of ${table.name} was last seen in an answer, and since when it is missing: one row per ${table.resource.noun}.`,
    table.key,
    {
      ...columnsOf(table.name, ...table.key, '_first_seen_at'),
      _last_seen_at: timestamp(
        'Receipt of the newest answer that contained it; for a row that no answer since the upgrade contained, the receipt of the answer that last changed it.',
      ),
      _missing_since: timestamp(
        isListed
          ? `Receipt of the complete answer that showed that it is gone: the question that returned it no longer does, and neither does any other. Null while it is there, and while nothing proves that it is gone.${resource.names ? ` An alias or a URL that moved to another ${resource.noun} proves nothing.` : ''}`
          : 'Always null: answers contain it only inside other entities, so its absence proves nothing.',
      ),
    },
    `
    with "seen" as (
      select
        substring(c.keys from ${HASH_BYTES} * i + 1 for ${HASH_BYTES}) as "key",
        q.received_at as "seen_at",
        null::timestamptz as "gone_at",
        q.was_complete as "is_held"
      from "question_contents" q
      cross join lateral (select q.keys || ''::bytea as "keys" offset 0) c
      cross join lateral generate_series(0, octet_length(c.keys) / ${HASH_BYTES} - 1) as i
      where q.endpoint in (${endpointsOf(table)})
      union all
      select l.key, l.last_seen_at, l.gone_at, l.gone_answer_id is null and q.was_complete
      from "left_entities" l join "question_contents" q on q.request_key = l.request_key
      where q.endpoint in (${endpointsOf(table)})
    ),
    "entity" as (
      select s.key, max(s.seen_at) as "seen_at", max(s.gone_at) as "gone_at", bool_or(s.is_held) as "is_held"
      from "seen" s group by s.key
    )
    select
      ${[...table.key, '_first_seen_at'].map((name) => `t.${quotedList([name])}`).join(', ')},
      ${greatest('seen_at', ['t._changed_at'])} as "_last_seen_at",
      ${missing} as "_missing_since"
    from "${table.name}" t
    ${places.map((place) => `left join "entity" "${place}" on "${place}".key = ${entityHashSql(table, place)}`).join('\n    ')}`,
  );
}

/** The views, by table. */
export const presenceViews = rootTables.filter(({ name }) => name !== LOG_TABLE).map(presenceView);
