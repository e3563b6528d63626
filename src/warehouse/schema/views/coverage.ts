/** Views of the coverage and the data quality of syncs, for readers without a right to the operations tables. */
import { questionHash } from '../question-hash.ts';
import { sync, endpoint, request_key, items, NEWEST_BY_SYNC } from './sync-columns.ts';
import { bigint, timestamp, ratio, text, view, personal, sameIn, selected, selection } from './view.ts';

/** SQL for the number of slices with this extent. */
const extentIs = (extent: string): string => `count(*) filter (where s.extent = '${extent}')`;

export const coverageViews = [
  view(
    'sync_slices',
    'Newest answer to each requested slice of a sync, with its coverage: one row per slice. An answer 412 reads nothing and is none; sync_inputs has it.',
    ['slice_id'],
    {
      slice_id: bigint('Id of the slice.'),
      sync,
      endpoint,
      request_key,
      run_id: bigint('Run that requested the slice.'),
      filters: personal(text('Request fields that define the slice, as JSON.')),
      asked: bigint('Limit of items in the request; null if it has no limit.'),
      returned: bigint('Number of returned items.'),
      depth: bigint('Number of splits that led to this slice; 0 if it was not split.'),
      extent: text(
        'Extent: complete if the answer has all items; lower_bound if more may exist or the answer is unreadable; open if its parts were requested, its last day had not ended, or the sync no longer requests it.',
      ),
      reason: text('Reason why it is a lower bound; null if it is not.'),
      as_of: timestamp('Receipt of the answer.'),
    },
    // Slices are sorted by the hashes of an index, and by their filters where hashes are equal. A slice that ever was a
    // lower bound is looked up among the wider questions by equality: its own question without the facets that it names.
    // Only days are compared, and only with slices of such a question. A pattern instead of a position, and an array
    // instead of a series, let the planner estimate the number of rows.
    `
    with "narrowing" ("endpoint", "facets", "day_from", "day_to") as (
      values
        ('sec.search.companies', array['forms', 'location_codes'], 'date_from', 'date_to'),
        ('pronet.search.users', array['current_company', 'past_company', 'location', 'industry', 'education'], '', '')
    ),
    "newest" as (
      select distinct on (sync, ${questionHash('filters')}, jsonb_hash(filters), endpoint, filters)
        id, sync, endpoint, request_key, run_id, filters, asked, returned, depth, complete, reason, as_of, former
      from "coverage" where sync not like '%:%'
      order by sync, ${questionHash('filters')}, jsonb_hash(filters), endpoint, filters, as_of desc, asked desc, id desc
    ),
    "wider" as materialized (
      select
        c.id, c.sync, c.endpoint, w.day_from, w.day_to,
        case when w.day_from = '' then '' else (c.filters -> w.day_from)::text end as "first_day",
        case when w.day_to = '' then '' else (c.filters -> w.day_to)::text end as "last_day",
        c.filters - w.day_from - w.day_to - array(select f.name from unnest(n.facets) with ordinality as f(name, place) where b.left_out >> (f.place - 1)::integer & 1 = 1) as "question"
      from "coverage" c
      join "narrowing" w on w.endpoint = c.endpoint
      cross join lateral (select array(select f from unnest(w.facets) as f where c.filters ? f) as "facets") n
      cross join lateral unnest(array(select generate_series(0, (1 << cardinality(n.facets)) - 1))) as b(left_out)
      where not c.complete and c.reason is not null and c.sync not like '%:%'
    ),
    "covered" as materialized (
      select w.id from "wider" w
      where exists (
        select from "coverage" n
        where n.sync = w.sync and ${questionHash('n.filters')} = ${questionHash('w.question')}
          and n.id > w.id and n.endpoint = w.endpoint and n.returned < n.asked and not n.unreadable
          and n.filters - w.day_from - w.day_to = w.question
          and case when w.day_from = '' then '' else (n.filters -> w.day_from)::text end <= w.first_day
          and case when w.day_to = '' then '' else (n.filters -> w.day_to)::text end >= w.last_day
      )
    )
    select
      c.id as "slice_id",
      c.sync,
      c.endpoint,
      c.request_key,
      c.run_id,
      c.filters::text as "filters",
      c.asked,
      c.returned,
      c.depth,
      x.extent,
      case when x.extent = 'lower_bound' then c.reason end as "reason",
      c.as_of
    from "newest" c
    cross join lateral (
      select case
        when c.complete then 'complete'
        when c.reason is null or c.former then 'open'
        when c.id in (select id from "covered") then 'open'
        else 'lower_bound'
      end as "extent"
      offset 0
    ) x`,
  ),
  selection(
    'sync_coverage',
    'Coverage of the requested slices of each sync: one row per sync and endpoint with slices.',
    ['sync', 'endpoint'],
    {
      ...sameIn('s', { sync, endpoint }),
      slices: bigint('Number of requested slices, each with its newest answer.', 'count(*)'),
      complete_slices: bigint('Number of slices with all items.', extentIs('complete')),
      lower_bound_slices: bigint(
        'Number of slices that may have more items than were returned.',
        extentIs('lower_bound'),
      ),
      open_slices: bigint(
        'Number of slices that were split, whose last day had not ended, or that the sync no longer requests.',
        extentIs('open'),
      ),
      complete_share: ratio(
        'Share of complete slices in those that are complete or lower bounds, from 0 to 1; null if there are none.',
        `${extentIs('complete')}::double precision / nullif(count(*) filter (where s.extent <> 'open'), 0)`,
      ),
      returned: bigint(
        'Number of returned items over all these slices. An item may be in several.',
        'sum(s.returned)::bigint',
      ),
      oldest_as_of: timestamp('Receipt of the oldest of these answers.', 'min(s.as_of)'),
      newest_as_of: timestamp('Receipt of the newest of these answers.', 'max(s.as_of)'),
    },
    `
    from "sync_slices" s
    group by s.sync, s.endpoint`,
  ),
  selection(
    'sync_quality',
    'Data quality of each sync, over all its answers and of its newest run, as in sync_freshness: one row per sync.',
    ['sync'],
    {
      ...sameIn('n', { sync, endpoint }),
      ...selected({ answers: bigint('Number of stored answers.'), ...items }, (count) => `coalesce(a.${count}, 0)`),
      quarantined_share: ratio(
        'Share of quarantined items in those received, from 0 to 1; null if none were received.',
        'a.quarantined::double precision / nullif(a.received, 0)',
      ),
      open_quarantine: bigint(
        'Number of items and complete answers that are still in quarantine, with those of its reads of the log.',
        'coalesce(q.open_quarantine, 0)',
      ),
      last_quarantined_at: timestamp(
        'Creation of the newest of its quarantine entries, also of resolved ones; null if there is none.',
        'q.last_quarantined_at',
      ),
      last_run_failed: bigint('Number of requests of the newest run that ended without a usable answer.', 'n.failed'),
      last_run_missing: bigint(
        'Number of requests of the newest run for an entity that the service does not know.',
        'n.missing',
      ),
      last_run_truncated: bigint('Number of slices of the newest run that may have more items.', 'n.truncated'),
    },
    `
    from (
      select distinct on (sync) id, sync, endpoint, failed, missing, truncated
      from "runs" where strpos(sync, ':') = 0 order by ${NEWEST_BY_SYNC}
    ) n
    left join (
      select
        w.sync,
        count(*) as "answers",
        sum(w.received)::bigint as "received",
        sum(w.loaded)::bigint as "loaded",
        sum(w.unchanged)::bigint as "unchanged",
        sum(w.superseded)::bigint as "superseded",
        sum(w.quarantined)::bigint as "quarantined"
      from "answers" w group by w.sync
    ) a on a.sync = n.sync
    left join (
      select
        split_part(i.sync, ':', 1) as "sync",
        count(*) filter (where i.resolved_at is null) as "open_quarantine",
        max(i.created_at) as "last_quarantined_at"
      from "quarantine" i group by 1
    ) q on q.sync = n.sync`,
  ),
];
