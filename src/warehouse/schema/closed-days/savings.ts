/** SQL of the savings of a max_age, from the sums over the answers by day. */
import { LOG_ENDPOINT } from '../../../service/request-log/request-log.ts';
import { AGES } from './ages.ts';

const FIGURES = ['saved_answers', 'saved_points', 'late_answers'];

/** The query of the view of savings over a relation with the columns of daily_results. */
export const maxAgeSavings = (results: string): string => `
    select
      t.sync,
      a.days as "max_age_days",
      t.answers,
      t.points,
      a.saved_answers,
      a.saved_points,
      (a.saved_points / nullif(t.points, 0))::double precision as "saved_share",
      a.late_answers
    from (
      select
        split_part(w.sync, ':', 1) as "sync",
        sum(w.answers)::bigint as "answers",
        sum(w.points) as "points",
        ${FIGURES.flatMap((figure) => AGES.map((days) => `sum(w.${figure}_${days}d) as "${figure}_${days}d"`)).join(',\n        ')}
      from ${results} w where w.endpoint <> '${LOG_ENDPOINT}' group by 1
    ) t
    cross join lateral (
      values ${AGES.map((days) => `(${days}, t.saved_answers_${days}d::bigint, t.saved_points_${days}d, t.late_answers_${days}d::bigint)`).join(', ')}
    ) a ("days", "saved_answers", "saved_points", "late_answers")`;
