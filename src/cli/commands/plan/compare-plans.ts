/** `sluice plan --against`: what a change of the config costs a month. */
import type { Config } from '../../../config/definition.ts';
import { DAY_MS } from '../../../day.ts';
import { firingsUntil } from '../../../engine/firings.ts';
import { EXIT } from '../../../errors.ts';
import { scheduledCosts } from '../../../flow/forecast/scheduled-cost.ts';
import { costChange, MONTH_DAYS, monthlyCost } from '../../../plan/forecast/cost-change.ts';
import { ensureSchema } from '../../../warehouse/migrate/migrate.ts';
import { configAt } from '../../config-at.ts';
import type { Context } from '../../context.ts';
import { withWarehouseToPlan } from '../../open.ts';
import { show } from '../../terminal/show.ts';
import { ASSUMPTIONS, costChangeMarkdown, costChangeText } from '../../text/cost-change-text.ts';

/** Prices this config and the other one on the same warehouse; returns the exit code. */
export async function comparePlans(
  context: Context,
  config: Config,
  given: { readonly against: string; readonly markdown: boolean; readonly failAbove: number | undefined },
): Promise<number> {
  const { against, markdown, failAbove = null } = given;
  const other = await configAt(context, config, against);
  const [before, after] = await withWarehouseToPlan(context, config, async (warehouse) => {
    await ensureSchema(warehouse);
    const now = warehouse.clock.now();
    const until = new Date(now.getTime() + MONTH_DAYS * DAY_MS);
    const costs = async (of: Config) =>
      (await scheduledCosts(warehouse, of, { now, until, firingsUntil, signal: context.signal })).map(monthlyCost);
    return [await costs(other), await costs(config)];
  });
  const changes = costChange(before, after);
  const isAbove = failAbove !== null && changes.total.change > failAbove;
  const priced = { against, days: MONTH_DAYS, ...changes, assumptions: ASSUMPTIONS, failAbove, isAbove };
  show(context, 'plan-against/1', priced, () =>
    markdown ? costChangeMarkdown(priced) : costChangeText(priced, context.out),
  );
  return isAbove ? EXIT.rejects : EXIT.complete;
}
