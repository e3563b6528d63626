/**
 * Reads the request log, the requests and the answers once, in one statement, and adds them up. The figures of `costs` are
 * derived from these sums.
 */
import { type RawBuilder, sql } from 'kysely';
import { unconfirmedPoints } from '../ledger/log-costs.ts';
import { type ReconcileDb, reconcileTables } from '../ledger/match-log.ts';
import { answerCosts, LOGGED_POINTS } from '../warehouse/schema/views/answer-costs.ts';
import { quoted } from '../warehouse/sql/identifiers.ts';
import { savingsOf } from '../warehouse/schema/views/savings.ts';

/** Sums over the request log for one day, endpoint, plan, sync and run. Figures are texts, so that no digit is lost. */
interface LoggedSums {
  readonly date: string;
  readonly endpoint: string;
  readonly plan: string;
  readonly sync: string;
  /** Null for rows without a certain request. */
  readonly run_id: string | null;
  /** True if the day is the given one or later. */
  readonly is_counted: boolean;
  readonly requests: string;
  readonly points: string;
  readonly failed_requests: string;
  readonly failed_points: string;
}

/** Sums over the requests of the ledger that were sent on or after the given day. */
interface LedgerSums {
  readonly sync: string;
  readonly endpoint: string;
  readonly points: string | null;
  /** Points of the requests without a row in the log. */
  readonly unlogged_points: string | null;
  /** Requests with attempts by whether the log confirms them, and their points. */
  readonly verified: string;
  readonly verified_points: string | null;
  readonly unverified: string;
  readonly unverified_points: string | null;
}

/** Cost and result of a run's answers to the requests of one sync. */
interface BoughtAnswers {
  readonly run_id: string;
  readonly sync: string;
  readonly endpoint: string;
  /** True if the answers were received on or after the given day. */
  readonly is_counted: boolean;
  readonly answers: string;
  readonly points: string;
  readonly loaded: string;
  readonly new_rows: string;
  readonly nothing_new: string | null;
}

/** What a max_age would have saved if it had been set from the beginning. */
export interface MaxAgeSaving {
  readonly sync: string;
  readonly maxAgeDays: number;
  readonly answers: number;
  readonly points: number;
  readonly savedAnswers: number;
  readonly savedPoints: number;
  /** The saved answers that contained something new. */
  readonly lateAnswers: number;
}

/** The sums that are read once, and from which others are derived. */
export interface CostSources {
  readonly logged: readonly LoggedSums[];
  readonly ledger: readonly LedgerSums[];
  readonly bought: readonly BoughtAnswers[];
  /** The savings of each max_age for each sync, over all answers of the sync. */
  readonly savings: readonly MaxAgeSaving[];
}

/**
 * Reads the sums, in a transaction, whose search path it sets. The statement evaluates logged_requests and answer_costs
 * once each: its expressions have the names of the views, and the queries of views that follow read them instead.
 */
export async function readCostSources(
  { db, schema, ops }: ReconcileDb,
  since: string | undefined,
): Promise<CostSources> {
  const { requests } = reconcileTables({ schema, ops });
  const first = sql`coalesce(${since ?? null}::date, '-infinity')`;
  // A reader beside the owner of an embedded warehouse may only select.
  await sql`select set_config('search_path', ${`${quoted(schema)}, ${quoted(ops)}, pg_temp`}, true)`.execute(db);
  const { rows } = await sql<CostSources>`
    with logged_requests as materialized (
      select date, endpoint, plan, sync, run_id, request_id, points, outcome = 'failed' as is_failed
      from ${sql.table(`${schema}.logged_requests`)}
    ), logged_points as materialized (
      ${sql.raw(LOGGED_POINTS)}
    ), answer_costs as materialized (
      select answer_id, run_id, sync, endpoint, request_key, received_at, sent_at, date, points, loaded, new_rows, is_nothing_new
      from (${sql.raw(answerCosts('logged_points'))}) a
    ), logged as (
      select date::text as date, endpoint, plan, sync, run_id::text as run_id, date >= ${first} as is_counted,
        count(*)::text as requests, sum(points)::text as points,
        (count(*) filter (where is_failed))::text as failed_requests,
        coalesce(sum(points) filter (where is_failed), 0)::text as failed_points
      from logged_requests group by logged_requests.date, 2, 3, 4, logged_requests.run_id
    ), ledger as (
      select split_part(r.sync, ':', 1) as sync, r.endpoint, sum(r.points)::text as points,
        (sum(coalesce(r.charged, r.points)) filter (where l.request_id is null))::text as unlogged_points,
        (count(r.charged) filter (where r.attempts > 0))::text as verified,
        (sum(r.charged) filter (where r.attempts > 0))::text as verified_points,
        (count(*) filter (where r.attempts > 0 and u.unconfirmed > 0))::text as unverified,
        (sum(u.unconfirmed) filter (where r.attempts > 0))::text as unverified_points
      from ${requests} r left join logged_points l on l.request_id = r.id
      cross join lateral (select ${unconfirmedPoints({ ops })} as unconfirmed) u
      where (r.sent_at at time zone 'UTC')::date >= ${first} group by 1, 2
    ), bought as (
      select run_id::text as run_id, sync, endpoint, date >= ${first} as is_counted, count(*)::text as answers,
        sum(points)::text as points, sum(loaded)::text as loaded, sum(new_rows)::text as new_rows,
        (sum(points) filter (where is_nothing_new))::text as nothing_new
      from answer_costs group by 1, 2, 3, 4
    ), max_age as (
      with ${sql.raw(savingsOf('answer_costs'))}
    ), savings as (
      select sync, max_age_days as "maxAgeDays", answers::float8 as answers, points::float8 as points,
        saved_answers::float8 as "savedAnswers", saved_points::float8 as "savedPoints", late_answers::float8 as "lateAnswers"
      from max_age order by sync, max_age_days
    )
    select (select coalesce(json_agg(logged), '[]') from logged) as logged,
      (select coalesce(json_agg(ledger), '[]') from ledger) as ledger,
      (select coalesce(json_agg(bought), '[]') from bought) as bought,
      (select coalesce(json_agg(savings), '[]') from savings) as savings`.execute(db);
  return rows[0] ?? { logged: [], ledger: [], bought: [], savings: [] };
}

const tableOf = (rows: readonly object[], columns: string): RawBuilder<unknown> =>
  sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as sums (${sql.raw(columns)})`;

/** The sums over the log as a table expression. */
export const loggedRows = ({ logged }: CostSources): RawBuilder<unknown> =>
  tableOf(
    logged,
    `date date, endpoint text, plan text, sync text, run_id bigint, is_counted boolean, requests bigint, points numeric,
      failed_requests bigint, failed_points numeric`,
  );

/** The sums over the ledger as a table expression. */
export const ledgerRows = ({ ledger }: CostSources): RawBuilder<unknown> =>
  tableOf(
    ledger,
    `sync text, endpoint text, points numeric, unlogged_points numeric, verified bigint, verified_points numeric,
      unverified bigint, unverified_points numeric`,
  );

/** The sums over the answers as a table expression. */
export const boughtRows = ({ bought }: CostSources): RawBuilder<unknown> =>
  tableOf(
    bought,
    `run_id bigint, sync text, endpoint text, is_counted boolean, answers bigint, points numeric, loaded numeric,
      new_rows numeric, nothing_new numeric`,
  );
