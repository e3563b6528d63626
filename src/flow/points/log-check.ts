/** Reads the request log for limits in points: the cost of calls, the balance of the account and the end of the log. */
import { deleteRunRows } from '../../load/delete-run-rows.ts';
import { balanceSince, readBalance, saveBalance } from '../../control/budget/balance.ts';
import {
  chargedFor,
  headerBalances,
  type LoggedCost,
  loggedCosts,
  newestStart,
  onlyStart,
  outstandingBeside,
  settleCharged,
  tokenOf,
} from '../../ledger/log-costs.ts';
import { standaloneLogReads } from '../../ledger/log-reads.ts';
import { toleranceMs } from '../../ledger/match-log.ts';
import { reconcileCosts } from '../../recovery/reconcile/reconcile.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { tokenRequest } from '../../service/resources/token-request.ts';
import type { LogPosition } from './log-position.ts';
import { type LogRead, type LogReadContext, logSince, MOST_PAGES, readLogPages } from '../run/read-request-log.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** The outcome of a read, and the charges for log reads that were not counted yet. */
export interface Checked {
  readonly outcome: 'read' | 'failed' | 'refused';
  readonly points: number;
}

export interface LogCheck {
  /** True once the end of the log is known, so that reads begin there. */
  readonly isPositioned: () => boolean;
  /** Finds the end of the log and, if requested, the balance. */
  readonly begin: (wantsBalance: boolean, signal: AbortSignal) => Promise<Checked>;
  /** Reads the log from a send time on, completely or one page, and reconciles it with the ledger. */
  readonly read: (sentMs: number, extent: 'page' | 'all', signal: AbortSignal) => Promise<Checked>;
  readonly costs: (ids: readonly string[]) => Promise<ReadonlyMap<string, LoggedCost>>;
  /**
   * Returns the balance from the last read, and the points that all other requests may still cost; undefined if the
   * read showed no balance.
   */
  readonly balance: (
    ids: readonly string[],
  ) => Promise<{ readonly points: number; readonly outstandingBeside: number } | undefined>;
  readonly prices: () => Promise<PriceBook>;
  /** Why the last read failed; null if it succeeded. */
  readonly problem: () => string | null;
  /** Removes rows from the cost table that only these reads brought, not a sync of the log. */
  readonly end: () => Promise<void>;
}

