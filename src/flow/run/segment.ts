/** Executes a run, or one chunk of it, and reports its progress. */
import type { SyncDefinition } from '../../config/definition.ts';
import pLimit from 'p-limit';
import { type MeteredBudget, openBudget } from '../../control/budget/local-budget.ts';
import { tokenDigest } from '../../control/token-digest.ts';
import { countByState } from '../../ledger/requests/states.ts';
import { countSent } from '../../ledger/request-limit.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { recordSpool } from '../../recovery/spool/run-spools.ts';
import { maxPointsOf, type PriceBook } from '../../plan/pricing/price-book.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { countOf } from '../../service/endpoint.ts';
import { executeRun, loadWaiting } from './execute.ts';
import type { RunStop } from './stop-controller.ts';
import { openProgress } from '../request/progress.ts';
import { splitNotices } from '../split/split-notices.ts';
import {
  lostAnswerNotice,
  settleOpenLostAnswers,
  settleRemainingLostAnswers,
} from '../../recovery/reconcile/settle-lost-answers.ts';
import { faultNotice } from '../ingest/answer-fault.ts';
import type { IngestResult } from '../ingest/ingest.ts';
import type { Notice } from '../../ledger/summary.ts';
import type { Effects } from '../effects.ts';
import type { Invocation } from './invocation.ts';
import { readPrices } from '../../control/budget/read-price-book.ts';
import { RequestLogReader } from '../points/request-log-reader.ts';
import type { RunContext } from './run-context.ts';
import type { LogReadContext } from './read-request-log.ts';
import { TruePointsMeter } from '../points/points-meter.ts';
import type { PointsMeter } from '../points/ticket.ts';
import { openReconciler } from './reconciler.ts';
import { missingSpools } from '../../recovery/spool/find-spools.ts';
import { openSpoolWriter } from '../../recovery/spool/spool.ts';
import type { RunSpans } from '../../telemetry/spans.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { RowCounter } from './analyze-tables.ts';

export interface Segment extends Pick<RunContext, 'definition' | 'run' | 'lease' | 'maxAgeOf' | 'invokedAt'> {
  readonly budget: MeteredBudget;
  readonly prices: PriceBook;
  /** Most requests that the run sends; absent, there is no limit. */
  readonly requestLimit?: number | undefined;
  /** Requests of abandoned runs whose answers never arrived. */
  readonly lost: readonly string[];
  readonly rowCounter: RowCounter;
  readonly spans?: RunSpans | undefined;
}

/** The operations on a run, in this order. */
export interface OpenSegment {
  /** Settles requests that dead holders left in flight. */
  readonly settle: (signal: AbortSignal) => Promise<void>;
  /** Loads waiting answers; sends nothing. */
  readonly loadWaiting: () => Promise<void>;
  /**
   * Sends and loads until nothing is open, then resolves lost answers and reads the costs of the calls in the request log.
   * Returns what stopped it, and reports that to `onStop` before it continues with the log.
   */
  readonly complete: (signal: AbortSignal, onStop?: (stop: RunStop) => void) => Promise<RunStop | undefined>;
  /** A limit in points holds. */
  readonly isLimited: boolean;
}

