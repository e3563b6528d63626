/** Holds every view of costs against a made-up history. */
import { expect } from 'vitest';
import { readReconciliation } from '../../src/recovery/reconcile/reconcile.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from '../flow/rows.ts';
import { DAY_MS, type History, type Row, SYNCS, writeHistory } from './cost-history.ts';
import {
  charged,
  chargedFailures,
  dayOf,
  isNothingNew,
  planOf,
  requestOf,
  requestPoints,
  savingOf,
  type Sums,
  sumsBy,
  syncOf,
  tokenOf,
} from './cost-sums.ts';

/** The sum over all of a figure of each. */
export const sum = <T>(all: readonly T[], of: (it: T) => number): number =>
  all.reduce((total, it) => total + of(it), 0);

/** Writes the history and expects of every view what is added up by hand. */
export async function expectCosts(warehouse: Warehouse, history: History): Promise<void> {
  const { rows, requests } = history;
  const rowsOf = <T>(statement: string): Promise<T[]> => select<T>(warehouse, statement);
  const byName = async (view: string, name: string): Promise<Record<string, Sums>> => {
    const found = await rowsOf<Sums & { readonly name: string }>(
      `select ${name} as name, sum(requests)::int as requests, sum(points)::float8 as points,
         sum(failed_requests)::int as failed_requests, sum(failed_points)::float8 as failed_points
       from sluice.${view} group by 1`,
    );
    return Object.fromEntries(found.map(({ name: key, ...sums }) => [key, sums]));
  };
  await writeHistory(warehouse, history);
  const by = (nameOf: (row: Row) => string | undefined) => sumsBy(rows, nameOf);
  expect(await byName('daily_costs', 'date::text')).toEqual(by(dayOf));
  expect(await byName('daily_costs', 'endpoint')).toEqual(by(({ endpoint }) => endpoint));
  expect(await byName('daily_costs', 'plan')).toEqual(by(planOf));
  expect(await byName('daily_costs', 'sync')).toEqual(by(syncOf));
  const asLogged = `select coalesce(sum(case when is_paid or is_paid is null then greatest(cost, 0) end), 0)::float8 as points,
    count(*)::int as requests from sluice.fact_request_costs`;
  expect(
    await rowsOf(
      'select coalesce(sum(points), 0)::float8 as points, coalesce(sum(requests), 0)::int as requests from sluice.daily_costs',
    ),
  ).toEqual(await rowsOf(asLogged));

  const runs = await rowsOf<{ run: string; points: number; requests: number; loaded: number; new_rows: number }>(
    'select run_id::text as run, points::float8 as points, requests::int as requests, loaded::int as loaded, new_rows::int as new_rows from sluice.run_costs',
  );
  const runSums = by((row) => requestOf(row)?.runId.toString());
  expect(runs.toSorted((a, b) => Number(a.run) - Number(b.run))).toEqual(
    [...new Set(requests.map(({ runId }) => runId))]
      .toSorted((a, b) => a - b)
      .map((runId) => {
        const own = requests.filter((request) => request.runId === runId);
        return {
          run: String(runId),
          points: runSums[runId]?.points ?? 0,
          requests: runSums[runId]?.requests ?? 0,
          loaded: sum(own, ({ answer }) => answer?.loaded ?? 0),
          new_rows: sum(own, ({ answer }) => answer?.newRows ?? 0),
        };
      }),
  );

  expect(await byName('sync_costs', "sync || ' ' || endpoint")).toEqual({
    // What the ledger has and the log has not costs nothing by the log.
    ...Object.fromEntries(
      requests.map((request) => [
        `${request.sync} ${request.endpoint}`,
        { requests: 0, points: 0, failed_requests: 0, failed_points: 0 },
      ]),
    ),
    ...by((row) => `${syncOf(row)} ${row.endpoint}`),
  });
  const brought = await rowsOf<{ name: string }>(
    `select sync || ' ' || endpoint as name, answer_points::float8 as points, nothing_new_points::float8 as nothing_new,
       answers::int as answers, loaded::int as loaded, new_rows::int as new_rows, ledger_points::float8 as ledger
     from sluice.sync_costs where ledger_points > 0 or answers > 0`,
  );
  for (const { name, ...found } of brought) {
    const own = requests.filter((request) => `${request.sync} ${request.endpoint}` === name);
    const answered = own.filter(({ answer }) => answer);
    expect({ name, ...found }).toEqual({
      name,
      points: sum(answered, (request) => requestPoints(history, request)),
      nothing_new: sum(
        answered.filter((request) => isNothingNew(history, request)),
        (request) => requestPoints(history, request),
      ),
      answers: answered.length,
      loaded: sum(own, ({ answer }) => answer?.loaded ?? 0),
      new_rows: sum(own, ({ answer }) => answer?.newRows ?? 0),
      ledger: sum(own, ({ points }) => points),
    });
  }

  const failures = await rowsOf<{ log_id: string; points: number }>(
    'select log_id::text, points::float8 as points from sluice.charged_failures order by 1',
  );
  expect(failures).toEqual(
    chargedFailures(history).map((id) => ({ log_id: id, points: charged(rows.find((row) => row.id === id) as Row) })),
  );

  const savings = await rowsOf<{ sync: string; days: number }>(
    `select sync, max_age_days as days, saved_answers::int as saved_answers, saved_points::float8 as saved_points,
       late_answers::int as late_answers from sluice.sync_max_age_savings order by 1, 2`,
  );
  const answered = SYNCS.filter(({ sync }) =>
    requests.some((it) => it.sync === sync && !it.isLookup && it.answer !== undefined),
  );
  expect(savings).toEqual(
    answered
      .map(({ sync }) => sync)
      .toSorted()
      .flatMap((sync) => [1, 7, 30].map((days) => ({ sync, days, ...savingOf(history, sync, days) }))),
  );

  const tokens = Map.groupBy(rows, tokenOf);
  const days = await rowsOf<{ token: string; date: string; points: number; left: number | null }>(
    'select token, date::text as date, points::float8 as points, points_left::float8 as left from sluice.daily_balance',
  );
  expect(sum(days, ({ points }) => points)).toBe(sum(rows, charged));
  for (const { token, date, left } of days) {
    const rows = tokens.get(token)?.filter((row) => dayOf(row) === date && row.pointsLeft !== null);
    expect({ token, date, left }).toEqual({ token, date, left: rows?.at(-1)?.pointsLeft ?? null });
  }
  const forecasts = await rowsOf<{
    token: string;
    week: number;
    left: number | null;
    ours: boolean;
    out: Date | null;
  }>(
    'select token, points_7d::float8 as week, points_left::float8 as left, is_ours as ours, runs_out_at as out from sluice.balance_forecast',
  );
  expect(forecasts.map(({ token }) => token).toSorted()).toEqual([...tokens.keys()].toSorted());
  for (const { token, week, left, ours, out } of forecasts) {
    const own = tokens.get(token) ?? [];
    const newest = own.at(-1)?.at ?? 0;
    const newestRow = own.findLast((row) => row.pointsLeft !== null);
    const spent = sum(
      own.filter(({ at }) => at > newest - 7 * DAY_MS),
      charged,
    );
    const pace = spent / Math.min(7, Math.max(1, (newest - (own[0]?.at ?? 0)) / DAY_MS));
    const runsOut = newestRow && pace > 0 ? newestRow.at + ((newestRow.pointsLeft ?? 0) / pace) * DAY_MS : undefined;
    expect({ token, week, left, ours }).toEqual({
      token,
      week: spent,
      left: newestRow?.pointsLeft ?? null,
      ours: own.some((row) => requestOf(row)),
    });
    const isFar = runsOut === undefined || (newestRow?.pointsLeft ?? 0) > 36_500 * pace;
    if (isFar) expect(out).toBeNull();
    else expect(Math.abs((out?.getTime() ?? 0) - runsOut)).toBeLessThan(1000);
  }
}

