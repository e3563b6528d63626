/**
 * A limit in points for all invocations of a process together. It counts what each of them spent, also if it failed or was
 * interrupted. A cost that is still unknown when an invocation ends counts as the greatest possible one from then on.
 */
import { unverifiedPoints } from '../../ledger/log-costs.ts';
import type { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type MeteredBudget, openBudget } from './local-budget.ts';

/** What counts against a cap, in points. */
export interface CapUse {
  readonly cap: number;
  readonly spent: number;
  readonly left: number;
}

export interface SpendingCap {
  /** Counts with the limits of an invocation. */
  readonly budget: MeteredBudget;
  readonly use: () => Promise<CapUse>;
  /**
   * Ends an invocation that began at `since`: of its requests, as many as the request log does not confirm count at the
   * most that they can cost, those with the largest difference first. Never rejects.
   */
  readonly endInvocation: (warehouse: Parameters<typeof operationsOf>[0], since: Date) => Promise<void>;
}

/** Points that count for one request of the current invocation. */
interface Counted {
  readonly most: number;
  points: number;
}

/** A cap with nothing spent. Only one invocation at a time may use it. */
export function openSpendingCap(what: string, cap: number): SpendingCap {
  const budget = openBudget([{ what, points: cap, spent: 0 }]);
  let requests: Counted[] = [];
  /** Points that ended invocations added for unknown costs. */
  let assumed = 0;
  return {
    budget: {
      ...budget,
      countsEarlier: true,
      addEarlier: async (points) => {
        const known = Math.min(assumed, points);
        assumed -= known;
        await budget.add(points - known);
      },
      reserve: async (points) => {
        const reserved = await budget.reserve(points);
        if (!('add' in reserved)) return reserved;
        const counted = { most: points, points };
        requests.push(counted);
        return {
          add: async (added) => {
            counted.points += added;
            await reserved.add(added);
          },
        };
      },
    },
    use: async () => {
      const { spent = 0 } = (await budget.tightest()) ?? {};
      return { cap, spent, left: Math.max(0, cap - spent) };
    },
    endInvocation: async (warehouse, since) => {
      const unconfirmed = await unverifiedPoints(warehouse, { since }).catch(() => undefined);
      // A request that counts nothing was not sent, or surely cost nothing.
      const missing = requests.filter(({ points }) => points > 0).map(({ most, points }) => Math.max(0, most - points));
      requests = [];
      const largest = missing.toSorted((a, b) => b - a).slice(0, unconfirmed?.requests);
      const added = largest.reduce((sum, points) => sum + points, 0);
      assumed += added;
      await budget.add(added);
    },
  };
}
