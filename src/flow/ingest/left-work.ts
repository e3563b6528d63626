/**
 * The work that dead processes left, before a run buys anything: their stored answers are loaded, and their open runs ended.
 *
 * Another process loads the answers of a sync whose lease it holds. An answer of a sync of the config is loaded early: the
 * sync itself loads it once more, settles its request and plans what follows. No other run of this config comes for a sync
 * that it does not have, so its answers are settled, except for those that may lead to further requests. Its runs are ended,
 * but as a config in another folder may still have it, only when its next run would not continue them either.
 */
import { readPrices } from '../../control/budget/read-price-book.ts';
import { syncsAtWork } from '../../control/lease/syncs-at-work.ts';
import { withFreeLease } from '../../control/lease/with-free-lease.ts';
import { answersLeftToOthers, type LeftAnswer } from '../../ledger/answers.ts';
import { type Lease, assertLeases } from '../../ledger/lease.ts';
import { isLogRead } from '../../ledger/log-reads.ts';
import { settlePoints } from '../../ledger/price-samples.ts';
import { CONTINUED_WITHIN_MS, abandonRun } from '../../ledger/runs.ts';
import { endpointNamed } from '../../service/catalog.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { retryTransient, retryTransaction } from '../../warehouse/connect/retry-transient.ts';
import { faultNotice } from './answer-fault.ts';
import { type IngestOptions, ingestGroups } from './ingest.ts';
import { readStored } from '../replay/stored-answers.ts';
import type { Invocation } from '../run/invocation.ts';
import { settlementOf } from '../run/loader.ts';
import type { SyncLease } from '../run/sync-lease.ts';
import type { SyncRun } from '../run/sync-run.ts';
import { leftRuns } from '../../ledger/failures/left-runs.ts';
import { abandonedAnswerNotice } from '../../recovery/reconcile/settle-lost-answers.ts';
import { missingSpools } from '../../recovery/spool/find-spools.ts';

/** Loads the waiting answers of all other syncs that no living process works on. Sends nothing. */
export async function loadLeftAnswers(
  invocation: Invocation,
  syncRun: Pick<SyncRun, 'definition' | 'rowCounter'>,
  held: Pick<SyncLease, 'lease' | 'signal'>,
): Promise<void> {
  const { warehouse, config, effects } = invocation;
  const ops = operationsOf(warehouse);
  const openSince = new Date(effects.now().getTime() - CONTINUED_WITHIN_MS);
  const waiting = await retryTransient(() => answersLeftToOthers(ops, syncRun.definition.name, openSince), effects);
  if (waiting.length === 0) return;
  const atWork = await syncsAtWork(warehouse, effects);
  const left = waiting.filter(({ sync }) => !isLogRead(sync) && !atWork.has(sync));
  for (const [sync, answers] of Map.groupBy(left, (it) => it.sync)) {
    // With its lease taken, a sync of the config could not start meanwhile.
    const isKnown = config.syncs.some(({ name }) => name === sync);
    const { over = [], open = [] } = Object.groupBy(answers, (it) =>
      !isKnown && leadsToNothing(it) ? 'over' : 'open',
    );
    await load(invocation, syncRun, open, { leases: [held.lease], purpose: { kind: 'replay' } }, held.signal);
    if (over.length > 0) await settle(invocation, syncRun, sync, over, held);
    effects.onNotice({
      level: 'info',
      sync,
      message: `loaded ${answers.length === 1 ? 'a stored answer' : `${answers.length} stored answers`} that an interrupted run had left`,
    });
  }
}

const leadsToNothing = ({ isOver, endpoint }: LeftAnswer): boolean =>
  isOver || endpointNamed(endpoint)?.paging.by === 'once';

/** Loads answers of another sync and settles their requests, under its lease; does nothing if a process has taken it since. */
async function settle(
  invocation: Invocation,
  syncRun: Pick<SyncRun, 'rowCounter'>,
  sync: string,
  answers: readonly LeftAnswer[],
  held: Pick<SyncLease, 'lease' | 'signal'>,
): Promise<void> {
  const { warehouse, config, effects } = invocation;
  await withFreeLease(warehouse, sync, effects, warehouse.kind === 'embedded', async (acquired) => {
    for (const [name, each] of Map.groupBy(answers, (it) => it.endpoint)) {
      const endpoint = endpointNamed(name);
      const prices =
        endpoint && (await retryTransient(() => readPrices(warehouse, config, { name: sync, endpoint }), effects));
      const onCommit: IngestOptions['onCommit'] =
        prices &&
        ((inside, results) =>
          settlePoints(
            inside,
            results.map((it) => settlementOf(prices, it)),
          ));
      const options = {
        leases: [held.lease, acquired],
        purpose: { kind: 'settle' } as const,
        ...(onCommit && { onCommit }),
      };
      await load(invocation, syncRun, each, options, held.signal);
    }
  });
}

async function load(
  { warehouse, effects }: Invocation,
  { rowCounter }: Pick<SyncRun, 'rowCounter'>,
  answers: readonly LeftAnswer[],
  options: Pick<IngestOptions, 'purpose' | 'onCommit'> & { readonly leases: readonly Lease[] },
  signal: AbortSignal,
): Promise<void> {
  const { now, sleep, random, onNotice } = effects;
  const listed = answers.map(({ answerId, bytes, sync }) => ({ answerId, bytes, sync }));
  const source = readStored(operationsOf(warehouse), listed, { ...effects, purpose: options.purpose }, signal);
  const onLoaded: IngestOptions['onLoaded'] = ({ receipt, answer, fault }) => {
    rowCounter.add(receipt);
    if (fault !== undefined) onNotice(faultNotice(answer.sync, answer.id, fault));
  };
  await ingestGroups(
    warehouse,
    source,
    { ...options, now, sleep, random, onLoaded, fillSignal: signal },
    () => undefined,
  );
}

/**
 * Ends the left runs of syncs that the config does not have, and lists their requests in flight as lost. Call it after their
 * spooled and stored answers were loaded. A run stays open if its answers may be in a spool that cannot be found. `startedAt`
 * must be from before these answers were looked for, so that no other run is ended.
 */
export async function endLeftRuns(
  { warehouse, config, effects, spools }: Invocation,
  startedAt: Date,
  held: Pick<SyncLease, 'lease'>,
): Promise<void> {
  const ops = operationsOf(warehouse);
  const known = config.syncs.map(({ name }) => name);
  const left = await retryTransient(() => leftRuns(ops, known, startedAt), effects);
  for (const sync of new Set(left.map((run) => run.sync)))
    await withFreeLease(warehouse, sync, effects, false, async (lease) => {
      const missing = await retryTransient(() => missingSpools(ops, { syncs: [sync] }, spools), effects);
      const open = new Set(missing.map(({ runId }) => runId));
      const lost = new Set<string>();
      const endAll = async (tx: typeof ops): Promise<void> => {
        await assertLeases(tx, [held.lease, lease]);
        // Read again: another process may have ended them before the lease was acquired.
        const runs = (await leftRuns(tx, known, startedAt)).filter((run) => run.sync === sync && !open.has(run.id));
        for (const { id } of runs)
          for (const request of await abandonRun(tx, id, effects.now().toISOString())) lost.add(request);
      };
      await retryTransaction(ops, endAll, effects);
      for (const id of lost) effects.onNotice(abandonedAnswerNotice(sync, id));
    });
}
