/**
 * A run whose process died is shown as interrupted as soon as its lease has expired, without a process that writes it
 * down. Ends and receipts in the database's future are no proof of freshness, and a run that ended before its start has no
 * duration: both come from a process whose clock was wrong. Answers of other syncs that serve a sync count as its answers.
 */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

/** True of a run that no live process works on: a run is held by its process, or by itself while workers share it. */
const DIED = `(r.state = 'running' and not exists (
      select from "leases" l where l.expires_at >= now() and l.holder in (r.holder, 'run/' || r.id)
    ))`;

interface RunText {
  readonly state: string;
  readonly error: string;
  readonly duration: string;
  /** Condition of ends that count. */
  readonly known: string;
}

const BEFORE: RunText = {
  state: 'r.state',
  error: 'r.error',
  duration: 'extract(epoch from r.ended_at - r.started_at)::double precision',
  known: '',
};

const AFTER: RunText = {
  state: `case when ${DIED} then 'interrupted' else r.state end`,
  error: `case when ${DIED} then 'its process died before the run ended; the next sync continues it' else r.error end`,
  duration: `case when r.ended_at >= r.started_at then ${BEFORE.duration} end`,
  known: ` and e.ended_at <= now() + interval '1 minute'`,
};

const runs = ({ state, error, duration }: RunText): string => `create or replace view "sync_runs" as
  select
    r.id as "run_id", r.sync, r.endpoint, ${state} as "state", r.exit_code, r.started_at, r.ended_at,
    ${duration} as "duration_s",
    r.planned, r.fresh, r.asked, r.stored, r.received, r.loaded, r.unchanged, r.superseded, r.quarantined, r.failed,
    r.missing, r.truncated, r.points, ${error} as "error", r.changed, r.unreadable
  from "runs" r where strpos(r.sync, ':') = 0`;

const costs = ({ state }: RunText): string => `create or replace view "run_costs" as
  select
    r.id as "run_id",
    split_part(r.sync, ':', 1) as "sync",
    r.endpoint,
    r.started_at,
    (r.started_at at time zone 'UTC')::date as "date",
    ${state} as "state",
    coalesce(l.requests, 0) as "requests",
    coalesce(l.points, 0) as "points",
    coalesce(l.failed_points, 0) as "failed_points",
    r.points as "ledger_points",
    case when jsonb_typeof(r.quote -> 'likely') = 'number' then (r.quote ->> 'likely')::numeric end as "quoted_points",
    coalesce(a.received, 0) as "received",
    coalesce(a.loaded, 0) as "loaded",
    coalesce(a.new_rows, 0) as "new_rows",
    coalesce(a.nothing_new_points, 0) as "nothing_new_points",
    (coalesce(l.points, r.points) / nullif(a.loaded, 0))::double precision as "points_per_loaded",
    (coalesce(l.points, r.points) / nullif(a.new_rows, 0))::double precision as "points_per_new_row"
  from "runs" r
  left join (
    select
      g.run_id,
      count(*) as "requests",
      sum(g.points) as "points",
      sum(g.points) filter (where g.outcome = 'failed') as "failed_points"
    from "logged_requests" g where g.run_id is not null group by g.run_id
  ) l on l.run_id = r.id
  left join (
    select
      w.run_id,
      sum(w.received)::bigint as "received",
      sum(w.loaded)::bigint as "loaded",
      sum(w.new_rows)::bigint as "new_rows",
      sum(w.points) filter (where w.is_nothing_new) as "nothing_new_points"
    from "answer_costs" w group by w.run_id
  ) a on a.run_id = r.id`;

/** Receipt of the newest answer of another sync that served a request. */
const SERVED = `
  left join (
    select q.sync, max(w.received_at) as "answered_at"
    from "requests" q join "answers" w on w.id = q.answer_id where q.state = 'fresh' group by q.sync
  ) s on s.sync = r.sync`;

const freshness = (
  { state, error, known }: RunText,
  served: string,
): string => `create or replace view "sync_freshness" as
  select
    r.sync,
    r.endpoint,
    r.id as "last_run_id",
    ${state} as "last_state",
    r.exit_code as "last_exit_code",
    r.started_at as "last_started_at",
    r.ended_at as "last_ended_at",
    ${error} as "last_error",
    t.refreshed_at,
    t.completed_at,
    ${served === '' ? 'a.answered_at' : 'greatest(a.answered_at, s.answered_at) as "answered_at"'},
    a.loaded_at,
    (extract(epoch from now() - t.refreshed_at) / 3600)::double precision as "hours_since_refresh",
    coalesce(q.open_requests, 0) as "open_requests",
    coalesce(q.in_doubt_requests, 0) as "in_doubt_requests",
    coalesce(a.waiting_answers, 0) as "waiting_answers"
  from (
    select distinct on (sync) id, sync, endpoint, state, exit_code, started_at, ended_at, error, holder
    from "runs" where strpos(sync, ':') = 0 order by sync, id desc
  ) r
  cross join lateral (
    select
      max(e.ended_at) filter (where e.state in ('complete', 'partial') and e.unreadable = 0${known}) as "refreshed_at",
      max(e.ended_at) filter (where e.state = 'complete'${known}) as "completed_at"
    from "runs" e where e.sync = r.sync
  ) t
  left join (
    select
      w.sync,
      max(w.received_at) as "answered_at",
      max(w.loaded_at) as "loaded_at",
      count(*) filter (where w.loaded_at is null) as "waiting_answers"
    from "answers" w group by w.sync
  ) a on a.sync = r.sync
  left join (
    select
      o.sync,
      count(*) as "open_requests",
      count(*) filter (where o.state = 'in_doubt') as "in_doubt_requests"
    from "requests" o where o.state in ('planned', 'sent', 'in_doubt') group by o.sync
  ) q on q.sync = r.sync${served}`;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [runs(AFTER), costs(AFTER), freshness(AFTER, SERVED)]) await sql.raw(statement).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const statement of [runs(BEFORE), costs(BEFORE), freshness(BEFORE, '')]) await sql.raw(statement).execute(db);
}
