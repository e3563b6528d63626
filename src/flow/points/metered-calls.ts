/** The calls of a run whose true cost the request log has yet to confirm, and the tickets that let them in. */
import type { MeteredBudget } from '../../control/budget/local-budget.ts';
import type { Outcome } from '../../extract/outcome.ts';
import type { LedgerRequest } from '../../ledger/requests.ts';
import type { LogCheck } from './log-check.ts';
import { balanceIn, mayCost, type Ticket } from './ticket.ts';

/** A request whose attempts in this process the log has yet to confirm. */
export interface MeteredCall {
  readonly id: string;
  /** When its first attempt in this process was about to be sent. */
  readonly sentMs: number;
  /** Points that the log charged for it before. */
  readonly base: number;
  /** Points that count against the limits for attempts that ended. */
  counted: number;
  /** Those of them for refused attempts (429, 503). They count until a reading shows no charge for them. */
  refused: number;
  inFlight: number;
  /** Attempts that must have a row in the log. */
  due: number;
  /** A row without a charge may get its cost later. */
  mayCostLater: boolean;
  /** Attempts in this process that began. */
  attempts: number;
  /** The log has shown its cost, which replaced all that counted for its attempts. */
  isConfirmed: boolean;
  /** The log did not confirm it in time, so the guess counts. */
  isGivenUp: boolean;
}

export interface MeteredCallsOptions {
  readonly budget: Pick<MeteredBudget, 'add' | 'balance'>;
  readonly check: Pick<LogCheck, 'costs'>;
  readonly now: () => Date;
}

export class MeteredCalls {
  /** An answer's header showed the balance. */
  showsBalance = false;
  readonly #it: MeteredCallsOptions;
  readonly #calls = new Map<string, MeteredCall>();
  /** Points that the log charged, by request. */
  readonly #confirmed = new Map<string, number>();
  /** Points reserved, by ticket, for calls that have not ended. */
  readonly #open = new Map<Ticket, number>();
  /** The ratio of the costs in the last reading to the expected costs; at least 1. */
  #ratio = 1;
  #corrections = 0;
  #headers: Promise<unknown> = Promise.resolve();
  #change = Promise.withResolvers<void>();

  constructor(options: MeteredCallsOptions) {
    this.#it = options;
  }