/** Opens a run or a chunk for execution; the caller holds the lease. */
export async function openSegment(invocation: Invocation, segment: Segment): Promise<OpenSegment> {
  const { warehouse, config, client, limiter, effects } = invocation;
  const inFlight = inFlightOf(invocation, segment);
  const { definition, run, lease, budget, prices, maxAgeOf, invokedAt, lost, rowCounter, spans, requestLimit } =
    segment;
  const { now, sleep, random, newId, onNotice, spool, checkpoint } = effects;
  const ops = operationsOf(warehouse);
  const sync = definition.name;
  const onLoaded = (result: IngestResult): void => {
    rowCounter.add(result.receipt);
    if (result.fault !== undefined) onNotice(faultNotice(sync, result.answer.id, result.fault));
    const notice = surplusNotice(sync, result);
    if (notice) onNotice(notice);
  };
  const shared = { warehouse, definition, run, lease, client, limiter, now, sleep, random, newId, budget, onLoaded };
  const pricesOf = (other: SyncDefinition) => retryTransient(() => readPrices(warehouse, config, other), effects);
  const reading: LogReadContext = { ...shared, pricesOf, oneAtATime: pLimit(1) };
  const meter = await meterFor(invocation, segment, reading);
  // The prices change with each read of the log.
  const currentPrices = (): PriceBook => meter?.prices() ?? prices;
  const resolveLost = definition.endpoint.paging.by === 'cursor' ? undefined : openReconciler(reading);
  const most = (request: RequestBody): number => maxPointsOf(currentPrices(), countOf(request));
  const settleOptions = { ...effects, definition, run, lease, lost, resolveLost, maxPointsOf: most };
  const contextWith = async (onSplit: RunContext['onSplit']): Promise<RunContext> => ({
    ...shared,
    retries: config.service.retries,
    inFlight,
    maxAgeOf,
    invokedAt,
    pauseAfterPages: effects.pauseAfterPages,
    prices: currentPrices,
    meter,
    onLostAnswer: (because, again) => onNotice(lostAnswerNotice(sync, because, again)),
    onSplit,
    checkpoint,
    spans,
    spoolAnswer: spool && openSpoolWriter({ spool, onNotice }),
    resolveLost,
    mayBegin: requestLimit === undefined ? undefined : await openRequestLimit(ops, run.id, requestLimit, effects),
    ...openProgress(invocation, definition, await retryTransient(() => countByState(ops, run), effects)),
  });
  return {
    settle: async (signal) => {
      const [missing] = await retryTransient(() => missingSpools(ops, run, invocation.spools), effects);
      await settleOpenLostAnswers(ops, { ...settleOptions, missing }, signal);
      const { own } = invocation.spools;
      if (own) await retryTransient(() => recordSpool(ops, run, own, missing === undefined), effects);
    },
    loadWaiting: async () => loadWaiting(await contextWith(undefined)),
    complete: async (signal, onStop) => {
      const notices = splitNotices(sync, most, onNotice);
      const stop = await executeRun(await contextWith(notices.onSplit), signal);
      notices.end();
      if (stop) onStop?.(stop);
      // A service that does not answer does not show its log either.
      const isServiceDown = stop?.reason === 'unavailable';
      if (!signal.aborted && !isServiceDown && stop?.forAll !== true)
        await settleRemainingLostAnswers(ops, settleOptions, signal);
      await meter?.finish(isServiceDown ? AbortSignal.abort() : signal);
      return stop;
    },
    isLimited: meter !== undefined,
  };
}

/** Returns whether a request may be sent for the first time; each request counts once, also if the run is continued. */
async function openRequestLimit(
  ops: Ops,
  runId: string,
  limit: number,
  effects: Effects,
): Promise<RunContext['mayBegin']> {
  const sentBefore = await retryTransient(() => countSent(ops, runId), effects);
  const begun = new Set<string>();
  return ({ id, attempts }) => {
    if (attempts > 0 || begun.has(id)) return true;
    if (sentBefore + begun.size >= limit) return false;
    begun.add(id);
    return true;
  };
}

/** The most concurrent calls of the run in this process. */
const inFlightOf = ({ inFlight }: Invocation, { definition }: Segment): number =>
  Math.min(inFlight, definition.inFlight ?? inFlight);

/**
 * Creates the meter of a run or chunk; undefined without a limit in points, and for a log walk, which shows its own
 * cost.
 */
async function meterFor(
  invocation: Invocation,
  segment: Segment,
  reading: Omit<LogReadContext, 'budget'>,
): Promise<PointsMeter | undefined> {
  const { config, effects, logPosition } = invocation;
  const { definition, run, lease, lost, budget, prices } = segment;
  if (definition.endpoint.paging.by === 'cursor') return undefined;
  if (!budget.balance && (await budget.tightest()) === undefined) return undefined;
  const logReader = new RequestLogReader({
    ...reading,
    // A log read is never refused for its price; its charge is counted afterwards.
    budget: openBudget([]),
    token: tokenDigest(config.service),
    position: logPosition,
    prices: () => reading.pricesOf(definition),
  });
  const mayIgnoreBalance = config.budget.unknownBalance === 'spend';
  const inFlight = inFlightOf(invocation, segment);
  const isInherited = run.chunk === undefined && (run.continued || lost.length > 0);
  const inheritedLease = isInherited ? lease.name : undefined;
  return new TruePointsMeter({ ...effects, budget, logReader, prices, inFlight, mayIgnoreBalance, inheritedLease });
}

/** Returns the notice about an answer with more items than requested; undefined for any other answer. */
function surplusNotice(sync: string, { answer, receipt }: IngestResult): Notice | undefined {
  const { count } = answer.request;
  return typeof count === 'number' && receipt.received > count
    ? {
        level: 'warn',
        sync,
        message: `answer ${answer.id} holds ${receipt.received} items, more than the ${count} requested; all are loaded`,
      }
    : undefined;
}
