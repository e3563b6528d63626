/** Views of syncs and their runs, for readers without a right to the operations tables. */
import {
  sync,
  endpoint,
  request_key,
  run_id,
  itemsAtEnd,
  NEWEST_BY_SYNC,
  RUN_STATE,
  RUN_ERROR,
  isAnsweredSince,
} from './sync-columns.ts';
import { bigint, timestamp, numeric, ratio, text, view, identifier, personal } from './view.ts';

/** SQL condition that a sample (`sync --limit`) left a request out without sending it. A split request has a next step. */
const isLeftOut = (request: string): string => `(
          ${request}.state = 'skipped' and ${request}.attempts = 0 and ${request}.next is null
          and exists (select from "runs" u where u.id = ${request}.run_id and u.scope = 'limited')
        )`;

/** SQL for a text of a request; null if the text is of an attempt before its answer. */
const withoutEarlier = (column: string): string =>
  `case when answer_id is null or failure_class = 'unreadable' then ${column} end as "${column}"`;

/** SQL for the number of requests in doubt of the sync `r`. Each has an entry in the list of lost answers. */
const IN_DOUBT = `(
        select count(distinct o.id)
        from "lost_answers" d join "requests" o on o.id = d.request_id join "runs" u on u.id = o.run_id
        where d.sync = r.sync and u.state not in ('complete', 'abandoned') and o.state = 'in_doubt'
          and not ${isAnsweredSince('o')}
      )`;

