/** The whole flow on one screen: plan, extract, normalize, load, record. */
import { hostname } from 'node:os';
import type { Config, SyncDefinition } from './config/definition.ts';
import { EXIT, SluiceError, TransientError } from './errors.ts';
import { type Client, openClient } from './extract/client.ts';
import { carryOut } from './flow/carry-out.ts';
import type { Stop } from './flow/course.ts';
import type { OnCheckpoint } from './flow/checkpoint.ts';
import { concludeRun } from './flow/conclude.ts';
import { cutNotices } from './flow/cut-notice.ts';
import { doubtNotice, lostNotice, settleDoubts, settleLeftOver } from './flow/doubt.ts';
import { faultNotice } from './flow/fault.ts';
import { type Gate, openTokenGate } from './flow/gate.ts';
import { hold } from './flow/hold.ts';
import type { Taken } from './flow/intake.ts';
import { invocationBudget, syncBudget } from './flow/limits.ts';
import { failedBy, gravest, notStarted } from './flow/outcome.ts';
import { prepareRun } from './flow/prepare.ts';
import { readPrices } from './flow/prices.ts';
import { progressOf } from './flow/progress.ts';
import { giveUpReadings } from './flow/log-reading.ts';
import { openReconciler, reconcileRun } from './flow/reconciler.ts';
import { openKeeping, spooledAnswers, takeSpooled } from './flow/spooling.ts';
import { databaseTrouble, steadily } from './flow/steady.ts';
import { surplusNotice } from './flow/surplus.ts';
import { openTally, type Tally, tidy } from './flow/tidy.ts';
import type { BudgetGuard } from './ops/budget.ts';
import { acquireLease, assertLease, assertNoRebuild } from './ops/lease.ts';
import { countByState } from './ops/ledger.ts';
import { operationsOf } from './ops/schema.ts';
import type { Spool } from './ops/spool.ts';
import type { Waiting } from './ops/spool-head.ts';
import type { Notice, Progress, Summary, SyncSummary } from './ops/summary.ts';
import { selectSyncs } from './plan/order.ts';
import { mostOf } from './plan/price-book.ts';
import type { RequestBody } from './service/asked.ts';
import { countOf } from './service/endpoint.ts';
import type { Warehouse } from './warehouse/connect.ts';

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
}

/** Everything that the flow needs from outside. */
export interface SyncEffects {
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  readonly onProgress: (progress: Progress) => void;
  readonly onNotice: (notice: Notice) => void;
  /** Told of each point at which it matters that a process may die. */
  readonly checkpoint?: OnCheckpoint;
  /** Where answers wait that the database could not take; without one they are lost with it. */
  readonly spool?: Spool;
  /** Stands in for the client that is shipped. */
  readonly openClient?: typeof openClient;
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
  effects: SyncEffects,
  signal: AbortSignal,
): Promise<Summary> {
  const startedAt = effects.now();
  const { url, token, inFlight } = config.service;
  const definitions = selectSyncs(config.syncs, options.names);
  const asTrouble = (error: unknown): never => {
    throw databaseTrouble(error);
  };
  const budget = await invocationBudget(warehouse, config.budget, options.maxPoints, effects).catch(asTrouble);
  const client = (effects.openClient ?? openClient)({ url, token, connections: inFlight, now: effects.now });
  const syncs: SyncSummary[] = [];
  let ended: Stop | undefined;
  const onStop = (stop: Stop): void => {
    if (stop.forAll) ended = stop;
  };
  const tally = openTally();
  const { spool, onNotice } = effects;
  const all = config.syncs.map(({ name }) => name);
  const spooled = spool ? await spooledAnswers({ spool, onNotice }, all) : [];
  const gate = await openTokenGate(warehouse, config.service, holderOf(effects), effects).catch(asTrouble);
  const shared = { config, warehouse, options, effects, client, gate, budget, tally, spooled, onStop };
  try {
    for (const definition of definitions) {
      if (ended) syncs.push(notStarted(definition, ended.exit, ended.because));
      else if (signal.aborted) syncs.push(notStarted(definition, EXIT.transient, 'stopped by a signal'));
      else syncs.push(await runSync(shared, definition, signal));
    }
  } finally {
    await client.close();
    await gate.close();
  }
  if (!signal.aborted) await tidy(warehouse, tally, effects.onNotice);
  return { exitCode: gravest(syncs), syncs, tookMs: effects.now().getTime() - startedAt.getTime() };
}

interface Shared {
  readonly config: Config;
  readonly warehouse: Warehouse;
  readonly options: SyncOptions;
  readonly effects: SyncEffects;
  readonly client: Client;
  readonly gate: Gate;
  readonly budget: BudgetGuard;
  readonly tally: Tally;
  /** What waited on the disk at the start, of all syncs. */
  readonly spooled: readonly Waiting[];
  readonly onStop: (stop: Stop) => void;
}

