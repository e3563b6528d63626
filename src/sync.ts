/** The complete flow on one screen: plan, extract, normalize, load, record. */
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
  /** Syncs to run; empty means all. */
  readonly names: readonly string[];
  /** Ignore fresh answers and send every request. */
  readonly refresh: boolean;
  readonly failOnTruncated: boolean;
  /** Days, YYYY-MM-DD, that replace the window of the named syncs. */
  readonly from?: string;
  readonly to?: string;
  /** Most points that this invocation may spend. */
  readonly maxPoints?: number;
  /**
   * Treat answers as lost that may be in spools that cannot be found; their requests are then handled by `in_doubt`.
   */
  readonly abandonSpool?: boolean;
}

/**
 * Runs the syncs of a config, parents first, and returns a summary of each. Throws a SluiceError only for errors that
 * stop all of them; the summary reports a sync that fails. When the signal aborts, nothing new is sent, and calls in
 * flight are awaited and stored.
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
  const rowCounter = openRowCounter();
  const invocation = await openInvocation(config, warehouse, effects);
  try {
    const spooled = await invocation.spools.waiting();
    for (const definition of definitions) {
      if (ended) syncs.push(notStartedSummary(definition, ended.exit, ended.because));
      else if (signal.aborted) syncs.push(notStartedSummary(definition, EXIT.transient, 'stopped by a signal'));
      else {
        const summary = await runSync(invocation, { definition, options, budget, rowCounter, spooled, onStop }, signal);
        if (summary !== 'shared') syncs.push(summary);
      }
    }
  } finally {
    await invocation.close();
  }
  if (!signal.aborted) await analyzeAfterLoad(warehouse, rowCounter, effects.onNotice);
  return { exitCode: worstExitCode(syncs), syncs, tookMs: effects.now().getTime() - startedAt.getTime() };
}

export interface SyncRun {
  readonly definition: SyncDefinition;
  readonly options: Omit<SyncOptions, 'names' | 'maxPoints'>;
  readonly budget: MeteredBudget;
  readonly rowCounter: RowCounter;
  /** The answers in the spools at the start, of all syncs. */
  readonly spooled: readonly SpooledFiles[];
  readonly onStop?: (stop: RunStop) => void;
  /** Lets other workers take part in a large run; absent, this process executes it. */
  readonly share?: ShareOptions;
  /** Traces of the run. */
  readonly spans?: RunSpans;
}

/** The span's end for a run that other workers continue. */
const SHARED = { state: 'running', exitCode: EXIT.complete, error: null } as const;

/** Runs one sync and returns its summary; `shared` if workers execute its chunks from now on. */
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
  invocation: Invocation,
  { definition, options, budget, rowCounter, spooled, onStop, share, spans }: SyncRun,
  signal: AbortSignal,
): Promise<SyncSummary | 'shared'> {
  const { config, warehouse, effects } = invocation;
  const startedAt = effects.now();
  const ops = operationsOf(warehouse);
  const holder = holderOf(effects);
  let stopped: RunStop | undefined;
  try {
    const sole = warehouse.kind === 'embedded';
    const lease = await retryTransient(() => acquireLease(ops, syncLease(definition.name), holder, sole), effects);
    const held = keepLeaseAlive(ops, lease, effects.sleep, invocation.checkClock);
    try {
      if (warehouse.kind === 'postgres') await retryTransient(() => assertNoRebuild(ops), effects);
      // First load spooled answers: they were paid for, so their requests must not be planned again or counted as in
      // doubt.
      for (const files of spooled) await ingestSpooled(ops, files, { sync: definition.name }, effects);
      const { own } = invocation.spools;
      if (options.abandonSpool === true)
        await retryTransient(() => abandonMissing(ops, definition.name, { ...effects, ...(own && { own }) }), effects);
      const missing = await retryTransient(
        () => missingSpools(ops, { syncs: [definition.name] }, invocation.spools),
        effects,
      );
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
      const part = await openSegment(invocation, {
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
      // A failing service would not show its log either.
      if (!stop || (!stop.forAll && stop.exit !== EXIT.transient)) await part.settleRemaining(either);
      // For the same reason, do not wait for the log of a failing service.
      await part.verify(stop?.exit === EXIT.transient ? AbortSignal.abort() : either);
      const backfill = options.from !== undefined || options.to !== undefined;
      const { failOnTruncated } = options;
      const ending = { definition, run, covered, reliedInputs, stop, lost, failOnTruncated, backfill, startedAt };
      const summary = await retryTransient(async () => {
        // If another process took over this run, that process concludes it.
        await assertLease(ops, lease);
        const missingOfRun = missing.find(({ runId }) => runId === run.id);
        const more = {
          aborted: signal.aborted,
          schema: warehouse.schema,
          now: effects.now,
          isLimited: part.isLimited,
        };
        return concludeRun(ops, { ...ending, ...more, ...(missingOfRun && { missing: missingOfRun }) });
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
    // The reason why the run stopped is more useful than the error that prevented recording its end.
    const { because, next } = stopped?.exit === EXIT.transient ? stopped : { because: error.message, next: error.next };
    const reported =
      error instanceof TransientError ? new TransientError(because, next == null ? {} : { next }) : error;
    return failedSummary(definition, reported, effects.now().getTime() - startedAt.getTime());
  }
}
