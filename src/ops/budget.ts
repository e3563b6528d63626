/** Limits in points, checked before each call with the most that it can cost. */

/** A limit and what counts against it already. */
export interface Limit {
  /** As in "the budget per run". */
  readonly what: string;
  readonly points: number;
  readonly spent: number;
}

/** Points that count against every limit of a guard. */
export interface SetAside {
  /** Gives back what a call did not cost after all; less than 0 when it cost more. Never rejects. */
  readonly giveBack: (points: number) => Promise<void>;
}

export interface BudgetGuard {
  /** The limit that does not allow so many points as things stand; undefined when all do. */
  readonly check: (points: number) => Promise<Limit | undefined>;
  /** Sets points aside; else gives the limit that does not allow it, and sets nothing aside. */
  readonly reserve: (points: number) => Promise<SetAside | Limit>;
}

/** A guard over limits of this process alone; what is set aside counts against each. */
export function openBudget(limits: readonly Limit[]): BudgetGuard {
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
  };
}

/** A guard that allows what both allow. */
export const bothBudgets = (first: BudgetGuard, second: BudgetGuard): BudgetGuard => ({
  check: async (points) => (await first.check(points)) ?? second.check(points),
  reserve: async (points) => {
    const one = await first.reserve(points);
    if (!('giveBack' in one)) return one;
    let other: SetAside | Limit | undefined;
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
