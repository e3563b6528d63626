/** Points reserved for the calls of a run: the most that each can cost, until its cost is known. */
import type { BudgetGuard, BudgetReservation, Limit } from './local-budget.ts';

/** Points reserved for one call. */
export interface Reservation extends BudgetReservation {
  readonly points: number;
  /** Sets the cost of the call, or its upper bound; only the first call counts. */
  readonly settle: (cost: number) => void;
}

export interface Reservations {
  /**
   * Waits until the limits allow a call with this many points. Returns the limit that does not, once no call in flight
   * can release any.
   */
  readonly waitForBudget: (points: number) => Promise<Limit | undefined>;
  /** Reserves points; undefined if a limit does not allow it, and then `waitForBudget` waits. */
  readonly reserve: (points: number) => Promise<Reservation | undefined>;
  /** Waits until the unused points of all settled reservations are released. */
  readonly close: () => Promise<void>;
}

/**
 * Creates reservations against the limits of a run. The most that a call can cost may be a hundred times its cost, so a
 * limit is reached only once the cost of all calls in flight is known.
 */
export function openReservations(budget: BudgetGuard): Reservations {
  const open = new Set<Promise<void>>();
  const releasing = new Set<Promise<void>>();
  return {
    waitForBudget: async (points) => {
      for (;;) {
        // Includes reservations that are settled during the check, since the check may not have seen them.
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
      const end = (): void => {
        open.delete(promise);
        resolve();
      };
      let reserved: BudgetReservation | Limit | undefined;
      try {
        reserved = await budget.reserve(points);
      } finally {
        if (!reserved || !('add' in reserved)) end();
      }
      if (!('add' in reserved)) return undefined;
      const { add } = reserved;
      let isSettled = false;
      return {
        add,
        points,
        settle: (cost) => {
          if (isSettled) return;
          isSettled = true;
          const released = add(cost - points).finally(() => {
            releasing.delete(released);
            end();
          });
          releasing.add(released);
        },
      };
    },
    close: async () => {
      await Promise.all(releasing);
    },
  };
}
