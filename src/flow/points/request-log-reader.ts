/** Reads the request log for limits in points: the cost of calls, the balance of the account and the end of the log. */
import { balanceSince, readBalance, saveBalance } from '../../control/budget/balance.ts';
import {
  headerBalances,
  type LoggedCost,
  loggedCosts,
  newestStart,
  onlyStart,
  outstandingBeside,
  pointsOfRuns,
  settleCharged,
  tokenOf,
  unconfirmedRequests,
} from '../../ledger/log-costs.ts';
import { readLogIdentifiers, toleranceMs } from '../../ledger/match-log.ts';
import { reconcileCosts } from '../../recovery/reconcile/reconcile.ts';
import { DAY_MS, MINUTE_MS } from '../../day.ts';
import { maxPointsOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import type { LogPosition } from './log-position.ts';
import { balanceIn } from './ticket.ts';
import {
  deleteReadRows,
  type LogRead,
  type LogReadContext,
  logSince,
  MOST_PAGES,
  readingPrices,
  readLogPages,
} from '../run/read-request-log.ts';
import type { RunStop } from '../run/stop-controller.ts';
import { inLongTransaction } from '../../warehouse/connect/long-work.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** The outcome of a read, and the change of the points of all log reads, by their charges or the price list. */
export interface RequestLogReading {
  readonly outcome: 'read' | 'failed' | 'refused';
  readonly points: number;
}

export interface RequestLogReaderContext extends LogReadContext {
  /** Identifies the token, see `tokenDigest`. */
  readonly token: string;
  readonly position: LogPosition;
  readonly prices: () => Promise<PriceBook>;
}

const HOUR_MS = 60 * MINUTE_MS;
/** A newest row older than this may be the oldest row of a log in ascending order. */
const RECENT_MS = 600_000;
/** The usual deadline of a call. */
const CALL_MS = 330_000;

export class RequestLogReader {
  readonly #context: RequestLogReaderContext;
  /** Runs of the reads so far. */
  readonly #reads: string[] = [];
  /** Points of the reads that were counted already. */
  #countedPoints = 0;
  #problem: string | null = null;
  #refusedToken: RunStop | undefined;
  /** The last requests whose costs were looked up. Their rows show the token, also once their calls are confirmed. */
  #lookedUp: readonly string[] = [];
  #tokenId: string | undefined;
  #hasToken = false;
  /** How far the service's clock is ahead; undefined when that does not matter. */
  #offsetMs: number | undefined;
  /** Start of the rows that the last reads returned without a gap. */
  #knownSince: Date | undefined;
  #isKnown = false;

  constructor(context: RequestLogReaderContext) {
    this.#context = context;
  }

  /** True once the end of the log is known, so that reads begin there. */
  isPositioned(): boolean {
    return this.#context.position.isKnown();
  }

  /**
   * Makes later reads begin by our clock, because a row from the future, such as one of a machine with a wrong clock, can
   * hide all rows before it. False if that changes nothing.
   */
  useOurClock(): boolean {
    return this.#context.position.useOurClock();
  }

  /** Why the last read failed; null if it succeeded. */
  problem(): string | null {
    return this.#problem;
  }

  /** What stopped the last read, if the service refused the token. */
  refusedToken(): RunStop | undefined {
    return this.#refusedToken;
  }

  prices(): Promise<PriceBook> {
    return this.#context.prices();
  }

  costs(ids: readonly string[]): Promise<ReadonlyMap<string, LoggedCost>> {
    if (ids.length > 0) this.#lookedUp = ids;
    return this.#retry(() => loggedCosts(this.#context.warehouse, ids));
  }

  /** Finds the end of the log and, if requested, the balance. */
  async begin(wantsBalance: boolean, signal: AbortSignal): Promise<RequestLogReading> {
    let read = await this.#readPages([{ limit: 1 }], 1, signal);
    if (!read.isUsable) return this.#resultOf(read);
    let newest = await this.#notePosition();
    this.#isKnown = true;
    if (newest && (wantsBalance || this.#context.now().getTime() - newest.getTime() > RECENT_MS)) {
      // A log in ascending order has shown its beginning, so read on from there. Only its end has the balance.
      // A call that began before the newest row and ended after it may show a later balance. A log with too many such rows
      // is read from the newest row only; otherwise its balance could never be known.
      for (const from of wantsBalance ? [new Date(newest.getTime() - CALL_MS), newest] : [newest]) {
        read = await this.#readPages([logSince(from)], MOST_PAGES, signal);
        if (!read.isUsable || read.isWhole) break;
      }
      newest = await this.#notePosition();
      this.#isKnown = read.isUsable && read.isWhole;
    }
    this.#knownSince = newest && new Date(newest.getTime() - HOUR_MS);
    if (wantsBalance && newest && (await this.#newestBalance()) === undefined) {
      // The newest rows may belong to running requests or to another token.
      read = await this.#readPages([logSince(undefined)], 1, signal);
      newest = await this.#notePosition();
      this.#knownSince = newest && new Date(newest.getTime() - 24 * HOUR_MS);
    }
    return this.#resultOf(read);
  }

  /** Reads the log from a send time on, at most `pages` of it, and reconciles it with the ledger. */
  async read(sentMs: number, pages: number, signal: AbortSignal): Promise<RequestLogReading> {
    return this.#readSince(sentMs, pages, signal, (from) => this.#measureOffset(sentMs, from));
  }

  /** `onRead` gets the start of the rows that were read; undefined for the complete log. */
  async #readSince(
    sentMs: number,
    pages: number,
    signal: AbortSignal,
    onRead?: (from: Date | undefined) => Promise<void>,
  ): Promise<RequestLogReading> {
    const { warehouse, position, now } = this.#context;
    const from = position.startFor(sentMs);
    const read = await this.#readPages([logSince(from)], pages, signal);
    if (!read.isUsable) return this.#resultOf(read);
    if (this.#offsetMs === undefined) await onRead?.(from);
    await this.#notePosition();
    // Rows of a log that was empty may have any time: its clock is not known.
    const since = from && new Date(Math.min(sentMs, from.getTime()) - MINUTE_MS);
    const inOrder = { offsetMs: this.#offsetMs, sentSince: new Date(sentMs), loggedSince: from };
    await this.#retry(() => reconcileCosts(warehouse, { since, now: now(), inOrder }));
    this.#isKnown = read.isWhole;
    this.#knownSince = from;
    return this.#resultOf(read);
  }

  /**
   * Reads the log from the oldest request of the last day whose cost no earlier run has confirmed. Returns the points of the reading,
   * and the excess of what these requests of the sync cost over what the ledger counted; undefined if there is no such request.
   */
  async confirmEarlier(
    isPriceGuessed: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly points: number; readonly excess: number } | undefined> {
    const { definition } = this.#context;
    const earlier = await this.#unconfirmed(isPriceGuessed);
    if (earlier.length === 0) return undefined;
    const firstSentMs = Math.min(...earlier.map(({ sentAt }) => sentAt.getTime()));
    const { points } = await this.#readSince(firstSentMs, MOST_PAGES, signal);
    const own = earlier.filter(({ sync }) => sync === definition.name);
    const confirmed = await this.costs(own.map(({ id }) => id));
    // A lower cost releases nothing, because the limits of this invocation did not count these requests.
    const excess = own.map((it) => Math.max(0, (confirmed.get(it.id)?.charged ?? 0) - it.points));
    return { points, excess: excess.reduce((sum, it) => sum + it, 0) };
  }

  /** True if reading the log costs points, and no earlier request needs a reading. */
  async wouldOnlyCost(isPriceGuessed: boolean): Promise<boolean> {
    const prices = await this.#retry(() => readingPrices(this.#context));
    return maxPointsOf(prices, undefined) > 0 && (await this.#unconfirmed(isPriceGuessed)).length === 0;
  }

  /**
   * Returns the balance from the last read, and the points that all other requests may still cost; undefined if the read
   * showed no balance.
   */
  async balance(
    ids: readonly string[],
  ): Promise<{ readonly points: number; readonly outstandingBeside: number } | undefined> {
    const { warehouse, token, now } = this.#context;
    this.#tokenId = (await this.#retry(() => tokenOf(warehouse, this.#lookedUp))) ?? (await this.#ownToken());
    const readAt = now();
    const logged = await this.#newestBalance();
    const header = logged ? undefined : await this.#headerBalance();
    const found = logged ?? (header === undefined ? undefined : { points: header, at: readAt });
    if (!found) return undefined;
    await this.#retry(() => saveBalance(warehouse, token, { ...found, readAt, tokenId: this.#tokenId }));
    const sentSince = logged ? await this.#atHere(logged.at) : readAt;
    const span = { underWaySince: new Date(readAt.getTime() - HOUR_MS), sentSince };
    const beside = await this.#retry(() => outstandingBeside(warehouse, ids, span));
    return { points: found.points, outstandingBeside: beside };
  }

  /**
   * Removes rows from the cost table that only such reads brought, not a sync of the log; also those that a dead process
   * left.
   */
  async end(): Promise<void> {
    const { warehouse, run } = this.#context;
    if (this.#reads.length === 0 && !run.continued) return;
    await this.#retry(() => settleCharged(warehouse, run));
    await this.#retry(() => inLongTransaction(warehouse, (db) => deleteReadRows(this.#context, db)));
  }

  async #unconfirmed(isPriceGuessed: boolean): Promise<Awaited<ReturnType<typeof unconfirmedRequests>>> {
    const { warehouse, definition, run, now } = this.#context;
    // Other workers of a shared run confirm their own requests.
    if (run.chunk !== undefined) return [];
    const since = new Date(now().getTime() - DAY_MS);
    const which = { sync: definition.name, isPriceGuessed, since };
    return this.#retry(() => unconfirmedRequests(warehouse, which));
  }

  async #readPages(bodies: Parameters<typeof readLogPages>[1], pages: number, signal: AbortSignal): Promise<LogRead> {
    const read = await readLogPages(this.#context, bodies, pages, signal);
    this.#reads.push(read.runId);
    this.#refusedToken = read.refusedToken;
    this.#problem = read.isUsable ? null : (read.because ?? 'the request log gave no readable answer');
    return read;
  }

  async #resultOf(read: LogRead): Promise<RequestLogReading> {
    const total = await this.#retry(() => pointsOfRuns(this.#context.warehouse, this.#reads));
    const points = total - this.#countedPoints;
    this.#countedPoints = total;
    return { outcome: read.isUsable ? 'read' : read.isRefused ? 'refused' : 'failed', points };
  }

  async #notePosition(): Promise<Date | undefined> {
    const { warehouse, position, now } = this.#context;
    const newest = await this.#retry(() => newestStart(warehouse));
    position.note(now().getTime(), newest);
    return newest;
  }

  /** Compares the clocks by the only call that may be in the log since then. */
  async #measureOffset(sentMs: number, from: Date | undefined): Promise<void> {
    const { warehouse, definition } = this.#context;
    const only = await this.#retry(() => onlyStart(warehouse, definition.endpoint.name, from));
    const apartMs = (only?.getTime() ?? sentMs) - sentMs;
    // Within the tolerance of matching, a clock difference does not matter.
    if (Math.abs(apartMs) > toleranceMs({ offsetMs: undefined })) this.#offsetMs = apartMs;
  }

  /** The time of the warehouse's clock at an instant of the service's clock, as far as their difference is known. */
  async #atHere(at: Date): Promise<Date> {
    const { offsetMs = this.#offsetMs ?? 0 } = await this.#retry(() => readLogIdentifiers(this.#context.warehouse));
    return new Date(at.getTime() - offsetMs);
  }

  async #ownToken(): Promise<string | undefined> {
    const { warehouse, token } = this.#context;
    if (!this.#hasToken) this.#tokenId = (await this.#retry(() => readBalance(warehouse, token)))?.tokenId;
    this.#hasToken = true;
    return this.#tokenId;
  }

  async #newestBalance(): Promise<Awaited<ReturnType<typeof balanceSince>> | undefined> {
    const own = await this.#ownToken();
    if (!this.#isKnown) return undefined;
    return this.#retry(() => balanceSince(this.#context.warehouse, this.#knownSince, own));
  }

  async #headerBalance(): Promise<number | undefined> {
    const [newest] = await this.#retry(() => headerBalances(this.#context.warehouse, this.#reads.slice(-1)));
    return balanceIn(newest ?? undefined);
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryTransient(work, this.#context);
  }
}
