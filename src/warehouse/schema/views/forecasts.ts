/** The view that compares forecasts of spending with what was spent. */
import { bigint, date, numeric, ratio, text, view } from './view.ts';

export const forecastViews = [
  view(
    'forecast_scores',
    'Earlier forecasts of spending and what was spent: one row per forecast and sync, over its days before that of the newest run.',
    ['made_on', 'sync'],
    {
      made_on: date('UTC day on which `sluice plan --for` made the forecast; its own points do not count.'),
      sync: text('Name of the sync in the config.'),
      days: bigint('Number of the days.'),
      low: numeric('Points at the lower end of the range.'),
      likely: numeric('Likely points.'),
      high: numeric('Points at the upper end of the range.'),
      spent: numeric('Points spent: as charged by the service if known, otherwise by the price list.'),
      error_share: ratio(
        'Difference of spent and likely as a share of likely, negative if less was spent; null if likely is 0.',
      ),
    },
    `
    with "forecast" as (
      select
        f.made_on,
        f.sync,
        n.today,
        coalesce(sum(f.low) filter (where f.date > f.made_on and f.date < n.today), 0) as "low",
        coalesce(sum(f.likely) filter (where f.date > f.made_on and f.date < n.today), 0) as "likely",
        coalesce(sum(f.high) filter (where f.date > f.made_on and f.date < n.today), 0) as "high"
      from "forecast_days" f
      join (
        select g.made_on, least(max(g.date) + 1, (select coalesce((max(r.started_at) at time zone 'UTC')::date, g.made_on) from "runs" r)) as "today"
        from "forecast_days" g group by g.made_on
      ) n on n.made_on = f.made_on and n.today - n.made_on > 1
      group by f.made_on, f.sync, n.today
    ),
    "spent" as (
      select
        split_part(q.sync, ':', 1) as "sync",
        (q.sent_at at time zone 'UTC')::date as "date",
        sum(coalesce(q.charged, q.points)) as "points"
      from "requests" q
      where q.sent_at >= (select min(f.made_on)::timestamp at time zone 'UTC' from "forecast" f)
      group by 1, 2
    )
    select
      f.made_on,
      f.sync,
      (f.today - f.made_on - 1)::bigint as "days",
      f.low,
      f.likely,
      f.high,
      coalesce(s.points, 0) as "spent",
      (coalesce(s.points, 0) / nullif(f.likely, 0) - 1)::double precision as "error_share"
    from "forecast" f
    left join lateral (
      select sum(d.points) as "points" from "spent" d where d.sync = f.sync and d.date > f.made_on and d.date < f.today
    ) s on true`,
  ),
];
