/** Points set aside for the calls of a run: the most that each can cost until it is known what it did cost. */
import type { BudgetGuard, Limit } from '../ops/budget.ts';

/** Points set aside for one call. */
export interface Aside {
  /** Says what the call cost, or may have; only the first word counts. */
  readonly settle: (cost: number) => void;
}

/** Sets points aside; else gives the limit that does not allow it, once nothing under way can give any back. */
export type Purse = (points: number) => Promise<Aside | Limit>;

/**
 * A purse over the limits of a run. The most that a call can cost may be a hundred times what it does cost, so a limit is
 * reached only when it is known what those under way cost.
 */
export function openPurse(budget: BudgetGuard): Purse {
  const open = new Set<Promise<void>>();
  return async (points) => {
    for (;;) {
      const reached = budget.reserve(points);
      if (!reached) {
        const { promise, resolve } = Promise.withResolvers<void>();
        open.add(promise);
        return {
          settle: (cost) => {
            if (!open.delete(promise)) return;
            budget.giveBack(points - cost);
            resolve();
          },
        };
      }
      if (open.size === 0) return reached;
      await Promise.race(open);
    }
  };
}
