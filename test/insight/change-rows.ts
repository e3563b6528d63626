/** Changes of the rows that sums by day depend on, as a user or the program could make them. */
import * as fc from 'fast-check';
import { BEGAN, DAY_MS, machinery } from './cost-history.ts';

/** SQL for one row of a relation, which a number picks. */
const one = (relation: string, key: string, pick: number): string =>
  `(select ${key} from ${relation} order by md5(${key}::text || '${pick}') limit 1)`;

/** Places a change in a history: a number that picks rows, and an instant, which is recent in some cases. */
interface Draw {
  readonly pick: number;
  readonly at: string;
}

const values = (at: string): string =>
  Object.values(machinery(Date.parse(at)))
    .map((it) => `'${it}'`)
    .join(', ');
const GROUP_COLUMNS = `urn_type, urn_value, ${Object.keys(machinery(0)).join(', ')}`;
const LOG = 'sluice.fact_request_costs';
const OPS = 'sluice_ops';

const CHANGES: readonly ((draw: Draw) => string)[] = [
  ({ pick, at }) =>
    `insert into ${LOG} (id, cost, is_paid, started_at, token_id, points_left, ${Object.keys(machinery(0)).join(', ')})
     values (md5('new ${pick} ${at}')::uuid, 3, true, ${pick % 4 === 0 ? 'null' : `'${at}'`}, null, ${pick}, ${values(at)}) on conflict do nothing`,
  ({ pick }) => `update ${LOG} set cost = coalesce(cost, 0) + 1 where id = ${one(LOG, 'id', pick)}`,
  ({ pick, at }) => `update ${LOG} set started_at = '${at}' where id = ${one(LOG, 'id', pick)}`,
  ({ pick, at }) => `update ${LOG} set _first_seen_at = '${at}' where id = ${one(LOG, 'id', pick)}`,
  ({ pick }) => `update ${LOG} set response_status_code = 500, is_paid = true where id = ${one(LOG, 'id', pick)}`,
  ({ pick }) => `delete from ${LOG} where id = ${one(LOG, 'id', pick)}`,
  ({ pick, at }) =>
    `insert into ${OPS}.request_cost_matches (request_id, log_id, match_kind, matched_at)
     select id, ${one(LOG, 'id', pick)}, '${pick % 3 === 0 ? 'ambiguous' : 'in_order'}', '${at}'
     from ${OPS}.requests where id = ${one(`${OPS}.requests`, 'id', pick)} and exists (select from ${LOG}) on conflict do nothing`,
  ({ pick }) =>
    `update ${OPS}.request_cost_matches set match_kind = 'ambiguous' where log_id = ${one(`${OPS}.request_cost_matches`, 'log_id', pick)}`,
  ({ pick }) =>
    `delete from ${OPS}.request_cost_matches where log_id = ${one(`${OPS}.request_cost_matches`, 'log_id', pick)}`,
  ({ pick }) =>
    `update ${OPS}.requests set points = ${pick}, charged = ${pick} where id = ${one(`${OPS}.requests`, 'id', pick)}`,
  ({ pick, at }) =>
    `update ${OPS}.requests set sent_at = '${at}', attempts = attempts + 1 where id = ${one(`${OPS}.requests`, 'id', pick)}`,
  ({ pick }) => `update ${OPS}.requests set sync = 'moved' where id = ${one(`${OPS}.requests`, 'id', pick)}`,
  ({ pick, at }) =>
    `update ${OPS}.requests set planned_at = '${at}', answer_id = null where id = ${one(`${OPS}.requests`, 'id', pick)}`,
  ({ pick }) =>
    `with gone as (delete from ${OPS}.answers where request_id = ${one(`${OPS}.requests`, 'id', pick)})
     delete from ${OPS}.requests where id = ${one(`${OPS}.requests`, 'id', pick)}`,
  ({ pick }) =>
    `update ${OPS}.answers set loaded = coalesce(loaded, 0) + 1, quarantined = 0 where id = ${one(`${OPS}.answers`, 'id', pick)}`,
  ({ pick }) => `update ${OPS}.answers set loaded_at = null where id = ${one(`${OPS}.answers`, 'id', pick)}`,
  ({ pick, at }) => `update ${OPS}.answers set received_at = '${at}' where id = ${one(`${OPS}.answers`, 'id', pick)}`,
  ({ pick, at }) => `
    with made as (
      insert into ${OPS}.answers (request_id, run_id, sync, endpoint, request_key, received_at, took_ms, status, headers, encoding, sha256, bytes)
      select id, run_id, sync, endpoint, request_key, '${at}', 100, 200, '{}', 'identity', '', 0 from ${OPS}.requests
      where id = ${one(`${OPS}.requests`, 'id', pick)} returning id, request_id
    )
    update ${OPS}.requests q set answer_id = m.id, attempts = greatest(q.attempts, 1) from made m where q.id = m.request_id`,
  ({ pick }) => `delete from ${OPS}.answers where id = ${one(`${OPS}.answers`, 'id', pick)}`,
  // Retention and erasure keep the figures.
  ({ pick }) =>
    `update ${OPS}.answers set body = null, pruned_at = now() where id = ${one(`${OPS}.answers`, 'id', pick)}`,
  ({ pick, at }) =>
    `insert into sluice.pronet_groups (${GROUP_COLUMNS}) values ('group', 'new ${pick}', ${values(at)}) on conflict do nothing`,
  ({ pick }) =>
    `insert into sluice.pronet_groups (${GROUP_COLUMNS})
     select 'group', 'of ${pick}', received_at, received_at, 1, id, '', '' from ${OPS}.answers where id = ${one(`${OPS}.answers`, 'id', pick)} on conflict do nothing`,
  ({ pick, at }) =>
    `update sluice.pronet_groups set _first_seen_at = '${at}' where urn_value = ${one('sluice.pronet_groups', 'urn_value', pick)}`,
  ({ pick }) => `delete from sluice.pronet_groups where urn_value = ${one('sluice.pronet_groups', 'urn_value', pick)}`,
  ({ pick }) => (pick === 0 ? `truncate ${OPS}.request_cost_matches` : 'select 1'),
];

const change = fc
  .record({
    kind: fc.nat(CHANGES.length - 1),
    pick: fc.nat(9),
    day: fc.integer({ min: 0, max: 89 }),
    // A tenth is recent, where nothing is stored.
    ageHours: fc.option(fc.integer({ min: 0, max: 96 }), { freq: 9 }),
  })
  .map(({ kind, pick, day, ageHours }) => {
    const at = ageHours === null ? BEGAN + day * DAY_MS + pick * 3_600_000 : Date.now() - ageHours * 3_600_000;
    return {
      kind: 'change' as const,
      statement: (CHANGES[kind] as (draw: Draw) => string)({ pick, at: new Date(at).toISOString() }),
    };
  });

/** A change, a transaction with several changes of which the first is taken back, or the storing of the sums of some days. */
export const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: change },
    {
      weight: 1,
      arbitrary: fc.tuple(change, change).map(([undone, kept]) => ({ kind: 'half' as const, undone, kept })),
    },
    { weight: 1, arbitrary: fc.constantFrom(3, 40, 400).map((days) => ({ kind: 'close' as const, days })) },
  ),
  { minLength: 1, maxLength: 12 },
);
