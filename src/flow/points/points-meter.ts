/**
 * Enforces limits in true points: calls are admitted as far as the request log confirms the cost of earlier calls.
 * While the price of the endpoint is a guess, one call runs at a time, and the log is read after it. Later, the log is
 * read after each tenth of the tightest limit's remainder, after a minute, and at the end. `metered-calls.ts` knows the calls
 * and what counts for them, and `request-log-reader.ts` reads the log.
 */
import { orAborted, orSignal } from '../../async/or-aborted.ts';
import { leftForEach, type MeteredBudget, POINTS_ERROR } from '../../control/budget/local-budget.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import type { Effects } from '../effects.ts';
import type { RequestLogReader } from './request-log-reader.ts';
import type { MeteredCall } from './metered-call.ts';
import { pagesWith } from '../run/read-request-log.ts';
import { MeteredCalls } from './metered-calls.ts';
import { type PointsMeter, type Refusal, type Ticket } from './ticket.ts';
import { LOG_PATH } from '../../service/request-log/request-log.ts';

export interface Metering extends Pick<Effects, 'now' | 'sleep'> {
  readonly budget: MeteredBudget;
  readonly logReader: Pick<RequestLogReader, keyof RequestLogReader>;
  /** The prices at the start. */
  readonly prices: PriceBook;
  /** The lease of the run, if an earlier holder may have left points reserved; absent for a chunk, whose run has other workers. */
  readonly inheritedLease?: string | undefined;
  /** Most concurrent calls of the token. */
  readonly inFlight: number;
  /** Buys even while the balance is unknown. */
  readonly mayIgnoreBalance: boolean;
}

/** The log is read again after this share of a limit's remainder for each run, since a price may rise tenfold unnoticed. */
const SHARE = 10;
/** The log is also read again after this time. */
const AGAIN_MS = 60_000;
/** How long after the answer a row or its cost may still appear. */
const PATIENCE_MS = 30_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;
/** Failed reads in a row before the log counts as unreadable. */
const MOST_FAILURES = 4;
/** After this many free or empty answers, an endpoint's price counts as known. */
const ENOUGH_SAMPLES = 3;

/** How a run ends that may not buy because of `budget.keep`. */
const KEEP = { reason: 'points-reached', forAll: false } as const;

/** A meter for the calls of one run or chunk in this process. */
export class TruePointsMeter implements PointsMeter {
  #prices: PriceBook;
  readonly #it: Metering;
  readonly #calls: MeteredCalls;
  /** Unconfirmed points from which the log is read again. */
  #threshold = 0;
  #lastReadMs: number;
  #isProbed = false;
  /** False if the log did not confirm the calls in the last wait. Then the next reading waits for a shorter time. */
  #isPatient = true;
  #isUnreadable = false;
  /** The service refused the last read, so another one soon would fail too. */
  #isReadingRefused = false;
  #isUnconfirmed = false;
  #beginning: Promise<void> | undefined;
  #verifying: Promise<boolean> | undefined;

  constructor(options: Metering) {
    this.#it = options;
    this.#prices = options.prices;
    this.#calls = new MeteredCalls(options);
    this.#lastReadMs = this.#nowMs();
  }

