/** The balances of the account that the headers of answers show, counted in the limit of `budget.keep`. */
import { batched } from '../../async/batcher.ts';
import type { BalanceLimit } from '../../control/budget/local-budget.ts';
import type { Outcome } from '../../extract/outcome.ts';
import { balanceIn, type Ticket } from './ticket.ts';

/** A balance, and the ticket of the call whose answer showed it. */
interface ShownBalance {
  readonly left: number;
  readonly ticket: Ticket;
}

export class HeaderBalances {
  /** True once an answer showed the balance. */
  areShown = false;
  readonly #lower: (shown: ShownBalance) => Promise<void>;
  #counted: Promise<void> = Promise.resolve();

  /** `outstanding` returns the points that all calls but the one with the ticket may still cost. */
  constructor(balance: Pick<BalanceLimit, 'lower'>, outstanding: (except: Ticket) => number) {
    // Answers that arrive while a balance is counted wait for the next one, which counts what allows least.
    this.#lower = batched(
      async (shown: readonly ShownBalance[]): Promise<void[]> => {
        const balances = shown.map(({ left, ticket }) => ({ left, outstanding: outstanding(ticket) }));
        const lowest = balances.reduce((a, b) => (b.left - b.outstanding < a.left - a.outstanding ? b : a));
        await balance.lower(lowest.left, lowest.outstanding);
        return shown.map(() => undefined);
      },
      { maxItems: 1000, failsWholeBatch: () => true },
    );
  }

  /** Counts the balance that an answer shows, if it shows one. */
  add(outcome: Outcome, ticket: Ticket): void {
    const left = outcome.kind === 'answered' ? balanceIn(outcome.headers['x-token-points']) : undefined;
    if (left === undefined) return;
    this.areShown = true;
    // A result would hold those of all headers before.
    this.#counted = Promise.all([this.#counted, this.#lower({ left, ticket })]).then(() => undefined);
  }

  /** Resolves when the balances that were shown are counted. */
  async counted(): Promise<void> {
    await this.#counted;
  }
}