  ids(): string[] {
    return [...this.#calls.keys()];
  }

  inFlight(): number {
    return this.#open.size;
  }

  /** How often a reading replaced expected costs by true ones. */
  corrections(): number {
    return this.#corrections;
  }

  /** Calls that ended, and that the log may still confirm. */
  waiting(): MeteredCall[] {
    return [...this.#calls.values()].filter((call) => call.inFlight === 0 && !call.isGivenUp);
  }

  unconfirmedPoints(): number {
    return this.waiting().reduce((sum, call) => sum + Math.max(call.counted, call.due), 0);
  }

  /** Points that calls in flight and unconfirmed ones may still cost, without those of one ticket. */
  outstanding(except?: Ticket): number {
    const reserved = [...this.#open].reduce((sum, [ticket, points]) => sum + (ticket === except ? 0 : points), 0);
    return reserved + this.waiting().reduce((sum, call) => sum + call.counted, 0);
  }

  firstSentMs(): number {
    return Math.min(...[...this.#calls.values()].map((call) => call.sentMs), this.#it.now().getTime());
  }

  /** True when the log must still show a row for one of these. */
  lackRows(calls: readonly MeteredCall[]): boolean {
    return calls.some((call) => call.due > 0 && this.#calls.has(call.id));
  }

  /** Makes the next reading look for calls that were given up too; false if no call lacks a row or was refused. */
  expectRows(): boolean {
    const calls = [...this.#calls.values()];
    if (!calls.some(({ due, refused }) => due > 0 || refused > 0)) return false;
    for (const call of calls) call.isGivenUp = false;
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
    await this.#headers;
  }

  /** Replaces the expected costs by those that the log shows. */
  async confirm(isLast: boolean): Promise<void> {
    const ended = [...this.#calls.values()]
      .filter(({ inFlight }) => inFlight === 0)
      .map((call) => ({ call, attempts: call.attempts }));
    const costs = await this.#it.check.costs(ended.map(({ call }) => call.id));
    let [shown, expected] = [0, 0];
    for (const { call, attempts } of ended) {
      const cost = costs.get(call.id);
      // Another attempt may have begun meanwhile.
      if (call.attempts !== attempts || cost?.charged === undefined || cost.rows < Math.max(call.due, 1)) continue;
      const points = cost.charged - call.base;
      if (points === 0 && call.counted > 0 && call.mayCostLater && !isLast) continue;
      call.isConfirmed = true;
      this.#calls.delete(call.id);
      this.#confirmed.set(call.id, cost.charged);
      shown += points;
      expected += call.counted;
      this.#corrections += 1;
      await this.#it.budget.add(points - call.counted);
    }
    if (expected > 0) this.#ratio = Math.max(1, shown / expected);
  }

  /** Gives back the points of refused attempts that the readings showed no charge for. A later row still counts. */
  async releaseRefused(): Promise<void> {
    for (const call of this.#calls.values()) {
      const { refused, inFlight } = call;
      if (refused === 0 || inFlight > 0) continue;
      call.refused = 0;
      call.counted -= refused;
      this.#corrections += 1;
      await this.#it.budget.add(-refused);
    }
  }

  /** Lets one call in. */
  openTicket(): Ticket {
    let call: MeteredCall | undefined;
    let isOver = false;
    /** The points that count until its answer is loaded: the most that the call can cost. */
    let provisional: number | undefined;
    let settled: number | undefined;
    let isAnswered = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      this.#open.delete(ticket);
      if (call) call.inFlight -= 1;
    };
    const ticket: Ticket = {
      claim: async (request, points) => {
        this.#open.set(ticket, points);
        call = await this.#begin(request);
      },
      answered: (outcome) => {
        const points = this.#open.get(ticket) ?? 0;
        end();
        if (!call) return;
        this.#count(call, outcome, points, ticket);
        isAnswered = outcome.kind === 'answered';
        provisional = points;
        this.announceChange();
      },
      settle: (points) => {
        if (settled !== undefined) return settled;
        const isRefused = points === 0 && isAnswered;
        // The log has shown the cost before the answer was loaded, so nothing is left to release.
        if (call?.isConfirmed) settled = provisional ?? points;
        else if (provisional === undefined) settled = points;
        else settled = isRefused ? provisional : Math.max(points, Math.min(provisional, points * this.#ratio));
        if (call && !call.isConfirmed && provisional !== undefined) {
          call.counted += settled - provisional;
          if (isRefused) call.refused += provisional;
          this.#forgetIfFree(call);
        }
        this.announceChange();
        return settled;
      },
      leave: () => {
        end();
        if (call) this.#forgetIfFree(call);
        this.announceChange();
      },
    };
    this.#open.set(ticket, 0);
    return ticket;
  }

  async #begin({ id, attempts }: Pick<LedgerRequest, 'id' | 'attempts'>): Promise<MeteredCall> {
    const known = this.#calls.get(id);
    if (known) {
      known.inFlight += 1;
      known.attempts += 1;
      known.isGivenUp = false;
      return known;
    }
    const isAgain = attempts > 0 || this.#confirmed.has(id);
    const base = isAgain ? ((await this.#it.check.costs([id])).get(id)?.charged ?? 0) : 0;
    const sentMs = this.#it.now().getTime();
    const call = {
      id,
      sentMs,
      base,
      counted: 0,
      refused: 0,
      inFlight: 1,
      due: 0,
      mayCostLater: false,
      attempts: 1,
      isConfirmed: false,
      isGivenUp: false,
    };
    this.#calls.set(id, call);
    return call;
  }

  /** Counts an ended attempt with the points reserved for it, and the balance that its answer shows. */
  #count(call: MeteredCall, outcome: Outcome, points: number, ticket: Ticket): void {
    call.counted += points;
    if (outcome.kind !== 'answered') return;
    if (mayCost(outcome.status)) {
      call.due += 1;
      call.mayCostLater ||= outcome.status < 300;
    }
    const { balance } = this.#it.budget;
    const left = balanceIn(outcome.headers['x-token-points']);
    if (!balance || left === undefined) return;
    this.showsBalance = true;
    this.#headers = this.#headers.then(() => balance.lower(left, this.outstanding(ticket)));
  }

  #forgetIfFree({ id, counted, due, inFlight }: MeteredCall): void {
    if (counted === 0 && due === 0 && inFlight === 0) this.#calls.delete(id);
  }
}