/** Writes the history and expects the days of the reconciliation to add up to the figures of status. */
export async function expectReconciled(warehouse: Warehouse, history: History): Promise<void> {
  // Status goes by when rows started.
  const rows = history.rows.map((row) => ({ ...row, tellsStart: true }));
  await writeHistory(warehouse, { ...history, rows });
  const [agreed] = await select(
    warehouse,
    `select sum(logged)::int as logged, sum(matched)::int as matched, sum(ambiguous)::int as ambiguous, sum(others)::int as others,
       sum(other_points)::float8 as other_points, sum(lost)::int as lost, sum(lost_points)::float8 as lost_points from sluice.daily_reconciliation`,
  );
  const shown = await readReconciliation(warehouse, new Date(), new Date(0));
  const [lost] = await select(
    warehouse,
    `select count(*)::int as lost, coalesce(sum(points), 0)::float8 as lost_points from sluice.charged_failures where kind = 'lost'`,
  );
  if (!shown) {
    expect(rows).toEqual([]);
    return;
  }
  expect(agreed).toEqual({
    logged: shown.logged,
    matched: shown.matched,
    ambiguous: shown.ambiguous,
    others: shown.others.rows,
    other_points: shown.others.points,
    lost: shown.chargedButLost.rows,
    lost_points: shown.chargedButLost.points,
  });
  expect(agreed).toMatchObject(lost ?? {});
}
