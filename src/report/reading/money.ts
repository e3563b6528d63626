/** Reads spending and balances from the request log of the service. */
import { type RawBuilder, sql } from 'kysely';
import { dayOf } from '../../day.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { BalanceHistory, EndpointSpend, Money } from '../report.ts';
import { relation, perDay, rowsOf, type ReportSource } from './rows.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';

/** Spending and balances for a report; undefined if the log was never read. */
export async function readMoney(source: ReportSource): Promise<Money | undefined> {
  const [newest] = await rowsOf(
    source,
    sql<{ readUpTo: Date | null }>`select max(started_at) as "readUpTo" from ${relation(source, LOG_TABLE)}`,
  );
  if (!newest?.readUpTo) return undefined;
  return {
    readUpTo: newest.readUpTo,
    endpoints: await readSpend(source),
    chargedFailures: await readChargedFailures(source),
    balances: await readBalances(source),
  };
}

/** SQL for the days, one by one: the planner takes a range of computed days for a few rows, and looks up the request of each. */
const anyDay = (days: readonly string[]): RawBuilder<unknown> => sql`any(${arrayLiteral(days)}::date[])`;

async function readSpend(source: ReportSource): Promise<EndpointSpend[]> {
  const { days } = source;
  const rows = await rowsOf(
    source,
    sql<{ endpoint: string; day: string; requests: number; points: number }>`
      select endpoint, date::text as day, sum(requests)::float8 as requests, sum(points)::float8 as points
      from ${relation(source, 'daily_costs')}
      where date = ${anyDay(days)}
      group by endpoint, date order by endpoint, date`,
  );
  return [...Map.groupBy(rows, ({ endpoint }) => endpoint)]
    .map(([endpoint, group]) => ({
      endpoint,
      requests: group.reduce((sum, { requests }) => sum + requests, 0),
      points: group.reduce((sum, { points }) => sum + points, 0),
      byDay: perDay(
        days,
        group.map(({ day, points }) => [day, points] as const),
        0,
      ),
    }))
    .toSorted((a, b) => b.points - a.points);
}

async function readChargedFailures(source: ReportSource): Promise<Money['chargedFailures']> {
  const { days } = source;
  const [found] = await rowsOf(
    source,
    sql<{ requests: number; points: number }>`
      select count(*)::float8 as requests, coalesce(sum(points), 0)::float8 as points
      from ${relation(source, 'charged_failures')}
      where date = ${anyDay(days)} and points > 0`,
  );
  return found ?? { requests: 0, points: 0 };
}

async function readBalances(source: ReportSource): Promise<BalanceHistory[]> {
  const forecasts = await rowsOf(
    source,
    sql<Omit<BalanceHistory, 'byDay' | 'runsOutOn'> & { readonly runsOutAt: Date | null }>`
      select token, points_left::float8 as points, told_at as at, points_per_day_7d::float8 as pace,
        runs_out_at as "runsOutAt"
      from ${relation(source, 'balance_forecast')}
      where points_left is not null and told_at is not null
      order by is_ours desc, told_at desc, token`,
  );
  const rows = await rowsOf(
    source,
    sql<{ token: string; day: string; points: number }>`
      select token, date::text as day, points_left::float8 as points
      from ${relation(source, 'daily_balance')} where points_left is not null order by token, date`,
  );
  const byToken = Map.groupBy(rows, ({ token }) => token);
  return forecasts.map(({ pace, runsOutAt, ...it }) => ({
    ...it,
    byDay: carriedOver(source.days, byToken.get(it.token) ?? []),
    pace,
    runsOutOn: runsOutAt && dayOf(runsOutAt),
  }));
}

/** The balance at the end of each day. A day without requests keeps the balance of the day before; after the last day with requests it is null. */
function carriedOver(
  days: readonly string[],
  reported: readonly { readonly day: string; readonly points: number }[],
): (number | null)[] {
  const last = reported.at(-1)?.day ?? '';
  const byDay = new Map(reported.map(({ day, points }) => [day, points]));
  let left = reported.findLast(({ day }) => day < (days[0] ?? ''))?.points ?? null;
  return days.map((day) => {
    left = byDay.get(day) ?? left;
    return day > last ? null : left;
  });
}