  /** Waits until a call may be made; see `PointsMeter`. */
  async enter(signal: AbortSignal): Promise<Ticket | Refusal | undefined> {
    while (!signal.aborted) {
      this.#beginning ??= this.#begin(signal);
      await this.#beginning;
      await this.#calls.headersCounted();
      const refused = this.#refusal();
      if (refused) return refused;
      const first = this.#dueFirst();
      if (first === undefined) return this.#calls.openTicket();
      await (first === 'reading' ? this.#verifyOnce(signal) : orSignal(this.#calls.nextChange(), signal));
    }
    return undefined;
  }

  prices(): PriceBook {
    return this.#prices;
  }

  most(points: number): number {
    return this.#isProbing() ? Math.max(points, 1) : points;
  }

  async verify(signal: AbortSignal): Promise<boolean> {
    return this.#calls.waitingCount() === 0 ? false : this.#verifyOnce(signal);
  }

  async finish(signal: AbortSignal): Promise<void> {
    await this.#calls.headersCounted();
    if (!signal.aborted && this.#calls.expectRows()) await this.#verifyOnce(signal);
    await this.#it.logReader.end();
  }

  /** The price is a guess: one call is in flight at a time. */
  #isProbing(): boolean {
    return !this.#isProbed && this.#prices.priced === 0 && this.#prices.samples < ENOUGH_SAMPLES;
  }

  /** What must precede the next call: a reading of the log, or the end of the calls in flight, so that one reading covers all. */
  #dueFirst(): 'reading' | 'end' | undefined {
    const calls = this.#calls;
    const points = calls.unconfirmedPoints();
    if (points > 0 && this.#nowMs() - this.#lastReadMs >= AGAIN_MS) return 'reading';
    if (this.#isProbing()) {
      if (calls.openTickets() > 0) return 'end';
      return points > 0 && !this.#isReadingRefused ? 'reading' : undefined;
    }
    if (points === 0 || points < this.#threshold || this.#isReadingRefused) return undefined;
    // The limit may be exceeded by as many calls as may be in flight.
    if (calls.waitingCount() + calls.openTickets() < this.#it.inFlight) return undefined;
    return calls.openTickets() > 0 ? 'end' : 'reading';
  }

  /** Finds the end of the log and the balance, before the first call. */
  async #begin(signal: AbortSignal): Promise<void> {
    const { budget, logReader, sleep } = this.#it;
    const { balance } = budget;
    if (await this.#wouldReadInVain()) {
      // A limit of a period may allow calls again later.
      this.#beginning = undefined;
      return;
    }
    if (!logReader.isPositioned() || (balance && !balance.isKnown())) {
      for (let [failures, waitMs] = [1, FIRST_WAIT_MS]; !signal.aborted; failures += 1, waitMs *= 2) {
        const { outcome, points } = await logReader.begin(balance !== undefined, signal);
        await budget.add(points);
        this.#noteOutcome(outcome);
        if (!this.#isUnreadable || outcome === 'refused' || failures >= MOST_FAILURES) break;
        await sleep(waitMs, signal);
      }
      if (!this.#isUnreadable) await this.#learnBalance();
    }
    const confirmsEarlier = this.#isProbing() || budget.countsEarlier;
    if (confirmsEarlier && !this.#isUnreadable) await this.#confirmEarlier(signal);
    await this.#measure();
  }

  /** A limit is used up, so that nothing can be bought. A reading that costs points would exceed it further at each start. */
  async #wouldReadInVain(): Promise<boolean> {
    const { budget, logReader } = this.#it;
    // Only a reading shows the balance.
    if (budget.balance || logReader.isPositioned()) return false;
    const tightest = await budget.tightest();
    if (!tightest || leftForEach(tightest) > POINTS_ERROR) return false;
    return logReader.wouldOnlyCost(this.#isProbing());
  }

  /**
   * Confirms what interrupted invocations sent. Otherwise each of them could send calls at a guess or at a price that has
   * risen, and none would learn the price.
   */
  async #confirmEarlier(signal: AbortSignal): Promise<void> {
    const { budget, logReader, inheritedLease } = this.#it;
    const found = await logReader.confirmEarlier(this.#isProbing(), signal);
    if (!found && inheritedLease === undefined) return;
    await budget.add(found?.points ?? 0);
    // No call of this run has reserved points yet.
    await budget.addEarlier(found?.excess ?? 0, inheritedLease);
    // The log was read to settle the lost calls of the run, and may show a price that has risen.
    if (found || !this.#isProbing()) this.#prices = await logReader.prices();
    if (found) await this.#learnBalance();
  }

  /** The reason why nothing may be bought now, if a balance must be kept. */
  #refusal(): Refusal | undefined {
    const { budget, logReader, mayIgnoreBalance } = this.#it;
    if (!budget.balance || mayIgnoreBalance) return undefined;
    const next = `Run the sync again when GET ${LOG_PATH} can be read and shows points_left; budget.unknown_balance: spend buys without it.`;
    const reason = logReader.problem();
    if (!budget.balance.isKnown())
      return (
        logReader.refusedToken() ?? {
          ...KEEP,
          because: `budget.keep is set and the balance is not known: ${reason ?? 'the request log shows no points_left for this token'}`,
          next,
        }
      );
    if (!this.#isUnconfirmed || this.#calls.showsBalance()) return undefined;
    return {
      ...KEEP,
      because: `budget.keep is set and the request log does not confirm what was spent${reason === null ? ' within 30 s' : `: ${reason}`}`,
      next,
    };
  }

  /** Reads the log until it confirms the ended calls; callers at the same time share one reading. */
  #verifyOnce(signal: AbortSignal): Promise<boolean> {
    this.#verifying ??= this.#verifyNow(signal).finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #verifyNow(signal: AbortSignal): Promise<boolean> {
    const targets = this.#calls.waiting();
    const before = this.#calls.corrections();
    await this.#readUntilConfirmed(targets, signal);
    if (!signal.aborted) {
      this.#isUnconfirmed = this.#calls.lackRows(targets) || this.#isUnreadable;
      this.#calls.giveUp(targets, { hasWaited: this.#isPatient && !this.#isUnreadable });
      // An outage must not use up the limits: the run ends because of the service.
      await this.#calls.releaseRefused();
      this.#isPatient = !this.#isUnconfirmed;
      // Without a row in the log, the guess counts.
      if (targets.length > 0 && this.#isUnconfirmed) this.#isProbed = true;
    }
    if (!this.#isUnreadable) {
      this.#prices = await this.#it.logReader.prices();
      await this.#learnBalance();
    }
    await this.#measure();
    this.#calls.announceChange();
    return this.#calls.corrections() > before;
  }

  async #readUntilConfirmed(targets: readonly MeteredCall[], signal: AbortSignal): Promise<void> {
    const { sleep } = this.#it;
    const untilMs = this.#nowMs() + (this.#isPatient ? PATIENCE_MS : 0);
    let failures = 0;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const outcome = await this.#read(waitMs === FIRST_WAIT_MS, signal);
      this.#noteOutcome(outcome);
      failures = this.#isUnreadable ? failures + 1 : 0;
      const mayWait = this.#nowMs() + waitMs <= untilMs && outcome !== 'refused' && failures < MOST_FAILURES;
      if (!this.#isUnreadable) await this.#calls.confirm(!mayWait);
      if (!this.#calls.mayLackRows(targets) || signal.aborted) return;
      if (!mayWait && (this.#isUnreadable || !this.#it.logReader.useOurClock())) return;
      if (mayWait) await orAborted(sleep(waitMs, signal), signal);
      if (signal.aborted) return;
    }
  }

  async #read(isFirst: boolean, signal: AbortSignal): Promise<'read' | 'failed' | 'refused'> {
    const { budget, logReader } = this.#it;
    const { fromMs, calls } = this.#calls.toRead();
    const pages = isFirst && !budget.balance ? 1 : pagesWith(calls);
    const { outcome, points } = await logReader.read(fromMs, pages, signal);
    await budget.add(points);
    return outcome;
  }

  #noteOutcome(outcome: 'read' | 'failed' | 'refused'): void {
    this.#isUnreadable = outcome !== 'read';
    this.#isReadingRefused = outcome === 'refused';
  }

  /** Computes from the remainder of the tightest limit when the log must be read again. */
  async #measure(): Promise<void> {
    const tightest = await this.#it.budget.tightest();
    const left = tightest ? leftForEach(tightest) : Number.POSITIVE_INFINITY;
    this.#threshold = Math.max(0, left) / SHARE;
    this.#lastReadMs = this.#nowMs();
  }

  async #learnBalance(): Promise<void> {
    const { budget, logReader } = this.#it;
    if (!budget.balance) return;
    const found = await logReader.balance(this.#calls.ids());
    if (found) await budget.balance.set(found.points, found.outstandingBeside + this.#calls.outstanding());
  }

  #nowMs(): number {
    return this.#it.now().getTime();
  }
}
