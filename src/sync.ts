/** The whole flow on one screen: plan, extract, normalize, load, record. */
import type { Config, SyncDefinition } from './config/definition.ts';
import { EXIT, SluiceError, TransientError } from './errors.ts';
import { checkQueries, queriesOf } from './flow/queries/check-queries.ts';
import { concludeRun } from './flow/run/conclude.ts';
import { deletedNotice, deletedRows } from './flow/replay/deleted-rows.ts';
import type { RunStop } from './flow/run/stop-controller.ts';
import { abandonedAnswerNotice } from './recovery/reconcile/lost-answers.ts';
import { keepLeaseAlive } from './control/lease/keep-lease-alive.ts';
import { type FlowEffects, holderOf, type Invocation, openInvocation } from './flow/run/invocation.ts';
import { invocationBudget, syncBudget } from './control/budget/budget.ts';
import { abandonLogReads } from './flow/run/read-request-log.ts';
import { failedSummary, worstExitCode, notStartedSummary } from './flow/run/failed-summary.ts';
import { forgottenNotice, prepareRun } from './flow/run/prepare.ts';
import { readPrices } from './control/budget/read-price-book.ts';
import { reconcileRun } from './flow/run/reconciler.ts';
import { openSegment } from './flow/run/segment.ts';
import type { RunSpans } from './telemetry/spans.ts';
import { type ShareOptions, shareRun } from './flow/run/share-run.ts';
import { type SpooledFiles, ingestSpooled } from './recovery/spool/spool.ts';
import { abandonMissing, missingSpools } from './recovery/spool/find-spools.ts';
import { toUserError, retryTransient } from './warehouse/connect/retry-transient.ts';
import { openRowCounter, type RowCounter, analyzeAfterLoad } from './flow/run/analyze-tables.ts';
import type { MeteredBudget } from './control/budget/local-budget.ts';
import { acquireLease, assertLease, assertNoRebuild, syncLease } from './ledger/lease.ts';
import { operationsOf } from './warehouse/connect/operations-db.ts';
import type { Summary, SyncSummary } from './ledger/summary.ts';
import { selectSyncs } from './plan/order.ts';
import type { Warehouse } from './warehouse/connect/connect.ts';

export interface SyncOptions {
  /** Syncs to run, with nothing else; empty means all. */
  readonly names: readonly string[];
  /** Ask even for what is fresh. */
  readonly refresh: boolean;
  readonly failOnTruncated: boolean;
  /** Days, YYYY-MM-DD, that replace the window of the named syncs. */
  readonly from?: string;
  readonly to?: string;
  /** Most points that this invocation may spend. */
  readonly maxPoints?: number;
  /** Count answers as lost that may be in spools that cannot be found; their requests are then handled by `in_doubt`. */
  readonly abandonSpool?: boolean;
}

/**
 * Runs the syncs of a config, parents first, and tells what came of each. Throws a SluiceError only for what stops all
 * of them; a sync that fails is told in the summary. When the signal aborts, nothing new is sent and calls in flight
 * are awaited and stored.
 */
export async function runSyncs(
  config: Config,
  warehouse: Warehouse,
  options: SyncOptions,
  effects: FlowEffects,
  signal: AbortSignal,
): Promise<Summary> {
  const startedAt = effects.now();
  const definitions = selectSyncs(config.syncs, options.names);
  if (definitions.some((it) => queriesOf(it).length > 0))
    await retryTransient(() => checkQueries(warehouse, definitions), effects);
  const budget = await invocationBudget(warehouse, config.budget, options.maxPoints, effects).catch(
    (error: unknown) => {
      throw toUserError(error);
    },
  );
  const syncs: SyncSummary[] = [];
  let ended: RunStop | undefined;
  const onStop = (stop: RunStop): void => {
    if (stop.forAll) ended = stop;
  };
  const tally = openRowCounter();
  const it = await openInvocation(config, warehouse, effects);
  try {
    const spooled = await it.spools.waiting();
    for (const definition of definitions) {
      if (ended) syncs.push(notStartedSummary(definition, ended.exit, ended.because));
      else if (signal.aborted) syncs.push(notStartedSummary(definition, EXIT.transient, 'stopped by a signal'));
      else {
        const summary = await runSync(it, { definition, options, budget, rowCounter: tally, spooled, onStop }, signal);
        if (summary !== 'shared') syncs.push(summary);
      }
    }
  } finally {
    await it.close();
  }
  if (!signal.aborted) await analyzeAfterLoad(warehouse, tally, effects.onNotice);
  return { exitCode: worstExitCode(syncs), syncs, tookMs: effects.now().getTime() - startedAt.getTime() };
}

export interface SyncRun {
  readonly definition: SyncDefinition;
  readonly options: Omit<SyncOptions, 'names' | 'maxPoints'>;
  readonly budget: MeteredBudget;
  readonly rowCounter: RowCounter;
  /** What waited on the disk at the start, of all syncs. */
  readonly spooled: readonly SpooledFiles[];
  readonly onStop?: (stop: RunStop) => void;
  /** Lets other workers take part in a run that is large; absent, it is carried out here. */
  readonly share?: ShareOptions;
  /** Where the run is traced. */
  readonly spans?: RunSpans;
}

/** What its process did of a run that others go on with. */
const SHARED = { state: 'running', exitCode: EXIT.complete, error: null } as const;

