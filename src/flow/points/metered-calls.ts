/** The calls of a run whose true cost the request log has yet to confirm, and the tickets that let them in. */
import type { MeteredBudget } from '../../control/budget/local-budget.ts';
import type { Outcome } from '../../extract/outcome.ts';
import type { LedgerRequest } from '../../ledger/requests/planned.ts';
import { HeaderBalances } from './header-balances.ts';
import type { RequestLogReader } from './request-log-reader.ts';
import {
  correctCall,
  countedPoints,
  type EndedAttempt,
  hasRefused,
  type MeteredCall,
  newCall,
  releaseRefused,
  shownCost,
  type TicketState,
} from './metered-call.ts';
import { WaitingCalls } from './waiting-calls.ts';
import { ROWS_BEYOND_CALLS } from '../run/read-request-log.ts';
import { isInputError, mayCost, type Reserved, type Ticket } from './ticket.ts';

export interface MeteredCallsOptions {
  readonly budget: Pick<MeteredBudget, 'balance'>;
  readonly logReader: Pick<RequestLogReader, 'costs'>;
  readonly now: () => Date;
}

export class MeteredCalls {
  readonly #it: MeteredCallsOptions;
  readonly #calls = new Map<string, MeteredCall>();
  readonly #waiting = new WaitingCalls();
  /** Absent if no balance must be kept. */
  readonly #balances: HeaderBalances | undefined;
  /** Points that count for requests whose calls ended or were free. */
  readonly #confirmed = new Map<string, number>();
  /** Points reserved, by ticket, for calls that have not ended. */
  readonly #open = new Map<Ticket, number>();
  /** The ratio of the costs in the last reading to the expected costs; at least 1. */
  #ratio = 1;
  #corrections = 0;
  /** False once a reading waited in vain for the rows of errors alone: the log does not have them. */
  #hasErrors = true;
  /** Calls so far. */
  #begun = 0;
  #change = Promise.withResolvers<void>();

  constructor(options: MeteredCallsOptions) {
    this.#it = options;
    const { balance } = options.budget;
    this.#balances = balance && new HeaderBalances(balance, (except) => this.outstanding(except));
  }

  /** True once the header of an answer showed the balance. */
  showsBalance(): boolean {
    return this.#balances?.areShown === true;
  }

