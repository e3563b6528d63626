/**
 * Enforces limits in true points: calls are admitted as far as the request log confirms the cost of earlier calls.
 * While the price of the endpoint is a guess, one call runs at a time, and the log is read after it. Later, the log is
 * read after each tenth of the tightest limit's remainder, after a minute, and at the end.
 */
import type { MeteredBudget } from '../../control/budget/local-budget.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import type { LogCheck } from './log-check.ts';
import {
  balanceIn,
  mayCost,
  type MeteredCall,
  orFired,
  type PointsMeter,
  type Refusal,
  type Ticket,
} from './ticket.ts';

export interface Metering {
  readonly budget: MeteredBudget;
  readonly check: LogCheck;
  /** The prices at the start. */
  readonly prices: PriceBook;
  /** Most concurrent calls of the token. */
  readonly inFlight: number;
  /** Buys even while the balance is unknown. */
  readonly mayIgnoreBalance: boolean;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The log is read again after this share of a limit's remainder, since a price may rise tenfold unnoticed. */
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

/** Creates a meter for the calls of one run or chunk in this process. */
export function openPointsMeter({
  budget,
  check,
  inFlight,
  mayIgnoreBalance,
  now,
  sleep,
  ...start
}: Metering): PointsMeter {
  const { balance } = budget;
  const calls = new Map<string, MeteredCall>();
  const confirmed = new Map<string, number>();
  /** Reserved points of calls that have not ended, by ticket. */
  const open = new Map<Ticket, number>();
  let prices = start.prices;
  let threshold = 0;
  let lastReadMs = now().getTime();
  /** The ratio of recent to expected costs, at least 1. */
  let ratio = 1;
  let isProbed = false;
  let isPatient = true;
  let isUnreadable = false;
  let isUnconfirmed = false;
  let showsBalance = false;
  let headers: Promise<unknown> = Promise.resolve();
  let beginning: Promise<void> | undefined;
  let verifying: Promise<boolean> | undefined;
  let news = Promise.withResolvers<void>();

  const wake = (): void => {
    news.resolve();
    news = Promise.withResolvers();
  };
  const waiting = (): MeteredCall[] => [...calls.values()].filter((it) => it.underWay === 0 && !it.isGivenUp);
  const unconfirmedPoints = (): number => waiting().reduce((sum, it) => sum + Math.max(it.counted, it.due), 0);
  const outstanding = (except?: Ticket): number =>
    [...open].reduce((sum, [ticket, points]) => sum + (ticket === except ? 0 : points), 0) +
    waiting().reduce((sum, it) => sum + it.counted, 0);
  const isProbing = (): boolean => !isProbed && prices.priced === 0 && prices.samples < ENOUGH_SAMPLES;
  /** What must come before the next call: a read of the log, or the end of running calls, to read once for all. */
  const dueFirst = (): 'reading' | 'end' | undefined => {
    const points = unconfirmedPoints();
    if (points > 0 && now().getTime() - lastReadMs >= AGAIN_MS) return 'reading';
    if (isProbing()) return open.size > 0 ? 'end' : points > 0 && !isUnreadable ? 'reading' : undefined;
    // The limit may be exceeded by at most as many calls as may run at once.
    if (points === 0 || points < threshold || isUnreadable || waiting().length + open.size < inFlight) return undefined;
    return open.size > 0 ? 'end' : 'reading';
  };

  const measure = async (): Promise<void> => {
    const tightest = await budget.tightest();
    const left = tightest ? Math.min(tightest.points, tightest.points - tightest.spent) : Number.POSITIVE_INFINITY;
    threshold = Math.max(0, left) / SHARE;
    lastReadMs = now().getTime();
  };
  const learnBalance = async (): Promise<void> => {
    if (!balance) return;
    const found = await check.balance([...calls.keys()]);
    if (found) await balance.set(found.points, found.outstandingBeside + outstanding());
  };

  /** Replaces the expected costs with those in the log. */
  const confirm = async (isLast: boolean): Promise<void> => {
    const over = [...calls.values()].filter(({ underWay }) => underWay === 0);
    const costs = await check.costs(over.map(({ id }) => id));
    let [shown, expected] = [0, 0];
    for (const call of over) {
      const cost = costs.get(call.id);
      // Another attempt of the request may have begun meanwhile.
      if (call.underWay > 0 || cost?.charged === undefined || cost.rows < Math.max(call.due, 1)) continue;
      const points = cost.charged - call.base;
      if (points === 0 && call.counted > 0 && call.mayCostLater && !isLast) continue;
      await budget.add(points - call.counted);
      shown += points;
      expected += call.counted;
      confirmed.set(call.id, cost.charged);
      calls.delete(call.id);
    }
    if (expected > 0) ratio = Math.max(1, shown / expected);
  };

  const read = async (isFirst: boolean, signal: AbortSignal): Promise<'read' | 'failed' | 'refused'> => {
    const sentMs = Math.min(...[...calls.values()].map((it) => it.sentMs), now().getTime());
    const { outcome, points } = await check.read(sentMs, isFirst && !balance ? 'page' : 'all', signal);
    await budget.add(points);
    return outcome;
  };

  const verifyNow = async (signal: AbortSignal): Promise<boolean> => {
    const targets = waiting();
    const due = (): boolean => targets.some((it) => it.due > 0 && calls.has(it.id));
    const before = confirmed.size;
    const untilMs = now().getTime() + (isPatient ? PATIENCE_MS : 0);
    let failures = 0;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const outcome = await read(waitMs === FIRST_WAIT_MS, signal);
      isUnreadable = outcome !== 'read';
      failures = isUnreadable ? failures + 1 : 0;
      const mayWait = now().getTime() + waitMs <= untilMs && outcome !== 'refused' && failures < MOST_FAILURES;
      if (!isUnreadable) await confirm(!mayWait);
      if (!due() || !mayWait || signal.aborted) break;
      await sleep(waitMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (signal.aborted) break;
    }
    if (!signal.aborted) {
      isUnconfirmed = due() || isUnreadable;
      for (const call of targets) if (call.underWay === 0) call.isGivenUp = true;
      isPatient = !isUnconfirmed;
      // If the log shows nothing, the guess stays valid.
      if (targets.length > 0 && isUnconfirmed) isProbed = true;
    }
    if (!isUnreadable) {
      prices = await check.prices();
      await learnBalance();
    }
    await measure();
    wake();
    return confirmed.size > before;
  };
  const verify = (signal: AbortSignal): Promise<boolean> => {
    verifying ??= verifyNow(signal).finally(() => {
      verifying = undefined;
    });
    return verifying;
  };

  const begin = async (signal: AbortSignal): Promise<void> => {
    if (!check.isPositioned() || (balance && !balance.isKnown())) {
      for (let [failures, waitMs] = [1, FIRST_WAIT_MS]; !signal.aborted; failures += 1, waitMs *= 2) {
        const { outcome, points } = await check.begin(balance !== undefined, signal);
        await budget.add(points);
        isUnreadable = outcome !== 'read';
        if (!isUnreadable || outcome === 'refused' || failures >= MOST_FAILURES) break;
        await sleep(waitMs, signal);
      }
      if (!isUnreadable) await learnBalance();
    }
    await measure();
  };

  const refusal = (): Refusal | undefined => {
    if (!balance || mayIgnoreBalance) return undefined;
    const next =
      'Run the sync again when GET /token/requests can be read and shows points_left; budget.unknown_balance: spend buys without it.';
    const reason = check.problem();
    if (!balance.isKnown())
      return {
        because: `budget.keep is set and the balance is not known: ${reason ?? 'the request log shows no points_left for this token'}`,
        next,
      };
    if (isUnconfirmed && !showsBalance)
      return {
        because: `budget.keep is set and the request log does not confirm what was spent${reason === null ? ' within 30 s' : `: ${reason}`}`,
        next,
      };
    return undefined;
  };

  const forgetUnless = ({ id, counted, due, underWay }: MeteredCall): void => {
    if (counted === 0 && due === 0 && underWay === 0) calls.delete(id);
  };
  const openTicket = (): Ticket => {
    let call: MeteredCall | undefined;
    let isOver = false;
    /** The points counted until its answer is loaded: the most that the call can cost. */
    let provisional: number | undefined;
    let settled: number | undefined;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      open.delete(ticket);
      if (call) call.underWay -= 1;
    };
    const ticket: Ticket = {
      claim: async (request, points) => {
        open.set(ticket, points);
        const known = calls.get(request.id);
        if (known) {
          call = known;
          call.underWay += 1;
          call.isGivenUp = false;
          return;
        }
        const isAgain = request.attempts > 0 || confirmed.has(request.id);
        const base = isAgain ? ((await check.costs([request.id])).get(request.id)?.charged ?? 0) : 0;
        const sentMs = now().getTime();
        call = { id: request.id, sentMs, base, counted: 0, underWay: 1, due: 0, mayCostLater: false, isGivenUp: false };
        calls.set(call.id, call);
      },
      answered: (outcome) => {
        const points = open.get(ticket) ?? 0;
        over();
        if (!call) return;
        if (outcome.kind === 'answered' && mayCost(outcome.status)) {
          call.due += 1;
          call.mayCostLater ||= outcome.status < 300;
        }
        call.counted += points;
        const left = outcome.kind === 'answered' ? balanceIn(outcome.headers['x-token-points']) : undefined;
        if (balance && left !== undefined) {
          showsBalance = true;
          headers = headers.then(() => balance.lower(left, outstanding(ticket)));
        }
        provisional = points;
        wake();
      },
      settle: (points) => {
        if (settled !== undefined) return settled;
        settled = provisional === undefined ? points : Math.max(points, Math.min(provisional, points * ratio));
        if (call && provisional !== undefined) {
          call.counted += settled - provisional;
          forgetUnless(call);
        }
        wake();
        return settled;
      },
      leave: () => {
        over();
        if (call) forgetUnless(call);
        wake();
      },
    };
    open.set(ticket, 0);
    return ticket;
  };

  return {
    prices: () => prices,
    most: (points) => (isProbing() ? Math.max(points, 1) : points),
    verify: async (signal) => (waiting().length === 0 ? false : verify(signal)),
    enter: async (signal) => {
      for (;;) {
        if (signal.aborted) return undefined;
        beginning ??= begin(signal);
        await beginning;
        await headers;
        const refused = refusal();
        if (refused) return refused;
        const first = dueFirst();
        if (first === undefined) return openTicket();
        await (first === 'reading' ? verify(signal) : orFired(news.promise, signal));
      }
    },
    finish: async (signal) => {
      await headers;
      if (!signal.aborted && [...calls.values()].some(({ due }) => due > 0)) {
        for (const call of calls.values()) call.isGivenUp = false;
        await verify(signal);
      }
      await check.end();
    },
  };
}
