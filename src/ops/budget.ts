/** Limits in points, checked before each call with the most that it can cost. */
import { sql } from 'kysely';
import type { Ops } from './schema.ts';

/** A limit and what counts against it already. */
export interface Limit {
  /** As in "the budget per run". */
  readonly what: string;
  readonly points: number;
  readonly spent: number;
}

export interface BudgetGuard {
  /** Sets points aside; returns the limit that does not allow it, and sets nothing aside then. */
  readonly reserve: (points: number) => Limit | undefined;
  /** Gives back what a call did not cost after all. */
  readonly giveBack: (points: number) => void;
}

/** A guard over several limits at once; what is reserved counts against each. */
export function openBudget(limits: readonly Limit[]): BudgetGuard {
  let reserved = 0;
  return {
    reserve: (points) => {
      const reached = limits.find((limit) => limit.spent + reserved + points > limit.points);
      if (!reached) reserved += points;
      return reached && { ...reached, spent: reached.spent + reserved };
    },
    giveBack: (points) => {
      reserved -= points;
    },
  };
}

/** Points set aside for requests that were sent after this instant, over all syncs. */
export async function spentAfter(ops: Ops, since: Date): Promise<number> {
  const row = await ops
    .selectFrom('requests')
    .select(sql<string>`coalesce(sum(points), 0)`.as('points'))
    .where('sent_at', '>', sql<Date>`${since.toISOString()}::timestamptz`)
    .executeTakeFirstOrThrow();
  return Number(row.points);
}