  ids(): string[] {
    return [...this.#calls.keys()];
  }

  /** Calls that were let in and have not ended. */
  openTickets(): number {
    return this.#open.size;
  }

  /** How often a reading replaced expected costs by true ones. */
  corrections(): number {
    return this.#corrections;
  }

  /** Calls that ended, and that the log may still confirm. */
  waiting(): MeteredCall[] {
    return this.#waiting.calls();
  }

  /** How many calls ended, and the log may still confirm. */
  waitingCount(): number {
    return this.#waiting.size();
  }

  unconfirmedPoints(): number {
    return this.#waiting.unconfirmed();
  }

  /** Points that calls in flight and unconfirmed ones may still cost, without those of one ticket. */
  outstanding(except?: Ticket): number {
    const reserved = [...this.#open].reduce((sum, [ticket, points]) => sum + (ticket === except ? 0 : points), 0);
    return reserved + this.#waiting.counted();
  }

  /** Where a reading must begin to show the rows of all calls that it looks for, and how many calls there were since then. */
  toRead(): { readonly fromMs: number; readonly calls: number } {
    // Otherwise a call without a row would make each later reading begin at it.
    const isTooOld = (call: MeteredCall): boolean => call.isGivenUp && this.#begun - call.place > ROWS_BEYOND_CALLS;
    const sought = [...this.#calls.values()].filter((call) => !isTooOld(call));
    const fromMs = sought.reduce((least, { sentMs }) => Math.min(least, sentMs), this.#it.now().getTime());
    const first = sought.reduce((least, { place }) => Math.min(least, place), this.#begun);
    return { fromMs, calls: this.#begun - first };
  }

  /** Stops waiting for the rows of these calls, which the log does not show, until `expectRows` looks for them again. */
  giveUp(calls: readonly MeteredCall[], { hasWaited }: { readonly hasWaited: boolean }): void {
    if (hasWaited && this.mayLackRows(calls) && !this.lackRows(calls)) this.#hasErrors = false;
    for (const call of calls) {
      if (call.inFlight > 0) continue;
      call.isGivenUp = true;
      this.#recount(call);
    }
  }

  /** True when the log must still show a row for one of these. */
  lackRows(calls: readonly MeteredCall[]): boolean {
    return calls.some((call) => call.due > 0 && this.#calls.has(call.id));
  }

  /** True when the log may still show a row for one of these. */
  mayLackRows(calls: readonly MeteredCall[]): boolean {
    return (
      this.lackRows(calls) ||
      (this.#hasErrors && calls.some((call) => call.inputErrors > 0 && this.#calls.has(call.id)))
    );
  }

  /** Makes the next reading look for calls that were given up too; false if none may have a row that was not read. */
  expectRows(): boolean {
    const calls = [...this.#calls.values()];
    if (!calls.some((call) => call.due > 0 || countedPoints(call) > 0)) return false;
    for (const call of calls) {
      call.isGivenUp = false;
      this.#recount(call);
    }
    return true;
  }

  /** Resolves when a call begins or ends, or when a reading ends. */
  nextChange(): Promise<void> {
    return this.#change.promise;
  }

  announceChange(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** Resolves when the balances that headers showed are counted. */
  async headersCounted(): Promise<void> {
    await this.#balances?.counted();
  }

  /** Replaces the expected costs by those that the log shows. */
  async confirm(isLast: boolean): Promise<void> {
    const ended = [...this.#calls.values()]
      .filter(({ inFlight }) => inFlight === 0)
      .map((call) => ({ call, attempts: call.attempts }));
    const costs = await this.#it.logReader.costs(ended.map(({ call }) => call.id));
    let charged = 0;
    let expected = 0;
    const corrections: Promise<void>[] = [];
    for (const { call, attempts } of ended) {
      const cost = costs.get(call.id);
      // Another attempt may have begun meanwhile.
      const shown =
        cost && call.attempts === attempts ? shownCost(call, cost, { isLast, hasErrors: this.#hasErrors }) : undefined;
      if (!shown) continue;
      const { points, isComplete, lacksRow } = shown;
      const counted = countedPoints(call);
      if (isComplete) {
        charged += points;
        expected += counted;
      }
      if (!lacksRow) this.#end(call, points);
      corrections.push(correctCall(call, points - counted));
      this.#recount(call);
    }
    await Promise.all(corrections);
    if (expected > 0) this.#ratio = Math.max(1, charged / expected);
  }

  /** Gives back the points of refused attempts that the readings showed no charge for. A later row still counts. */
  async releaseRefused(): Promise<void> {
    const refused = [...this.#calls.values()].filter((call) => call.inFlight === 0 && hasRefused(call));
    this.#corrections += refused.length;
    const released = refused.map(releaseRefused);
    for (const call of refused) this.#recount(call);
    await Promise.all(released);
  }

  /** Lets one call in. */
  openTicket(): Ticket {
    let state: TicketState = { is: 'open' };
    const ticket: Ticket = {
      claim: async (request, reserved) => {
        this.#open.set(ticket, reserved.points);
        state = { is: 'sending', call: await this.#begin(request), reserved };
      },
      ended: (outcome) => {
        if (state.is !== 'sending') return;
        const { call, reserved } = state;
        this.#open.delete(ticket);
        call.inFlight -= 1;
        state = { is: 'answered', call, attempt: this.#countEnded(call, outcome, reserved) };
        this.#recount(call);
        this.#balances?.add(outcome, ticket);
        this.announceChange();
      },
      settle: (points) => {
        if (state.is === 'settled') return state.points;
        const settled = state.is === 'answered' ? this.#settle(state.call, state.attempt, points) : points;
        state = { is: 'settled', points: settled };
        this.announceChange();
        return settled;
      },
      cancel: () => {
        this.#open.delete(ticket);
        if (state.is === 'sending') {
          state.call.inFlight -= 1;
          this.#forgetIfFree(state.call);
          state = { is: 'canceled' };
        }
        this.announceChange();
      },
    };
    this.#open.set(ticket, 0);
    return ticket;
  }

  async #begin({ id, attempts }: Pick<LedgerRequest, 'id' | 'attempts'>): Promise<MeteredCall> {
    const isAgain = attempts > 0 || this.#calls.has(id) || this.#confirmed.has(id);
    const logged = isAgain ? (await this.#it.logReader.costs([id])).get(id) : undefined;
    const rows = logged?.rows ?? 0;
    const points = this.#confirmed.get(id) ?? logged?.charged ?? 0;
    const sentMs = this.#it.now().getTime();
    this.#begun += 1;
    const call = this.#calls.get(id) ?? newCall({ id, sentMs, place: this.#begun, before: { points, rows } });
    this.#calls.set(id, call);
    call.rowsBefore = rows;
    call.inFlight += 1;
    call.attempts += 1;
    call.isGivenUp = false;
    this.#recount(call);
    return call;
  }

  /** Counts an ended attempt at its expected cost; returns the points that count until the log shows the cost. */
  #settle(call: MeteredCall, attempt: EndedAttempt, expected: number): number {
    const { points } = attempt.reserved;
    // The log has shown the cost before the answer was loaded, so nothing is left to release.
    if (call.isConfirmed) return points;
    attempt.isRefused = points > 0 && expected === 0 && attempt.kind === 'answered';
    const settled = attempt.isRefused ? points : Math.max(expected, Math.min(points, expected * this.#ratio));
    attempt.counted += settled - points;
    // A lost attempt without cost has no row, or its row is among those before the next attempt.
    if (expected === 0 && attempt.kind === 'unknown') call.lost -= 1;
    this.#forgetIfFree(call);
    return settled;
  }

  /** Ends a call whose cost the log has shown. */
  #end(call: MeteredCall, points: number): void {
    call.isConfirmed = true;
    this.#calls.delete(call.id);
    this.#confirmed.set(call.id, call.before.points + points);
    this.#corrections += 1;
  }

  /** Counts an ended attempt with the points reserved for it. */
  #countEnded(call: MeteredCall, outcome: Outcome, reserved: Reserved): EndedAttempt {
    const attempt = { reserved, kind: outcome.kind, counted: reserved.points, isRefused: false };
    call.ended.push(attempt);
    if (outcome.kind === 'unknown') call.lost += 1;
    if (outcome.kind !== 'answered') return attempt;
    if (isInputError(outcome.status)) call.inputErrors += 1;
    if (mayCost(outcome.status)) {
      call.due += 1;
      call.leastRows = Math.max(call.leastRows, call.rowsBefore + 1);
      call.mayCostLater ||= outcome.status < 300;
    }
    return attempt;
  }

  #forgetIfFree(call: MeteredCall): void {
    if (countedPoints(call) === 0 && call.due === 0 && call.inFlight === 0) {
      this.#calls.delete(call.id);
      // The rows of lost attempts must not pass for those of later ones.
      this.#confirmed.set(call.id, call.before.points);
    }
    this.#recount(call);
  }

  /** Updates the sums after a change of the call. */
  #recount(call: MeteredCall): void {
    const isKept = this.#calls.get(call.id) === call;
    this.#waiting.update(call, isKept && call.inFlight === 0 && !call.isGivenUp);
  }
}