/** Names this process in leases and slots, and no other at any time. */
const holderOf = ({ newId }: SyncEffects): string => `${hostname()}/${process.pid}/${newId()}`;

async function runSync(shared: Shared, definition: SyncDefinition, signal: AbortSignal): Promise<SyncSummary> {
  const { config, warehouse, options, effects } = shared;
  const startedAt = effects.now();
  const ops = operationsOf(warehouse);
  const holder = holderOf(effects);
  const spooling = effects.spool && { ...effects, spool: effects.spool };
  let stopped: Stop | undefined;
  try {
    const sole = warehouse.kind === 'embedded';
    const lease = await steadily(() => acquireLease(ops, `sync:${definition.name}`, holder, sole), effects);
    const held = hold(ops, lease, effects.sleep);
    try {
      if (warehouse.kind === 'postgres') await assertNoRebuild(ops);
      // Before anything is planned or in doubt: what waits there was asked and paid for.
      if (spooling) await takeSpooled(ops, shared.spooled, definition.name, spooling);
      await steadily(
        () => giveUpReadings(warehouse, definition, { holder, newId: effects.newId, now: startedAt }),
        effects,
      );
      const prices = await readPrices(warehouse, config, definition);
      const lost: string[] = [];
      const { run, covered, relied, forgotten, maxAgeOf } = await prepareRun(warehouse, definition, {
        ...effects,
        options,
        holder,
        startedAt,
        prices,
        onLost: (id) => {
          lost.push(id);
          effects.onNotice(lostNotice(definition.name, id));
        },
      });
      if (forgotten > 0)
        effects.onNotice({
          level: 'info',
          sync: definition.name,
          message: `requests left out because they name what was forgotten: ${forgotten}`,
        });
      const { now, sleep, random, newId } = effects;
      const carrying = {
        warehouse,
        definition,
        lease,
        client: shared.client,
        gate: shared.gate,
        now,
        sleep,
        random,
        newId,
        budget: syncBudget(definition, shared.budget),
        onLoaded: (taken: Taken) => {
          shared.tally.add(taken.receipt);
          if (taken.fault !== undefined) effects.onNotice(faultNotice(definition.name, taken.answer.id, taken.fault));
          const notice = surplusNotice(definition.name, taken);
          if (notice) effects.onNotice(notice);
        },
      };
      const either = AbortSignal.any([signal, held.lost]);
      const findOut =
        definition.endpoint.paging.by === 'cursor'
          ? undefined
          : openReconciler({ ...carrying, pricesOf: (it) => readPrices(warehouse, config, it) });
      const most = (request: RequestBody): number => mostOf(prices, countOf(request));
      const settling = { definition, run, lost, findOut, most, now, onNotice: effects.onNotice };
      if (run.continued || lost.length > 0) await settleDoubts(ops, settling, either);
      const cuts = cutNotices(definition.name, most, effects.onNotice);
      const stop = await carryOut(
        {
          ...carrying,
          run,
          retries: config.service.retries,
          inFlight: config.service.inFlight,
          maxAgeOf,
          ...(effects.checkpoint && { checkpoint: effects.checkpoint }),
          ...(spooling && { keepAside: openKeeping(spooling) }),
          prices,
          onDoubt: (because, again) => effects.onNotice(doubtNotice(definition.name, because, again)),
          onCut: cuts.onCut,
          ...(findOut && { findOut }),
          ...progressOf(definition.name, await countByState(ops, run.id), effects.onProgress),
        },
        either,
      );
      cuts.end();
      stopped = stop;
      if (stop) shared.onStop(stop);
      // A service that does not answer would not tell of its log either.
      if (!stop || (!stop.forAll && stop.exit !== EXIT.transient)) await settleLeftOver(ops, settling, either);
      const { failOnTruncated } = options;
      const backfill = options.from !== undefined || options.to !== undefined;
      const { aborted } = signal;
      const summary = await steadily(async () => {
        // Of a run that is another's now, the end is too.
        await assertLease(ops, lease);
        return concludeRun(ops, {
          definition,
          run,
          covered,
          relied,
          stop,
          aborted,
          failOnTruncated,
          backfill,
          startedAt,
          lost,
          schema: warehouse.schema,
          now,
        });
      }, effects);
      if (definition.endpoint.paging.by === 'cursor') await reconcileRun(warehouse, run, effects);
      return summary;
    } finally {
      await held.end();
    }
  } catch (thrown) {
    const error = databaseTrouble(thrown);
    if (!(error instanceof SluiceError)) throw error;
    // Why the run stopped says more than that its end could not be recorded either.
    const { because, next } = stopped?.exit === EXIT.transient ? stopped : { because: error.message, next: error.next };
    const told = error instanceof TransientError ? new TransientError(because, next == null ? {} : { next }) : error;
    return failedBy(definition, told, effects.now().getTime() - startedAt.getTime());
  }
}
