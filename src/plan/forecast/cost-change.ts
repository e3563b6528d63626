/** Compares what two configs cost in a month. Pure. */
import type { Confidence } from '../pricing/price-book.ts';
import { type PointsRange, rounded, type ScheduledCost, sumOfRanges } from './scheduled-points.ts';

/** Days of a month in a comparison. */
export const MONTH_DAYS = 30;

/** The expected points of a sync in a month. */
export interface MonthlyCost extends PointsRange {
  readonly sync: string;
  readonly endpoint: string;
  /** Firings of its schedule, or of its parents' if it has none; null if nothing fires it, so one run is counted. */
  readonly firings: number | null;
  /** Questions that are due in this time; a stored answer within `max_age` serves the others. */
  readonly questions: number;
  readonly confidence: Confidence;
}

/** The cost of a month, from its firings. */
export function monthlyCost({ sync, endpoint, firings, once, confidence }: ScheduledCost): MonthlyCost {
  const counted = firings.length === 0 ? once : firings;
  return {
    sync,
    endpoint,
    firings: firings.length === 0 ? null : firings.length,
    questions: counted.reduce((sum, { questions }) => sum + questions, 0),
    ...sumOfRanges(counted),
    confidence,
  };
}

/** The points of a month before and after a change. */
export interface CostChange {
  readonly before: number;
  readonly after: number;
  /** Positive if the change costs more. */
  readonly change: number;
}

/** The cost of a sync in both configs; null if a config does not have it. */
export interface SyncCostChange {
  readonly sync: string;
  readonly before: MonthlyCost | null;
  readonly after: MonthlyCost | null;
  /** Likely points a month more, or less if negative. */
  readonly change: number;
}

/** Returns the change of each sync and of the total, by the likely costs. Syncs of both configs come first. */
export function costChange(
  before: readonly MonthlyCost[],
  after: readonly MonthlyCost[],
): { readonly syncs: readonly SyncCostChange[]; readonly total: CostChange } {
  const [earlier, later] = [before, after].map((costs) => new Map(costs.map((it) => [it.sync, it])));
  const names = new Set([...after.map(({ sync }) => sync), ...before.map(({ sync }) => sync)]);
  const syncs = [...names].map((sync): SyncCostChange => {
    const [one, other] = [earlier?.get(sync) ?? null, later?.get(sync) ?? null];
    return { sync, before: one, after: other, change: rounded((other?.likely ?? 0) - (one?.likely ?? 0)) };
  });
  const sum = (costs: readonly MonthlyCost[]): number =>
    rounded(costs.reduce((total, { likely }) => total + likely, 0));
  const total = { before: sum(before), after: sum(after) };
  return { syncs, total: { ...total, change: rounded(total.after - total.before) } };
}
