/** Executes a run, or one chunk of it, and reports its progress. */
import type { SyncDefinition } from '../../config/definition.ts';
import pLimit from 'p-limit';
import { type MeteredBudget, openBudget } from '../../control/budget/local-budget.ts';
import { gateName } from '../../control/limiter/shared-slots.ts';
import type { Lease } from '../../ledger/lease.ts';
import { countByState } from '../../ledger/requests.ts';
import type { Run } from '../../ledger/runs.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { recordSpool } from '../../recovery/spool/run-spools.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import { mostOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import type { RequestBody } from '../../service/asked.ts';
import { countOf } from '../../service/endpoint.ts';
import { type CarryOut, carryOut, loadWaiting } from './execute.ts';
import type { Stop } from './stop.ts';
import { cutNotices } from './split-notice.ts';
import { doubtNotice, settleDoubts, settleLeftOver } from '../../recovery/reconcile/lost-answers.ts';
import { faultNotice } from '../ingest/answer-fault.ts';
import type { Taken } from '../ingest/ingest.ts';
import type { Invocation } from './invocation.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import { progressOf } from './progress.ts';
import { openLogCheck } from '../points/log-check.ts';
import type { LogReading } from './read-request-log.ts';
import { openPointsMeter } from '../points/points-meter.ts';
import type { PointsMeter } from '../points/ticket.ts';
import { openReconciler } from './reconciler.ts';
import { missingSpools } from '../../recovery/spool/find-spools.ts';
import { openKeeping } from '../../recovery/spool/spool.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import { steadily } from '../../warehouse/connect/retry-transient.ts';
import { surplusNotice } from '../ingest/surplus-items.ts';
import type { Tally } from './analyze-tables.ts';

export interface RunPart {
  readonly definition: SyncDefinition;
  /** With its chunk, where only that is meant. */
  readonly run: Run;
  readonly lease: Lease;
  readonly budget: MeteredBudget;
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
  /** Reads in the request log what calls cost, where a limit in points is set. */
  readonly verify: (signal: AbortSignal) => Promise<void>;
  /** A limit in points holds. */
  readonly isLimited: boolean;
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
  const onceAtATime = pLimit(1);
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => onceAtATime(work);
  const carrying = { warehouse, definition, run, lease, client, gate, now, sleep, random, newId, budget, onLoaded };
  const pricesOf = (other: SyncDefinition) => steadily(() => readPrices(warehouse, config, other), effects);
  const meter = await meterFor(it, part, { ...carrying, pricesOf, inTurn });
  const known = (): PriceBook => meter?.prices() ?? prices;
  const findOut =
    definition.endpoint.paging.by === 'cursor'
      ? undefined
      : openReconciler({
          ...carrying,
          pricesOf,
          inTurn,
        });
  const most = (request: RequestBody): number => mostOf(known(), countOf(request));
  const settling = { definition, run, lost, findOut, most, now, sleep, random, onNotice };
  const carry = async (cut: CarryOut['onCut']): Promise<CarryOut> => ({
    ...carrying,
    retries: config.service.retries,
    inFlight,
    maxAgeOf,
    // Learned anew with each reading of the log.
    get prices() {
      return known();
    },
    ...(meter && { meter }),
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
    verify: async (signal) => meter?.finish(signal),
    isLimited: meter !== undefined,
  };
}

/** The meter of a run or chunk; undefined without a limit in points, and for a walk through the log, which shows its own cost. */
async function meterFor(
  { config, effects, inFlight, logPosition }: Invocation,
  { definition, budget, prices }: RunPart,
  reading: Omit<LogReading, 'budget'>,
): Promise<PointsMeter | undefined> {
  if (definition.endpoint.paging.by === 'cursor') return undefined;
  if (!budget.balance && (await budget.tightest()) === undefined) return undefined;
  const { url, token } = config.service;
  const check = openLogCheck({
    ...reading,
    // A reading is never refused for its price; what it was charged is counted after it.
    budget: openBudget([]),
    token: gateName(url, token?.reveal() ?? ''),
    position: logPosition,
    prices: () => reading.pricesOf(definition),
  });
  const mayIgnoreBalance = config.budget.unknownBalance === 'spend';
  return openPointsMeter({ budget, check, prices, inFlight, mayIgnoreBalance, now: effects.now, sleep: effects.sleep });
}