export interface LogChecking extends LogReadContext {
  /** Identifies the token, see `gateName`. */
  readonly token: string;
  readonly position: LogPosition;
  readonly prices: () => Promise<PriceBook>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A newest row older than this may be the oldest row of a log in ascending order. */
const RECENT_MS = 600_000;

export function openLogCheck(context: LogChecking): LogCheck {
  const { warehouse, position, token } = context;
  const readings: string[] = [];
  let countedReadings = 0;
  let problem: string | null = null;
  let tokenId: string | undefined;
  let hasToken = false;
  let offsetMs: number | undefined;
  /** Start of the rows that the last reads returned without a gap. */
  let knownSince: Date | undefined;
  let isKnown = false;

  const readPages = async (bodies: Parameters<typeof readLogPages>[1], pages: number, signal: AbortSignal) => {
    const read = await readLogPages(context, bodies, pages, signal);
    readings.push(read.runId);
    problem = read.isUsable ? null : (read.because ?? 'the request log gave no readable answer');
    return read;
  };
  const checked = async (read: LogRead): Promise<Checked> => {
    const charged = await retryTransient(() => chargedFor(warehouse, readings), context);
    const points = charged - countedReadings;
    countedReadings = charged;
    return { outcome: read.isUsable ? 'read' : read.isRefused ? 'refused' : 'failed', points };
  };
  const note = async (): Promise<Date | undefined> => {
    const newest = await retryTransient(() => newestStart(warehouse), context);
    position.note(context.now().getTime(), newest);
    return newest;
  };
  const ownToken = async (): Promise<string | undefined> => {
    if (!hasToken) tokenId = (await retryTransient(() => readBalance(warehouse, token), context))?.tokenId;
    hasToken = true;
    return tokenId;
  };
  const newestBalance = async () => {
    const own = await ownToken();
    return isKnown ? retryTransient(() => balanceSince(warehouse, knownSince, own), context) : undefined;
  };
  const headerBalance = async (): Promise<number | undefined> => {
    const [newest] = await retryTransient(() => headerBalances(warehouse, readings.slice(-1)), context);
    return newest != null && /^\d{1,15}$/.test(newest.trim()) ? Number(newest) : undefined;
  };

  return {
    isPositioned: position.isKnown,
    problem: () => problem,
    costs: (ids) => retryTransient(() => loggedCosts(warehouse, ids), context),
    prices: context.prices,
    begin: async (wantsBalance, signal) => {
      let read = await readPages([{ limit: 1 }], 1, signal);
      if (!read.isUsable) return checked(read);
      let newest = await note();
      isKnown = true;
      if (newest && context.now().getTime() - newest.getTime() > RECENT_MS) {
        // A log in ascending order has shown its beginning, so read on from there.
        read = await readPages([logSince(newest)], MOST_PAGES, signal);
        newest = await note();
        isKnown = read.isUsable && read.isWhole;
      }
      knownSince = newest && new Date(newest.getTime() - HOUR_MS);
      if (wantsBalance && newest && (await newestBalance()) === undefined) {
        // The newest rows may belong to running requests or to another token.
        read = await readPages([logSince(undefined)], 1, signal);
        newest = await note();
        knownSince = newest && new Date(newest.getTime() - 24 * HOUR_MS);
      }
      return checked(read);
    },
    read: async (sentMs, extent, signal) => {
      const from = position.startFor(sentMs);
      const read = await readPages([logSince(from)], extent === 'page' ? 1 : MOST_PAGES, signal);
      if (!read.isUsable) return checked(read);
      if (offsetMs === undefined && from) {
        const only = await retryTransient(() => onlyStart(warehouse, context.definition.endpoint.name, from), context);
        const apartMs = (only?.getTime() ?? sentMs) - sentMs;
        // Within the tolerance of matching, a clock difference does not matter.
        if (Math.abs(apartMs) > toleranceMs({ offsetMs: undefined })) offsetMs = apartMs;
      }
      await note();
      const since = new Date(Math.min(sentMs, from?.getTime() ?? sentMs) - MINUTE_MS);
      const inOrder = { offsetMs, sentSince: new Date(sentMs), loggedSince: from };
      await retryTransient(() => reconcileCosts(warehouse, { since, now: context.now(), inOrder }), context);
      [isKnown, knownSince] = [read.isWhole, from];
      return checked(read);
    },
    balance: async (ids) => {
      if (ids.length > 0)
        tokenId = (await retryTransient(() => tokenOf(warehouse, ids), context)) ?? (await ownToken());
      const now = context.now();
      const logged = await newestBalance();
      const header = logged ? undefined : await headerBalance();
      const found = logged ?? (header === undefined ? undefined : { points: header, at: now });
      if (!found) return undefined;
      await retryTransient(() => saveBalance(warehouse, token, { ...found, readAt: now, tokenId }), context);
      const span = { underWaySince: new Date(now.getTime() - HOUR_MS), sentSince: found.at };
      return {
        points: found.points,
        outstandingBeside: await retryTransient(() => outstandingBeside(warehouse, ids, span), context),
      };
    },
    end: async () => {
      if (readings.length === 0) return;
      await retryTransient(() => settleCharged(warehouse, context.run.id), context);
      const { db, schema, ops } = warehouse;
      await retryTransient(
        () => deleteRunRows(db, { schema, table: tokenRequest.table, runs: standaloneLogReads(ops) }),
        context,
      );
    },
  };
}
