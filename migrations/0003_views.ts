/** The views for analysts on what the machinery knows. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

/** Runs with its owner's rights, so that an analyst needs none on the operations schema. */
const SYNC_INPUTS = `create view "sync_inputs" as
  select
    request.sync,
    request.endpoint,
    request.request_key,
    request.input,
    case
      when request.state not in ('fresh', 'loaded') then request.state
      when answer.loaded_at is null then 'stored'
      when answer.status = 412 then 'missing'
      when answer.received = 0 then 'empty'
      when answer.quarantined = answer.received then 'quarantined'
      when answer.loaded = 0 and answer.unchanged > 0 then 'unchanged'
      else 'loaded'
    end as outcome,
    coalesce(answer.received_at, request.finished_at, request.sent_at, request.planned_at) as at,
    request.answer_id,
    request.error
  from (
    select distinct on (request_key, sync) *
    from "requests"
    order by request_key desc, sync desc, id desc
  ) as request
  left join "answers" as answer on answer.id = request.answer_id`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(SYNC_INPUTS).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop view "sync_inputs"`.execute(db);
}
