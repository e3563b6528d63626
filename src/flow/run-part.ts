/** Carries out a run, or one chunk of it, and tells its watchers what happens. */
import type { SyncDefinition } from '../config/definition.ts';
import type { BudgetGuard } from '../ops/budget.ts';
import type { Lease } from '../ops/lease.ts';
import { countByState } from '../ops/ledger.ts';
import type { Run } from '../ops/runs.ts';
import { operationsOf } from '../ops/schema.ts';
import { recordSpool } from '../ops/spools.ts';
import type { MaxAgeOf } from '../plan/max-age.ts';
import { mostOf, type PriceBook } from '../plan/price-book.ts';
import type { RequestBody } from '../service/asked.ts';
import { countOf } from '../service/endpoint.ts';
import { type CarryOut, carryOut, loadWaiting } from './carry-out.ts';
import type { Stop } from './course.ts';
import { cutNotices } from './cut-notice.ts';
import { doubtNotice, settleDoubts, settleLeftOver } from './doubt.ts';
import { faultNotice } from './fault.ts';
import type { Taken } from './intake.ts';
import type { Invocation } from './invocation.ts';
import { readPrices } from './prices.ts';
import { progressOf } from './progress.ts';
import { openReconciler } from './reconciler.ts';
import { missingSpools } from './spools.ts';
import { openKeeping } from './spooling.ts';
import type { RunSpans } from './spans.ts';
import { steadily } from './steady.ts';
import { surplusNotice } from './surplus.ts';
import type { Tally } from './tidy.ts';

export interface RunPart {
  readonly definition: SyncDefinition;
  /** With its chunk, where only that is meant. */
  readonly run: Run;
  readonly lease: Lease;
  readonly budget: BudgetGuard;
  readonly prices: PriceBook;
  readonly maxAgeOf: MaxAgeOf;
  /** Requests of runs that were given up whose answers never arrived. */
  readonly lost: readonly string[];
  readonly tally: Tally;
  readonly spans?: RunSpans;
}

/** What is done with a run, in this order. */
export interface OpenPart {
  /** Settles what holders that died left under way. */
  readonly settle: (signal: AbortSignal) => Promise<void>;
  /** Loads what waits, and asks nothing. */
  readonly loadWaiting: () => Promise<void>;
  /** Asks and loads until nothing is open; gives what stopped it. */
  readonly carryOut: (signal: AbortSignal) => Promise<Stop | undefined>;
  /** Finds out about answers that were lost and are not asked for any more. */
  readonly settleLeftOver: (signal: AbortSignal) => Promise<void>;
}

/** Takes a run or a chunk in hand; the caller holds the lease. */
export async function openPart(it: Invocation, part: RunPart): Promise<OpenPart> {
  const { warehouse, config, client, gate, inFlight, effects } = it;
  const { definition, run, lease, budget, prices, maxAgeOf, lost, tally, spans } = part;
  const { now, sleep, random, newId, onNotice, spool, checkpoint } = effects;
  const ops = operationsOf(warehouse);
  const sync = definition.name;
  const onLoaded = (taken: Taken): void => {
    tally.add(taken.receipt);
    if (taken.fault !== undefined) onNotice(faultNotice(sync, taken.answer.id, taken.fault));
    const notice = surplusNotice(sync, taken);
    if (notice) onNotice(notice);
  };
  const carrying = { warehouse, definition, run, lease, client, gate, now, sleep, random, newId, budget, onLoaded };
  const findOut =
    definition.endpoint.paging.by === 'cursor'
      ? undefined
      : openReconciler({
          ...carrying,
          pricesOf: (other) => steadily(() => readPrices(warehouse, config, other), effects),
        });
  const most = (request: RequestBody): number => mostOf(prices, countOf(request));
  const settling = { definition, run, lost, findOut, most, now, sleep, random, onNotice };
  const carry = async (cut: CarryOut['onCut']): Promise<CarryOut> => ({
    ...carrying,
    retries: config.service.retries,
    inFlight,
    maxAgeOf,
    prices,
    onDoubt: (because, again) => onNotice(doubtNotice(sync, because, again)),
    ...(cut && { onCut: cut }),
    ...(checkpoint && { checkpoint }),
    ...(spans && { spans }),
    ...(spool && { keepAside: openKeeping({ spool, onNotice }) }),
    ...(findOut && { findOut }),
    ...progressOf(sync, await steadily(() => countByState(ops, run), effects), effects.onProgress),
  });
  return {
    settle: async (signal) => {
      const [missing] = await steadily(() => missingSpools(ops, run, it.spools), effects);
      await settleDoubts(ops, { ...settling, missing }, signal);
      const { own } = it.spools;
      if (own) await steadily(() => recordSpool(ops, run, own, missing === undefined), effects);
    },
    loadWaiting: async () => loadWaiting(await carry(undefined)),
    carryOut: async (signal) => {
      const cuts = cutNotices(sync, most, onNotice);
      const stop = await carryOut(await carry(cuts.onCut), signal);
      cuts.end();
      return stop;
    },
    settleLeftOver: (signal) => settleLeftOver(ops, settling, signal),
  };
}
