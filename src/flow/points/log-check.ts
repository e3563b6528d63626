/** Reads the request log for limits in points: what calls cost, what is left of the account, and where the log ends. */
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

/** How a reading ended, and the points that readings were charged that were not counted yet. */
export interface Checked {
  readonly outcome: 'read' | 'failed' | 'refused';
  readonly points: number;
}

export interface LogCheck {
  /** True once it is known where the log ends, so that readings begin there. */
  readonly isPositioned: () => boolean;
  /** Finds the end of the log and, where it is wanted, the balance. */
  readonly begin: (wantsBalance: boolean, signal: AbortSignal) => Promise<Checked>;
  /** Reads what was sent from an instant on, or a page of it, and brings it together with the ledger. */
  readonly read: (sentMs: number, extent: 'page' | 'all', signal: AbortSignal) => Promise<Checked>;
  readonly costs: (ids: readonly string[]) => Promise<ReadonlyMap<string, LoggedCost>>;
  /** The balance that the last reading showed, and what requests beside these may still cost; undefined when it showed none. */
  readonly balance: (
    ids: readonly string[],
  ) => Promise<{ readonly points: number; readonly outstandingBeside: number } | undefined>;
  readonly prices: () => Promise<PriceBook>;
  /** Why the log could not be read last; null when it could. */
  readonly problem: () => string | null;
  /** Takes the rows out of the cost table again that no sync of the log brought. */
  readonly end: () => Promise<void>;
}

export interface LogChecking extends LogReadContext {
  /** Names the token, see `gateName`. */
  readonly token: string;
  readonly position: LogPosition;
  readonly prices: () => Promise<PriceBook>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A newest row that is older than this may be the oldest one of a log that lists those first. */
const RECENT_MS = 600_000;

export function openLogCheck(it: LogChecking): LogCheck {
  const { warehouse, position, token } = it;
  const readings: string[] = [];
  let countedReadings = 0;
  let problem: string | null = null;
  let tokenId: string | undefined;
  let hasToken = false;
  let offsetMs: number | undefined;
  /** Where the rows begin that the last readings brought without a gap. */
  let knownSince: Date | undefined;
  let isKnown = false;

  const readPages = async (bodies: Parameters<typeof readLogPages>[1], pages: number, signal: AbortSignal) => {
    const read = await readLogPages(it, bodies, pages, signal);
    readings.push(read.runId);
    problem = read.isUsable ? null : (read.because ?? 'the request log gave no readable answer');
    return read;
  };
  const checked = async (read: LogRead): Promise<Checked> => {
    const charged = await retryTransient(() => chargedFor(warehouse, readings), it);
    const points = charged - countedReadings;
    countedReadings = charged;
    return { outcome: read.isUsable ? 'read' : read.isRefused ? 'refused' : 'failed', points };
  };
  const note = async (): Promise<Date | undefined> => {
    const newest = await retryTransient(() => newestStart(warehouse), it);
    position.note(it.now().getTime(), newest);
    return newest;
  };
  const ownToken = async (): Promise<string | undefined> => {
    if (!hasToken) tokenId = (await retryTransient(() => readBalance(warehouse, token), it))?.tokenId;
    hasToken = true;
    return tokenId;
  };
  const newestBalance = async () => {
    const own = await ownToken();
    return isKnown ? retryTransient(() => balanceSince(warehouse, knownSince, own), it) : undefined;
  };
  const headerBalance = async (): Promise<number | undefined> => {
    const [newest] = await retryTransient(() => headerBalances(warehouse, readings.slice(-1)), it);
    return newest != null && /^\d{1,15}$/.test(newest.trim()) ? Number(newest) : undefined;
  };

  return {
    isPositioned: position.isKnown,
    problem: () => problem,
    costs: (ids) => retryTransient(() => loggedCosts(warehouse, ids), it),
    prices: it.prices,
    begin: async (wantsBalance, signal) => {
      let read = await readPages([{ limit: 1 }], 1, signal);
      if (!read.isUsable) return checked(read);
      let newest = await note();
      isKnown = true;
      if (newest && it.now().getTime() - newest.getTime() > RECENT_MS) {
        // A log that lists the oldest first has shown its beginning.
        read = await readPages([logSince(newest)], MOST_PAGES, signal);
        newest = await note();
        isKnown = read.isUsable && read.isWhole;
      }
      knownSince = newest && new Date(newest.getTime() - HOUR_MS);
      if (wantsBalance && newest && (await newestBalance()) === undefined) {
        // The newest rows may be of requests under way, or of another token.
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
        const only = await retryTransient(() => onlyStart(warehouse, it.definition.endpoint.name, from), it);
        const apartMs = (only?.getTime() ?? sentMs) - sentMs;
        // Clocks that agree as far as requests are matched anyway need no help.
        if (Math.abs(apartMs) > toleranceMs({ offsetMs: undefined })) offsetMs = apartMs;
      }
      await note();
      const since = new Date(Math.min(sentMs, from?.getTime() ?? sentMs) - MINUTE_MS);
      const inOrder = { offsetMs, sentSince: new Date(sentMs), loggedSince: from };
      await retryTransient(() => reconcileCosts(warehouse, { since, now: it.now(), inOrder }), it);
      [isKnown, knownSince] = [read.isWhole, from];
      return checked(read);
    },
    balance: async (ids) => {
      if (ids.length > 0) tokenId = (await retryTransient(() => tokenOf(warehouse, ids), it)) ?? (await ownToken());
      const now = it.now();
      const logged = await newestBalance();
      const header = logged ? undefined : await headerBalance();
      const found = logged ?? (header === undefined ? undefined : { points: header, at: now });
      if (!found) return undefined;
      await retryTransient(() => saveBalance(warehouse, token, { ...found, readAt: now, tokenId }), it);
      const span = { underWaySince: new Date(now.getTime() - HOUR_MS), sentSince: found.at };
      return {
        points: found.points,
        outstandingBeside: await retryTransient(() => outstandingBeside(warehouse, ids, span), it),
      };
    },
    end: async () => {
      if (readings.length === 0) return;
      await retryTransient(() => settleCharged(warehouse, it.run.id), it);
      const { db, schema, ops } = warehouse;
      await retryTransient(
        () => deleteRunRows(db, { schema, table: tokenRequest.table, runs: standaloneLogReads(ops) }),
        it,
      );
    },
  };
}
