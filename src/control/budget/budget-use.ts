/** How much of the limits of a day and of a month is spent. */
import type { Budget } from '../../config/definition.ts';
import { DAY_MS } from '../../day.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { spentSince } from './spending-counters.ts';
import { type BudgetTag, limitsOfTags, periodAt, periodLimits } from './spending-period.ts';

/** A limit, and what the ledger counts against it in the current period. */
export interface BudgetUse {
  /** The key of the config, such as `budget.tags.team.growth.per_month`. */
  readonly budget: string;
  /** The UTC day or month, `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period: string;
  readonly limit: number;
  /** As charged by the service if known, otherwise by the price list. */
  readonly spent: number;
  /** The mean of the last 7 days. */
  readonly spentPerDay: number;
  /** The start of the period. */
  readonly from: Date;
  /** The end of the period, which is not part of it. */
  readonly until: Date;
  /** The tag of the syncs that count; undefined for all. */
  readonly tag: BudgetTag | undefined;
}

/** Days of the rate at which points are spent. */
const RATE_DAYS = 7;

/** Returns the use of each limit of a day or a month, those of tags last. */
export async function readBudgetUse(
  warehouse: Pick<Warehouse, 'db' | 'ops'>,
  budget: Budget,
  now: Date,
): Promise<readonly BudgetUse[]> {
  const uses: BudgetUse[] = [];
  for (const { what, points, length, tag } of [...periodLimits(budget), ...limitsOfTags(budget)]) {
    const period = periodAt(now, length, tag);
    const { points: spent } = await spentSince(warehouse, period.from, period);
    const week = { from: new Date(now.getTime() - RATE_DAYS * DAY_MS), tag };
    const { points: recent } = await spentSince(warehouse, week.from, week);
    uses.push({
      budget: what,
      period: period.name,
      limit: points,
      spent: Number(spent),
      spentPerDay: Number(recent) / RATE_DAYS,
      from: period.from,
      until: period.before,
      tag,
    });
  }
  return uses;
}
