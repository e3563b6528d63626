/** Points set aside for the calls of a run: the most that each can cost until it is known what it did cost. */
import type { BudgetGuard, Limit } from './local-budget.ts';

/** Points set aside for one call. */
export interface Reservation {
  readonly points: number;
  /** Says what the call cost, or may have; only the first word counts. */
  readonly settle: (cost: number) => void;
}

export interface Reservations {
  /**
   * Waits until the limits allow a call of so many points; else gives the limit that does not, once nothing under way
   * can give any back.
   */
  readonly waitForBudget: (points: number) => Promise<Limit | undefined>;
  /** Sets points aside; undefined when a limit does not allow it, for which `waitForBudget` waits. */
  readonly reserve: (points: number) => Promise<Reservation | undefined>;
  /** Waits until everything that was settled is given back. */
  readonly close: () => Promise<void>;
}

/**
 * A purse over the limits of a run. The most that a call can cost may be a hundred times what it does cost, so a limit is
 * reached only when it is known what those under way cost.
 */
export function openReservations(budget: BudgetGuard): Reservations {
  const open = new Set<Promise<void>>();
  const givingBack = new Set<Promise<void>>();
  return {
    waitForBudget: async (points) => {
      for (;;) {
        // Also what is settled while the limits are asked: they may have answered before.
        const before = [...open];
        const reached = await budget.check(points);
        if (!reached) return undefined;
        const underWay = [...before, ...open];
        if (underWay.length === 0) return reached;
        await Promise.race(underWay);
      }
    },
    reserve: async (points) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      open.add(promise);
      let taken: Awaited<ReturnType<BudgetGuard['reserve']>> | undefined;
      try {
        taken = await budget.reserve(points);
      } finally {
        if (!taken || !('giveBack' in taken)) {
          open.delete(promise);
          resolve();
        }
      }
      if (!('giveBack' in taken)) return undefined;
      const { giveBack } = taken;
      let isSettled = false;
      return {
        points,
        settle: (cost) => {
          if (isSettled) return;
          isSettled = true;
          const given = giveBack(points - cost).finally(() => {
            givingBack.delete(given);
            open.delete(promise);
            resolve();
          });
          givingBack.add(given);
        },
      };
    },
    close: async () => {
      await Promise.all(givingBack);
    },
  };
}