export const syncViews = [
  view(
    'sync_inputs',
    'Last outcome of each input of each sync: one row per sync and request. A newer request does not replace it if it has not ended, was given up, or was left out by a sample (`--limit`). A split window has a row beside its parts if it was sent, so its items count twice in a sum of received. Reads of the request log for other syncs are not included.',
    ['sync', 'request_key'],
    {
      sync,
      endpoint,
      request_key,
      input: personal(text('Request fields from the input of the sync, as JSON; {} without for_each.')),
      outcome: text(
        'Outcome: loaded, unchanged, empty, missing, quarantined, failed, skipped, or stored if the answer waits to be loaded. Without an earlier outcome: planned, sent or in_doubt if it has not ended; abandoned if it was given up.',
      ),
      at: timestamp(
        'Receipt of the answer; without one, the time at which the request ended, was sent or was planned.',
      ),
      answer_id: bigint('Paid answer; joins paid_answers. Null without one.'),
      error: personal(text('Description of the error; null if there was none, or if a later attempt was answered.')),
      next: personal(text('Next step for the user; null if there is none.')),
      input_value: personal(text('Values of the input without their names, separated by commas; a URN as type:value.')),
      received: bigint('Number of items in the answer; null without one.'),
      run_id: bigint('Run that last contained the request.'),
      question: personal(text('Canonical request body, as JSON. It distinguishes the parts of a window.')),
      depth: bigint('Number of splits that led to this request; 0 for a request of the plan.'),
      part_of: identifier(
        text(
          'request_key of the split request or the previous page that led to this request; null for a request of the plan, including a slice that a later run requested again.',
        ),
      ),
      open_state: text(
        'State of the newest request if it has not ended: planned, sent or in_doubt; null if it ended or was given up.',
      ),
    },
    // A newer request without an outcome hides none. It looks up the earlier ones of its input by the index, and takes
    // nothing from a question that was split, because the parts have the outcomes.
    `
    select
      request.sync,
      request.endpoint,
      request.request_key,
      request.input::text as "input",
      case
        when ended.state not in ('fresh', 'loaded') then ended.state
        when answer.loaded_at is null then 'stored'
        when answer.status = 412 then 'missing'
        when answer.received = 0 then 'empty'
        when answer.quarantined = answer.received then 'quarantined'
        when answer.loaded = 0 and answer.unchanged > 0 then 'unchanged'
        else 'loaded'
      end as "outcome",
      coalesce(answer.received_at, ended.finished_at, ended.sent_at, ended.planned_at) as "at",
      ended.answer_id,
      ended.error,
      ended.next,
      (select string_agg(
          case
            when jsonb_typeof(field.value) = 'object' and field.value ? 'type' and field.value ? 'value'
            then (field.value ->> 'type') || ':' || (field.value ->> 'value')
            else field.value #>> '{}'
          end, ', ' order by field.key)
        from jsonb_each(request.input) as field) as "input_value",
      answer.received,
      request.run_id,
      request.body::text as "question",
      request.depth,
      (select p.request_key from "requests" p where p.id = request.parent_id) as "part_of",
      case when request.state in ('planned', 'sent', 'in_doubt') then request.state end as "open_state"
    from (
      select distinct on (request_key, sync)
        id, sync, endpoint, request_key, run_id, state, attempts, input, body, depth, parent_id, answer_id, planned_at, sent_at, finished_at,
        ${withoutEarlier('error')}, ${withoutEarlier('next')}
      from "requests"
      order by request_key desc, sync desc, id desc
    ) as request
    left join lateral (
      select s.state, s.attempts, s.answer_id, s.planned_at, s.sent_at, s.finished_at, ${withoutEarlier('error')}, ${withoutEarlier('next')}
      from "requests" s
      where (request.state in ('planned', 'sent', 'in_doubt', 'abandoned') or ${isLeftOut('request')})
        and s.request_key = request.request_key and s.sync = request.sync and s.id < request.id
        and s.state not in ('planned', 'sent', 'in_doubt', 'abandoned') and not ${isLeftOut('s')}
      order by s.id desc
      limit 1
    ) as settled on not (settled.state = 'skipped' and settled.attempts = 0 and settled.next is not null)
    cross join lateral (
      select
        coalesce(settled.state, request.state) as "state",
        case when settled.state is null then request.answer_id else settled.answer_id end as "answer_id",
        case when settled.state is null then request.error else settled.error end as "error",
        case when settled.state is null then request.next else settled.next end as "next",
        coalesce(settled.planned_at, request.planned_at) as "planned_at",
        case when settled.state is null then request.sent_at else settled.sent_at end as "sent_at",
        case when settled.state is null then request.finished_at else settled.finished_at end as "finished_at"
    ) as ended
    left join "answers" as answer on answer.id = ended.answer_id
    where strpos(request.sync, ':') = 0
      and not (request.state = 'skipped' and request.attempts = 0 and request.next is not null)`,
  ),
  view(
    'sync_runs',
    'Runs of syncs with state and results: one row per run.',
    ['run_id'],
    {
      run_id,
      sync,
      endpoint,
      state: text(
        'State of the run: running, complete, partial, out_of_points, failed, interrupted or abandoned. It is also interrupted if its process died and its lease expired.',
      ),
      exit_code: bigint('Exit code of the run; null while it runs.'),
      started_at: timestamp('Start of the run.'),
      ended_at: timestamp('End of the run; null while it runs or if its process was killed.'),
      duration_s: ratio(
        'Seconds from start to end, including pauses of a continued run; null while it runs, or if its times come from different clocks.',
      ),
      planned: bigint('Number of planned requests, including those that paging and splitting added.'),
      fresh: bigint('Number of requests that a stored answer served without sending.'),
      asked: bigint('Number of requests sent, each counted once, even with several attempts.'),
      stored: bigint('Number of stored answers.'),
      ...itemsAtEnd,
      failed: bigint('Number of requests that ended without a usable answer.'),
      missing: bigint('Number of requests for an entity that the service does not know.'),
      truncated: bigint('Number of full slices that could not be split further, so more items may exist.'),
      points: numeric('Points spent: as charged by the service if known, otherwise by the price list.'),
      error: personal(text('Reason why the run ended early; null if it did not.')),
      changed: bigint(
        'Number of loaded items that changed existing rows, counted when the run ended; null if not counted.',
      ),
      unreadable: bigint('Number of requests with an unreadable answer, including those that are no longer sent.'),
      scope: text(
        'Part of the sync that the run requested: failed for what failed before, limited for a sample, range for given days; null for all of it.',
      ),
      tags: text('Tags of the sync as name=value, separated by commas; null without any. run_tags has a row for each.'),
    },
    // A run that ended before its start has no duration: a process had a wrong clock.
    `
    select
      r.id as "run_id", r.sync, r.endpoint,
      ${RUN_STATE} as "state",
      r.exit_code, r.started_at, r.ended_at,
      case when r.ended_at >= r.started_at then extract(epoch from r.ended_at - r.started_at)::double precision end as "duration_s",
      r.planned, r.fresh, r.asked, r.stored, r.received, r.loaded, r.unchanged, r.superseded, r.quarantined, r.failed,
      r.missing, r.truncated, r.points,
      ${RUN_ERROR} as "error",
      r.changed, r.unreadable, r.scope,
      (select string_agg(t.key || '=' || t.value, ', ' order by t.key) from jsonb_each_text(r.tags) t) as "tags"
    from "runs" r where strpos(r.sync, ':') = 0`,
  ),
  view(
    'sync_freshness',
    'Freshness of each sync’s rows: one row per sync.',
    ['sync'],
    {
      sync,
      endpoint,
      last_run_id: bigint(
        'Id of the newest run. Samples and runs of given days count only for a sync without another run.',
      ),
      last_state: text('State of that run, as in sync_runs.'),
      last_exit_code: bigint('Exit code of that run; null while it runs.'),
      last_started_at: timestamp('Start of that run.'),
      last_ended_at: timestamp('End of that run; null while it runs or if its process was killed.'),
      last_error: personal(text('Reason why that run ended early; null if it did not.')),
      refreshed_at: timestamp(
        'End of the newest run that finished its plan and could read every answer: complete, or partial because of rejects. Partial runs without an answer, runs of a part of the sync, and ends in the database’s future do not count. Null if there is none.',
      ),
      completed_at: timestamp('End of the newest complete run, by the same rule; null if there is none.'),
      answered_at: timestamp(
        'Receipt of the newest answer, including answers of other syncs that serve this one; null without one.',
      ),
      loaded_at: timestamp('Time of the last load of an answer; null if there is none.'),
      hours_since_refresh: ratio('Hours from refreshed_at to the time of the query; null if there is no such run.'),
      open_requests: bigint('Number of requests that are planned, sent, or in doubt and not answered since.'),
      in_doubt_requests: bigint(
        'Number of requests whose answer was lost in transit, and which were not answered since.',
      ),
      waiting_answers: bigint('Number of stored answers that are not loaded yet.'),
    },
    // Ends in the future of the database do not prove freshness: a process had a wrong clock. A figure that a reader
    // does not select costs nothing, and none reads all requests: runs that are over have open ones only in doubt, and
    // an answer that serves a fresh request existed before the end of the run. The search for refreshed_at begins at the
    // newest run, and reads the requests only of runs with rejects: a refused endpoint leaves requests skipped.
    `
    select
      r.sync,
      r.endpoint,
      r.id as "last_run_id",
      ${RUN_STATE} as "last_state",
      r.exit_code as "last_exit_code",
      r.started_at as "last_started_at",
      r.ended_at as "last_ended_at",
      ${RUN_ERROR} as "last_error",
      t.refreshed_at,
      t.completed_at,
      greatest(a.answered_at, (
        select max(w.received_at)
        from "runs" u join "requests" q on q.run_id = u.id join "answers" w on w.id = q.answer_id
        where u.sync = r.sync and q.state = 'fresh'
          and (u.ended_at is null or a.answered_at is null or u.ended_at > a.answered_at - interval '1 day')
      )) as "answered_at",
      (select max(w.loaded_at) from "answers" w where w.sync = r.sync) as "loaded_at",
      (extract(epoch from now() - t.refreshed_at) / 3600)::double precision as "hours_since_refresh",
      (
        select count(*) from "runs" u join "requests" o on o.run_id = u.id
        where u.sync = r.sync and u.state not in ('complete', 'partial', 'abandoned') and o.state in ('planned', 'sent')
      ) + ${IN_DOUBT} as "open_requests",
      ${IN_DOUBT} as "in_doubt_requests",
      (select count(*) from "answers" w where w.sync = r.sync and w.loaded_at is null) as "waiting_answers"
    from (
      select distinct on (sync) id, sync, endpoint, state, exit_code, started_at, ended_at, error, holder
      from "runs" where strpos(sync, ':') = 0 order by ${NEWEST_BY_SYNC}
    ) r
    cross join lateral (
      select
        (
          select e.ended_at
          from (
            select u.id, u.state, u.exit_code, u.stored + u.fresh as "answered", u.ended_at
            from "runs" u
            where u.sync = r.sync and u.scope is null and u.state in ('complete', 'partial') and u.unreadable = 0
              and u.ended_at <= now() + interval '1 minute'
            order by u.ended_at desc
            offset 0
          ) e
          where e.state = 'complete'
            or e.answered > 0 and (e.exit_code = 0 or e.exit_code = 4 and (
              select q.id from "requests" q
              where q.run_id = e.id and q.state = 'skipped' and not (q.attempts = 0 and q.next is not null)
              limit 1
            ) is null)
          order by e.ended_at desc
          limit 1
        ) as "refreshed_at",
        (
          select max(e.ended_at) from "runs" e
          where e.sync = r.sync and e.scope is null and e.state = 'complete' and e.ended_at <= now() + interval '1 minute'
        ) as "completed_at"
      offset 0
    ) t
    cross join lateral (select max(w.received_at) as "answered_at" from "answers" w where w.sync = r.sync) a`,
  ),
];
