/** Limits in points, checked before each call with the most that it can cost. */

/** A limit and the points that already count against it. */
export interface Limit {
  /** The limit in messages, such as "the budget per run". */
  readonly what: string;
  readonly points: number;
  readonly spent: number;
  /** Runs that may spend from it at the same time; absent for one run. */
  readonly runs?: number;
}

/** Points that count against every limit of a guard. */
export interface BudgetReservation {
  /** Adds points that a call cost beyond its reservation, even beyond a limit; negative gives points back. Never rejects. */
  readonly add: (points: number) => Promise<void>;
}

export interface BudgetGuard {
  /** Returns the limit that currently does not allow this many points; undefined if all do. */
  readonly check: (points: number) => Promise<Limit | undefined>;
  /** Reserves points, or returns the limit that does not allow it and reserves nothing. */
  readonly reserve: (points: number) => Promise<BudgetReservation | Limit>;
}

/** A guard whose counts follow the true points, which the request log shows after a call. */
export interface MeteredBudget extends BudgetGuard {
  /** Adds points to every limit, even beyond it; negative releases points. */
  readonly add: (points: number) => Promise<void>;
  /** Some limit also counts requests of earlier invocations. */
  readonly countsEarlier: boolean;
  /**
   * Counts what earlier requests cost in addition, once the ledger has it, in the limits that count those too: `points` for
   * the requests of this sync. If no run but that of `ownLease` is active, what its dead holder reserved no longer counts.
   */
  readonly addEarlier: (points: number, ownLease?: string) => Promise<void>;
  /** Returns the limit with the smallest remainder for each run; undefined without limits. */
  readonly tightest: () => Promise<Limit | undefined>;
  /** Absent if no points of the account must be kept. */
  readonly balance?: BalanceLimit;
}

/** The limit of `budget.keep`, which has no value until the balance is known. */
export interface BalanceLimit {
  /** True once this process has read the balance. */
  readonly isKnown: () => boolean;
  /** Sets the balance; `outstanding` points of unfinished requests are still to be paid from it. */
  readonly set: (points: number, outstanding: number) => Promise<void>;
  /** Like `set`, but only lowers what the limit allows. */
  readonly lower: (points: number, outstanding: number) => Promise<void>;
}

/** The mean of prices is a fraction, so sums of points are inexact by less than this. */
export const POINTS_ERROR = 1e-6;

/** Whether a limit allows this many more points. No points are allowed even beyond it. */
export const allows = (limit: Limit, points: number): boolean =>
  points <= 0 || limit.spent + points <= limit.points + POINTS_ERROR;

/** What a limit leaves for each run that may spend from it. */
export const leftForEach = ({ points, spent, runs = 1 }: Limit): number => Math.min(points, points - spent) / runs;

/** Returns the limit with the smallest remainder for each run; undefined without limits. */
export const tightestOf = (limits: readonly Limit[]): Limit | undefined =>
  limits.toSorted((a, b) => leftForEach(a) - leftForEach(b))[0];

/** Creates a guard for limits of this process alone; reservations count against each. */
export function openBudget(limits: readonly Limit[]): MeteredBudget {
  let reserved = 0;
  const add = async (points: number): Promise<void> => {
    reserved += points;
  };
  const reachedBy = (points: number): Limit | undefined => {
    const current = limits.map((limit) => ({ ...limit, spent: limit.spent + reserved }));
    return current.find((limit) => !allows(limit, points));
  };
  return {
    check: async (points) => reachedBy(points),
    reserve: async (points) => {
      const reached = reachedBy(points);
      if (reached) return reached;
      await add(points);
      return { add };
    },
    add,
    countsEarlier: false,
    addEarlier: async () => undefined,
    tightest: async () => tightestOf(limits.map((limit) => ({ ...limit, spent: limit.spent + reserved }))),
  };
}

/** Creates a guard that allows what both guards allow. */
export const bothBudgets = (first: MeteredBudget, second: MeteredBudget): MeteredBudget => ({
  add: async (points) => {
    await first.add(points);
    await second.add(points);
  },
  countsEarlier: first.countsEarlier || second.countsEarlier,
  addEarlier: async (points, ownLease) => {
    await first.addEarlier(points, ownLease);
    await second.addEarlier(points, ownLease);
  },
  tightest: async () => tightestOf([await first.tightest(), await second.tightest()].filter((it) => it !== undefined)),
  ...((first.balance ?? second.balance) && { balance: first.balance ?? second.balance }),
  check: async (points) => (await first.check(points)) ?? second.check(points),
  reserve: async (points) => {
    const one = await first.reserve(points);
    if (!('add' in one)) return one;
    let other: BudgetReservation | Limit | undefined;
    try {
      other = await second.reserve(points);
    } finally {
      if (!other || !('add' in other)) await one.add(-points);
    }
    if (!('add' in other)) return other;
    const { add } = other;
    return {
      add: async (added) => {
        await one.add(added);
        await add(added);
      },
    };
  },
});
