/** The whole flow on one screen: plan, extract, normalize, load, record. */
import { hostname } from 'node:os';
import type { Config, SyncDefinition } from './config/definition.ts';
import { EXIT, SluiceError } from './errors.ts';
import { type Client, openClient } from './extract/client.ts';
import { openPace } from './extract/pace.ts';
import { carryOut, type Stop } from './flow/carry-out.ts';
import { concludeRun } from './flow/conclude.ts';
import { doubtNotice, lostNotice, settleDoubts } from './flow/doubt.ts';
import { hold } from './flow/hold.ts';
import { invocationBudget, syncBudget } from './flow/limits.ts';
import { failedBy, gravest, notStarted } from './flow/outcome.ts';
import { prepareRun, priceOf } from './flow/prepare.ts';
import { progressOf } from './flow/progress.ts';
import { databaseTrouble } from './flow/steady.ts';
import { surplusNotice } from './flow/surplus.ts';
import { openTally, type Tally, tidy } from './flow/tidy.ts';
import type { BudgetGuard } from './ops/budget.ts';
import { acquireLease, assertLease, assertNoRebuild } from './ops/lease.ts';
import { countByState } from './ops/ledger.ts';
import { operationsOf } from './ops/schema.ts';
import type { Notice, Progress, Summary, SyncSummary } from './ops/summary.ts';
import { selectSyncs } from './plan/order.ts';
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
  const { url, token, inFlight, requestsPerSecond } = config.service;
  const definitions = selectSyncs(config.syncs, options.names);
  const budget = await invocationBudget(warehouse, config.budget, options.maxPoints, startedAt).catch(
    (error: unknown) => {
      throw databaseTrouble(error);
    },
  );
  const client = openClient({ url, token, connections: inFlight, now: effects.now });
  const turn = openPace({ perSecond: requestsPerSecond, now: effects.now, sleep: effects.sleep });
  const syncs: SyncSummary[] = [];
  let ended: Stop | undefined;
  const onStop = (stop: Stop): void => {
    if (stop.forAll) ended = stop;
  };
  const tally = openTally();
  const shared = { config, warehouse, options, effects, client, turn, budget, tally, onStop };
  try {
    for (const definition of definitions) {
      if (ended) syncs.push(notStarted(definition, ended.exit, ended.because));
      else if (signal.aborted) syncs.push(notStarted(definition, EXIT.transient, 'stopped by a signal'));
      else syncs.push(await runSync(shared, definition, signal));
    }
  } finally {
    await client.close();
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
  readonly turn: (signal?: AbortSignal) => Promise<void>;
  readonly budget: BudgetGuard;
  readonly tally: Tally;
  readonly onStop: (stop: Stop) => void;
}

async function runSync(shared: Shared, definition: SyncDefinition, signal: AbortSignal): Promise<SyncSummary> {
  const { config, warehouse, options, effects } = shared;
  const startedAt = effects.now();
  const ops = operationsOf(warehouse);
  const holder = `${hostname()}/${process.pid}/${effects.newId()}`;
  try {
    const lease = await acquireLease(ops, `sync:${definition.name}`, holder, warehouse.kind === 'embedded');
    const held = hold(ops, lease, effects.sleep);
    try {
      if (warehouse.kind === 'postgres') await assertNoRebuild(ops);
      const { run, covered } = await prepareRun(warehouse, definition, options, holder, startedAt, (id) =>
        effects.onNotice(lostNotice(definition.name, id)),
      );
      if (run.continued) await settleDoubts(ops, definition, run, effects);
      const stop = await carryOut(
        {
          warehouse,
          definition,
          run,
          lease,
          client: shared.client,
          turn: shared.turn,
          retries: config.service.retries,
          inFlight: config.service.inFlight,
          refresh: options.refresh,
          now: effects.now,
          sleep: effects.sleep,
          random: effects.random,
          newId: effects.newId,
          price: priceOf(config, definition),
          budget: syncBudget(definition, shared.budget),
          onLoaded: (taken) => {
            shared.tally.add(taken.receipt);
            const notice = surplusNotice(definition.name, taken);
            if (notice) effects.onNotice(notice);
          },
          onDoubt: (because, again) => effects.onNotice(doubtNotice(definition.name, because, again)),
          ...progressOf(definition.name, await countByState(ops, run.id), effects.onProgress),
        },
        AbortSignal.any([signal, held.lost]),
      );
      if (stop) shared.onStop(stop);
      // Of a run that is another's now, the end is too.
      await assertLease(ops, lease);
      const { failOnTruncated } = options;
      const backfill = options.from !== undefined || options.to !== undefined;
      const { aborted } = signal;
      return await concludeRun(ops, {
        definition,
        run,
        covered,
        stop,
        aborted,
        failOnTruncated,
        backfill,
        startedAt,
        now: effects.now,
      });
    } finally {
      await held.end();
    }
  } catch (thrown) {
    const error = databaseTrouble(thrown);
    if (!(error instanceof SluiceError)) throw error;
    return failedBy(definition, error, effects.now().getTime() - startedAt.getTime());
  }
}
