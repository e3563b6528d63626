/** Limits in points, checked before each call with the most that it can cost. */

/** A limit and what counts against it already. */
export interface Limit {
  /** As in "the budget per run". */
  readonly what: string;
  readonly points: number;
  readonly spent: number;
}

/** Points that count against every limit of a guard. */
export interface BudgetReservation {
  /** Gives back what a call did not cost after all; less than 0 when it cost more. Never rejects. */
  readonly giveBack: (points: number) => Promise<void>;
}

export interface BudgetGuard {
  /** The limit that does not allow so many points as things stand; undefined when all do. */
  readonly check: (points: number) => Promise<Limit | undefined>;
  /** Sets points aside; else gives the limit that does not allow it, and sets nothing aside. */
  readonly reserve: (points: number) => Promise<BudgetReservation | Limit>;
}

/** A guard whose counts follow the true points, which the request log shows after a call was paid for. */
export interface MeteredBudget extends BudgetGuard {
  /** Counts so many points more against every limit, whatever the limits say; less than 0 gives points back. */
  readonly add: (points: number) => Promise<void>;
  /** The limit that leaves the least; undefined without limits. */
  readonly tightest: () => Promise<Limit | undefined>;
  /** Absent where no points of the account are to be kept. */
  readonly balance?: BalanceLimit;
}

/** The limit that `budget.keep` sets, which holds no number until the balance is known. */
export interface BalanceLimit {
  /** True once this process has read the balance. */
  readonly isKnown: () => boolean;
  /** Sets the balance, from which `outstanding` points that requests may cost are still to be paid. */
  readonly set: (points: number, outstanding: number) => Promise<void>;
  /** As `set`, but only lowers what the limit allows. */
  readonly lower: (points: number, outstanding: number) => Promise<void>;
}

const leftOf = ({ points, spent }: Limit): number => points - spent;

/** The limit that leaves the least; undefined without limits. */
export const tightestOf = (limits: readonly Limit[]): Limit | undefined =>
  limits.toSorted((a, b) => leftOf(a) - leftOf(b))[0];

/** A guard over limits of this process alone; what is set aside counts against each. */
export function openBudget(limits: readonly Limit[]): MeteredBudget {
  let reserved = 0;
  const reachedBy = (points: number): Limit | undefined => {
    const reached = limits.find((limit) => limit.spent + reserved + points > limit.points);
    return reached && { ...reached, spent: reached.spent + reserved };
  };
  return {
    check: async (points) => reachedBy(points),
    reserve: async (points) => {
      const reached = reachedBy(points);
      if (reached) return reached;
      reserved += points;
      return {
        giveBack: async (back) => {
          reserved -= back;
        },
      };
    },
    add: async (points) => {
      reserved += points;
    },
    tightest: async () => tightestOf(limits.map((limit) => ({ ...limit, spent: limit.spent + reserved }))),
  };
}

/** A guard that allows what both allow. */
export const bothBudgets = (first: MeteredBudget, second: MeteredBudget): MeteredBudget => ({
  add: async (points) => {
    await first.add(points);
    await second.add(points);
  },
  tightest: async () => tightestOf([await first.tightest(), await second.tightest()].filter((it) => it !== undefined)),
  ...((first.balance ?? second.balance) && { balance: first.balance ?? second.balance }),
  check: async (points) => (await first.check(points)) ?? second.check(points),
  reserve: async (points) => {
    const one = await first.reserve(points);
    if (!('giveBack' in one)) return one;
    let other: BudgetReservation | Limit | undefined;
    try {
      other = await second.reserve(points);
    } finally {
      if (!other || !('giveBack' in other)) await one.giveBack(points);
    }
    if (!('giveBack' in other)) return other;
    const { giveBack } = other;
    return {
      giveBack: async (back) => {
        await one.giveBack(back);
        await giveBack(back);
      },
    };
  },
});
