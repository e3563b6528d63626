/** Reads the request log for limits in points: the cost of calls, the balance of the account and the end of the log. */
import { balanceSince, readBalance, saveBalance } from '../../control/budget/balance.ts';
import {
  headerBalances,
  type LoggedCost,
  loggedCosts,
  newestStart,
  outstandingBeside,
  pointsOfRuns,
  settleCharged,
  tokenOf,
  unconfirmedRequests,
} from '../../ledger/log-costs.ts';
import { reconcileCosts } from '../../recovery/reconcile/reconcile.ts';
import { DAY_MS, MINUTE_MS } from '../../day.ts';
import { maxPointsOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import { type LogPosition, startsOfBalance } from './log-position.ts';
import { ServiceClock } from './service-clock.ts';
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

export class RequestLogReader {
  readonly #context: RequestLogReaderContext;
  readonly #clock: ServiceClock;
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
  /** Start of the rows that the last reads returned without a gap. */
  #knownSince: Date | undefined;
  #isKnown = false;

  constructor(context: RequestLogReaderContext) {
    this.#context = context;
    this.#clock = new ServiceClock(context);
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
    const newest = await this.#notePosition();
    this.#isKnown = true;
    this.#knownSince = undefined;
    if (newest && wantsBalance) read = await this.#beginBalance(newest, signal);
    // A log in ascending order has shown its beginning, so read on from there.
    else if (newest && this.#context.now().getTime() - newest.getTime() > RECENT_MS)
      read = await this.#readEnd([newest], signal);
    return this.#resultOf(read);
  }

  /** Reads the end of the log, which has the balance. */
  async #beginBalance(newest: Date, signal: AbortSignal): Promise<LogRead> {
    const present = await this.#clock.present();
    const read = await this.#readEnd(startsOfBalance(newest, present), signal);
    this.#knownSince = new Date(Math.min(newest.getTime(), present.getTime()) - HOUR_MS);
    const found = await this.#newestBalance();
    if (found && found.at <= present) return read;
    // The newest rows may belong to running requests, to another token or to a machine with a wrong clock.
    const recent = await this.#readPages([logSince(undefined)], 1, signal);
    await this.#notePosition();
    this.#knownSince = new Date(this.#knownSince.getTime() - DAY_MS);
    return recent;
  }

  /** Reads the log from the first of these instants from which it can be read to its end. */
  async #readEnd(starts: readonly [Date, ...Date[]], signal: AbortSignal): Promise<LogRead> {
    const [first, ...others] = starts;
    let read = await this.#readPages([logSince(first)], MOST_PAGES, signal);
    for (const from of others)
      if (read.isUsable && !read.isWhole) read = await this.#readPages([logSince(from)], MOST_PAGES, signal);
    await this.#notePosition();
    this.#isKnown = read.isUsable && read.isWhole;
    return read;
  }

  /** Reads the log from a send time on, at most `pages` of it, and reconciles it with the ledger. */
  async read(sentMs: number, pages: number, signal: AbortSignal): Promise<RequestLogReading> {
    return this.#readSince(sentMs, pages, signal, (from) => this.#clock.measure(sentMs, from));
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
    if (this.#clock.offsetMs() === undefined) await onRead?.(from);
    await this.#notePosition();
    // Rows of a log that was empty may have any time: its clock is not known.
    const since = from && new Date(Math.min(sentMs, from.getTime()) - MINUTE_MS);
    const inOrder = { offsetMs: this.#clock.offsetMs(), sentSince: new Date(sentMs), loggedSince: from };
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
    const sentSince = logged ? await this.#clock.atHere(logged.at) : readAt;
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

  async #ownToken(): Promise<string | undefined> {
    const { warehouse, token } = this.#context;
    if (!this.#hasToken) this.#tokenId = (await this.#retry(() => readBalance(warehouse, token)))?.tokenId;
    this.#hasToken = true;
    return this.#tokenId;
  }

  async #newestBalance(): Promise<Awaited<ReturnType<typeof balanceSince>> | undefined> {
    const tokenId = await this.#ownToken();
    if (!this.#isKnown) return undefined;
    const since = this.#knownSince;
    const present = await this.#clock.present();
    // Rows from the future alone do not show what was spent since the last reading.
    if (since && since > present) return undefined;
    const rows = { since, present, tokenId };
    return this.#retry(() => balanceSince(this.#context.warehouse, rows));
  }

  async #headerBalance(): Promise<number | undefined> {
    const [newest] = await this.#retry(() => headerBalances(this.#context.warehouse, this.#reads.slice(-1)));
    return balanceIn(newest ?? undefined);
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryTransient(work, this.#context);
  }
}
