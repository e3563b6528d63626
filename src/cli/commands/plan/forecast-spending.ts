/** `sluice plan --for` and `--until`: what the schedules will spend. */
import type { Config } from '../../../config/definition.ts';
import { duration } from '../../../config/values/quantity.ts';
import { readBudgetUse } from '../../../control/budget/budget-use.ts';
import { tokenDigest } from '../../../control/token-digest.ts';
import { addDays, DAY_MS, dayOf } from '../../../day.ts';
import { firingsUntil } from '../../../engine/firings.ts';
import { UsageError } from '../../../errors.ts';
import { readBalanceNow } from '../../../flow/forecast/quote-syncs.ts';
import { scheduledCosts } from '../../../flow/forecast/scheduled-cost.ts';
import { readForecastScores, saveForecast } from '../../../ledger/forecasts.ts';
import { spendingForecast } from '../../../plan/forecast/spending-forecast.ts';
import { ensureSchema } from '../../../warehouse/migrate/migrate.ts';
import type { Context } from '../../context.ts';
import { withWarehouseToPlan } from '../../open.ts';
import { show } from '../../terminal/show.ts';
import { FORECAST_ASSUMPTIONS, forecastText } from '../../text/forecast-text.ts';

/** The end of a forecast, as written: a duration, or the last UTC day. */
export interface ForecastEnd {
  readonly for?: string | undefined;
  readonly until?: string | undefined;
}

const MOST_DAYS = 366;
/** Earlier forecasts that are compared with what was spent. */
const MOST_SCORES = 10;

/** Prints the forecast, and saves it so that later ones show how it compares; returns the exit code. */
export async function forecastSpending(context: Context, config: Config, end: ForecastEnd): Promise<number> {
  const forecast = await withWarehouseToPlan(context, config, async (warehouse) => {
    await ensureSchema(warehouse);
    const now = warehouse.clock.now();
    const until = endOf(end, now);
    const costs = await scheduledCosts(warehouse, config, { now, until, firingsUntil, signal: context.signal });
    const scores = await readForecastScores(warehouse, MOST_SCORES);
    const isSaved = await saveForecast(warehouse, costs, { now, until });
    const { balance } = await readBalanceNow(warehouse, tokenDigest(config.service), now);
    const budgets = await readBudgetUse(warehouse, config.budget, now);
    return {
      ...spendingForecast({
        now,
        until,
        costs,
        balance: balance && { ...balance, keep: config.budget.keep ?? 0 },
        budgets,
      }),
      scores,
      isSaved,
      assumptions: FORECAST_ASSUMPTIONS,
    };
  });
  show(context, 'plan-for/1', forecast, () => forecastText(forecast, context.out));
  return 0;
}

/** The end of the forecast. Throws a UsageError for one that is not after now, or more than a year ahead. */
function endOf({ for: length, until: day }: ForecastEnd, now: Date): Date {
  const last = new Date(now.getTime() + MOST_DAYS * DAY_MS);
  const [until, written] =
    length === undefined
      ? [new Date(Date.parse(`${addDays(day ?? '', 1)}T00:00:00Z`) - 1), `--until is ${day}`]
      : [new Date(now.getTime() + lengthOf(length)), `--for is ${JSON.stringify(length)}`];
  if (until > now && until <= last) return until;
  throw new UsageError(
    `plan: ${written}; allowed is a future ${length === undefined ? 'day' : 'duration with a unit, such as 30d,'} that ends by ${dayOf(last)}`,
    {
      next: 'Write for example --for 30d, or --until with the last UTC day of the forecast.',
    },
  );
}

const lengthOf = (written: string): number => {
  const parsed = duration.safeParse(written);
  return parsed.success ? parsed.data : Number.NaN;
};