/** Runs one sync and tells what came of it; `shared` of a run whose chunks are from then on the workers'. */
export async function runSync(
  invocation: Invocation,
  syncRun: SyncRun,
  signal: AbortSignal,
): Promise<SyncSummary | 'shared'> {
  const { name, endpoint } = syncRun.definition;
  const spans = invocation.effects.beginSpan?.(name, endpoint.name);
  if (!spans) return runOnce(invocation, syncRun, signal);
  try {
    const summary = await runOnce(invocation, { ...syncRun, spans }, signal);
    spans.end(summary === 'shared' ? SHARED : summary);
    return summary;
  } catch (error) {
    spans.end({ state: 'failed', exitCode: EXIT.bug, error: null });
    throw error;
  }
}

async function runOnce(
  it: Invocation,
  { definition, options, budget, rowCounter, spooled, onStop, share, spans }: SyncRun,
  signal: AbortSignal,
): Promise<SyncSummary | 'shared'> {
  const { config, warehouse, effects } = it;
  const startedAt = effects.now();
  const ops = operationsOf(warehouse);
  const holder = holderOf(effects);
  let stopped: RunStop | undefined;
  try {
    const sole = warehouse.kind === 'embedded';
    const lease = await retryTransient(() => acquireLease(ops, syncLease(definition.name), holder, sole), effects);
    const held = keepLeaseAlive(ops, lease, effects.sleep, it.checkClock);
    try {
      if (warehouse.kind === 'postgres') await retryTransient(() => assertNoRebuild(ops), effects);
      // Before anything is planned or in doubt: what waits there was asked and paid for.
      for (const files of spooled) await ingestSpooled(ops, files, { sync: definition.name }, effects);
      const { own } = it.spools;
      if (options.abandonSpool === true)
        await retryTransient(() => abandonMissing(ops, definition.name, { ...effects, ...(own && { own }) }), effects);
      const missing = await retryTransient(() => missingSpools(ops, { syncs: [definition.name] }, it.spools), effects);
      await retryTransient(
        () => abandonLogReads(warehouse, definition, { holder, newId: effects.newId, now: startedAt }),
        effects,
      );
      const prices = await retryTransient(() => readPrices(warehouse, config, definition), effects);
      const lost: string[] = [];
      const prepared = await prepareRun(warehouse, definition, {
        ...effects,
        options,
        holder,
        startedAt,
        prices,
        missing,
        ...(own && { ownSpool: own }),
        ...(share && { chunkSize: share.chunkSize }),
        onLost: (id) => {
          lost.push(id);
          effects.onNotice(abandonedAnswerNotice(definition.name, id));
        },
      });
      const { run, covered, reliedInputs, forgotten, maxAgeOf } = prepared;
      if (forgotten > 0) effects.onNotice(forgottenNotice(definition.name, forgotten));
      spans?.setRunId(run.id);
      const either = AbortSignal.any([signal, held.lost]);
      const limits = syncBudget(definition, budget);
      const part = await openSegment(it, {
        definition,
        run,
        lease,
        budget: limits,
        prices,
        maxAgeOf,
        lost,
        rowCounter,
        ...(spans && { spans }),
      });
      if (run.continued || lost.length > 0) await part.settle(either);
      if (share && !either.aborted) {
        await part.loadWaiting();
        const shared = await shareRun(warehouse, { definition, run, lease, covered, lost }, share, effects);
        if (shared) {
          held.markHandedOver();
          return 'shared';
        }
      }
      const stop = await part.execute(either);
      stopped = stop;
      if (stop) onStop?.(stop);
      // A service that does not answer would not tell of its log either.
      if (!stop || (!stop.forAll && stop.exit !== EXIT.transient)) await part.settleRemaining(either);
      // Nor would a service in trouble show its log.
      await part.verify(stop?.exit === EXIT.transient ? AbortSignal.abort() : either);
      const backfill = options.from !== undefined || options.to !== undefined;
      const { failOnTruncated } = options;
      const ending = { definition, run, covered, reliedInputs, stop, lost, failOnTruncated, backfill, startedAt };
      const summary = await retryTransient(async () => {
        // Of a run that is another's now, the end is too.
        await assertLease(ops, lease);
        const ofRun = missing.find(({ runId }) => runId === run.id);
        const more = {
          aborted: signal.aborted,
          schema: warehouse.schema,
          now: effects.now,
          isLimited: part.isLimited,
        };
        return concludeRun(ops, { ...ending, ...more, ...(ofRun && { missing: ofRun }) });
      }, effects);
      if (definition.endpoint.paging.by === 'cursor') await reconcileRun(warehouse, run, effects);
      else if (summary.fresh > covered)
        for (const it of await retryTransient(() => deletedRows(warehouse, run.id), effects))
          effects.onNotice(deletedNotice(it));
      return summary;
    } finally {
      await held.end();
    }
  } catch (thrown) {
    const error = toUserError(thrown);
    if (!(error instanceof SluiceError)) throw error;
    // Why the run stopped says more than that its end could not be recorded either.
    const { because, next } = stopped?.exit === EXIT.transient ? stopped : { because: error.message, next: error.next };
    const told = error instanceof TransientError ? new TransientError(because, next == null ? {} : { next }) : error;
    return failedSummary(definition, told, effects.now().getTime() - startedAt.getTime());
  }
}
