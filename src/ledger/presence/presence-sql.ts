/** The statements that record presence, with arrays as parameters. */
import { hashesIn } from '../../warehouse/schema/entity-hash.ts';
import { quoted } from '../../warehouse/sql/identifiers.ts';

/**
 * The contents of answers, one row for each. Parameters, by answer: request key, endpoint, answer id, receipt, number of
 * items, whether it is complete, whether the requested name can move, and the hashes of its entities in hex.
 */
const NEW = `
  select
    n.request_key, n.endpoint, n.answer_id, n.received_at, n.received, n.is_complete, n.name_can_move,
    decode(n.hex, 'hex') as keys
  from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::bigint[], $6::boolean[], $7::boolean[], $8::text[])
    as n(request_key, endpoint, answer_id, received_at, received, is_complete, name_can_move, hex)`;

/**
 * SQL for the receipt of a complete answer to the question of `k`, if an entity that it does not contain is gone; null
 * if the name in the question may have moved to the entity that it contains.
 */
const goneAt = (answer: string): string =>
  `case when not k.name_can_move or ${answer}.received = 0 then ${answer}.received_at end`;

/**
 * SQL that records the contents of answers to new questions, and of newer answers with equal contents. It returns the
 * request keys of the other answers, whose questions it locks. No two answers may belong to one question.
 */
export const recordSame = (ops: string): string => `
with new as materialized (${NEW}),
done as (
  insert into ${quoted(ops)}.question_contents as q
    (request_key, endpoint, answer_id, received_at, is_complete, was_complete, keys)
  select request_key, endpoint, answer_id, received_at, is_complete, is_complete, keys
  from new
  -- Lock rows in one global order to avoid deadlocks.
  order by request_key
  on conflict (request_key) do update set
    answer_id = excluded.answer_id,
    received_at = excluded.received_at,
    is_complete = excluded.is_complete,
    was_complete = q.was_complete or excluded.was_complete
  where q.answer_id < excluded.answer_id and q.keys = excluded.keys and (q.is_complete or not excluded.is_complete)
  returning request_key
)
select json_build_object('key', request_key)::text as row
from new
where request_key not in (select request_key from done)`;

/**
 * SQL for the first complete answer to a question that was loaded before and is newer than an answer. A question has
 * the answers of all its requests, since an answer can serve several questions.
 */
const firstCompleteAfter = (ops: string, question: string): string => `
  select a.id, a.received_at, a.received
  from ${quoted(ops)}.requests r
  join ${quoted(ops)}.answers a on a.id = r.answer_id
  where r.request_key = ${question}.request_key and a.id > ${question}.answer_id and a.loaded_at is not null
    and not a.unreadable and a.quarantined = 0 and (a.asked is null or a.received < a.asked)
  order by a.id
  limit 1`;

/**
 * SQL that records the contents of answers in any order. Entities that a newer answer does not contain leave the
 * question, and those that it contains return to it. A late answer adds what only it contained, and can prove earlier
 * that an entity is gone. An answer that is loaded again, and in which more can be read, adds to its contents.
 */
export const recordChanged = (ops: string): string => `
with new as (${NEW}),
known as materialized (
  select
    n.*, q.answer_id as known_id, q.received_at as known_at, q.keys as known_keys,
    -- Whatever left before a complete answer was proven gone by it.
    q.is_complete and n.answer_id > q.answer_id as is_proven,
    array(${hashesIn('n.keys')} except ${hashesIn('q.keys')}) as added,
    array(${hashesIn('q.keys')} except ${hashesIn('n.keys')}) as missed
  from new n
  join ${quoted(ops)}.question_contents q on q.request_key = n.request_key
  where (q.answer_id, q.keys) is distinct from (n.answer_id, n.keys)
),
leaving as (
  insert into ${quoted(ops)}.left_entities as l
    (request_key, key, last_answer_id, last_seen_at, gone_answer_id, gone_at)
  select
    k.request_key, m.key, k.known_id, k.known_at,
    case when k.is_complete then k.answer_id end, case when k.is_complete then ${goneAt('k')} end
  from known k
  cross join lateral unnest(k.missed) as m(key)
  where k.answer_id > k.known_id
  union all
  select k.request_key, a.key, k.answer_id, k.received_at, g.id, ${goneAt('g')}
  from known k
  cross join lateral unnest(k.added) as a(key)
  left join lateral (${firstCompleteAfter(ops, 'k')}) g on true
  where k.answer_id < k.known_id
  on conflict (request_key, key) do update set
    last_answer_id = excluded.last_answer_id,
    last_seen_at = excluded.last_seen_at,
    gone_answer_id = excluded.gone_answer_id,
    gone_at = excluded.gone_at
  where l.last_answer_id < excluded.last_answer_id
),
returning_entities as (
  delete from ${quoted(ops)}.left_entities l
  using known k cross join lateral unnest(k.added) as a(key)
  where l.request_key = k.request_key and l.key = a.key and k.answer_id >= k.known_id
),
proven as (
  update ${quoted(ops)}.left_entities l set gone_answer_id = k.answer_id, gone_at = ${goneAt('k')}
  from known k
  where l.request_key = k.request_key and k.is_complete and not k.is_proven and l.last_answer_id < k.answer_id
    and (l.gone_answer_id is null or l.gone_answer_id > k.answer_id) and l.key <> all (k.added)
)
update ${quoted(ops)}.question_contents q set
  answer_id = greatest(k.answer_id, k.known_id),
  received_at = case when k.answer_id > k.known_id then k.received_at else q.received_at end,
  is_complete = case when k.answer_id >= k.known_id then k.is_complete else q.is_complete end,
  was_complete = q.was_complete or k.is_complete,
  keys = case
    when k.answer_id > k.known_id then k.keys
    when k.answer_id = k.known_id then (
      select coalesce(string_agg(all_keys.key, '' order by all_keys.key), '')
      from (${hashesIn('k.known_keys')} union select unnest(k.added)) as all_keys(key)
    )
    else q.keys
  end
from known k
where q.request_key = k.request_key and (k.answer_id >= k.known_id or k.is_complete and not q.was_complete)`;
