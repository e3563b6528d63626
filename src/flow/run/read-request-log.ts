/**
 * Reads a stretch of the request log for a run that lost answers: through the ledger, the vault and the loader like any
 * other request, in a run of its own. No other sync's marks and no exit code know of it.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT } from '../../errors.ts';
import { planRequests } from '../../ledger/requests.ts';
import { continueRun, createRun, endRun, openRunsOf, type Run, runTotals } from '../../ledger/runs.ts';
import { logReadName } from '../../ledger/log-reads.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { taskOf } from '../../plan/plan.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { tokenRequests } from '../../service/endpoints/token-requests.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import { instantText } from '../../service/instant.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { type ExecuteContext, executeRun } from './execute.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** A stretch of time, by the service's clock. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** What a reading needs of the run that wants it. */
export interface LogReadContext
  extends Pick<
    ExecuteContext,
    | 'warehouse'
    | 'definition'
    | 'run'
    | 'lease'
    | 'client'
    | 'limiter'
    | 'budget'
    | 'now'
    | 'sleep'
    | 'random'
    | 'newId'
    | 'onLoaded'
  > {
  /** What a sync's calls cost. */
  readonly pricesOf: (definition: SyncDefinition) => Promise<PriceBook>;
  /** Does one reading after the other: they share a name, and one that begins gives up the one before. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** What came of a reading. */
export interface LogRead {
  readonly runId: string;
  /** Every answer was readable. */
  readonly isRead: boolean;
  /** The log was read, or a part of it. */
  readonly isUsable: boolean;
  /** No rows were left out. */
  readonly isWhole: boolean;
  /** True when the service refused, so that a reading soon after would be refused too. */
  readonly isRefused: boolean;
  /** Why the log could not be read. */
  readonly because: string | null;
}

const PAGE = 100;
/** Of one stretch; a stretch of minutes with more rows tells less than its reading takes. */
export const MOST_PAGES = 50;
/** The log has no timeout of its own; whoever waits for it has lost an answer already. The client adds its margin. */
const TIMEOUT_SECONDS = 10;
/** A log that wants to be waited for longer is not waited for. */
const LONGEST_WAIT_MS = 20_000;

/** Reads these stretches of the log into the warehouse; true when they are in whole. Throws only what is no trouble of the log. */
export async function readLog(
  context: LogReadContext,
  stretches: readonly TimeRange[],
  signal: AbortSignal,
): Promise<boolean> {
  const bodies = stretches.map(({ from, to }) => ({ limit: PAGE, start_time: textOf(from), end_time: textOf(to) }));
  const { isRead, isWhole } = await readLogPages(context, bodies, MOST_PAGES, signal);
  return isRead && isWhole;
}

/** The request for all rows of the log from an instant of the service's clock on; for all there are without one. */
export const logSince = (from: Date | undefined): RequestBody => ({
  limit: PAGE,
  ...(from !== undefined && { start_time: textOf(from) }),
});

/** Reads what these requests and at most so many pages of each bring. Throws only what is no trouble of the log. */
export async function readLogPages(
  it: LogReadContext,
  bodies: readonly RequestBody[],
  deepest: number,
  signal: AbortSignal,
): Promise<LogRead> {
  return it.inTurn(() => readNow(it, bodies, deepest, signal));
}

async function readNow(
  it: LogReadContext,
  bodies: readonly RequestBody[],
  maxPages: number,
  signal: AbortSignal,
): Promise<LogRead> {
  const ops = operationsOf(it.warehouse);
  const definition = readingDefinition(it, bodies);
  const run = await retryTransient(() => begin(it, definition, bodies), it);
  const patience = new AbortController();
  const either = AbortSignal.any([signal, patience.signal]);
  const { warehouse, lease, client, limiter, budget, now, random, newId, onLoaded } = it;
  const stop = await executeRun(
    {
      warehouse,
      lease,
      limiter,
      budget,
      now,
      random,
      newId,
      onLoaded,
      definition,
      run,
      maxAgeOf: () => undefined,
      // What the log says can wait for the next run, so a signal need not wait for it.
      client: { ...client, send: (call) => client.send({ ...call, timeoutSeconds: TIMEOUT_SECONDS }, signal) },
      sleep: async (ms, given) => {
        if (ms > LONGEST_WAIT_MS) patience.abort(new Error('the log is not to be had now'));
        await it.sleep(ms, given);
      },
      prices: await it.pricesOf(definition),
      retries: 0,
      inFlight: 1,
      maxPages,
      onPlanned: () => undefined,
      onSent: () => () => undefined,
      onEnded: () => undefined,
      onLostAnswer: () => undefined,
    },
    either,
  );
  const totals = await retryTransient(() => runTotals(ops, run.id), it);
  const rest = totals.left + totals.inDoubt + totals.failed + totals.quarantined;
  const because = stop?.because ?? (rest > 0 ? await retryTransient(() => failureOf(ops, run.id), it) : null);
  const end = {
    // Never taken up again: by then it would be asked for other times.
    state: because === null ? ('complete' as const) : ('failed' as const),
    exitCode: because === null ? EXIT.complete : EXIT.transient,
    error: because,
    at: it.now(),
  };
  await retryTransient(() => endRun(ops, run.id, end, totals), it);
  return {
    runId: run.id,
    isRead: because === null,
    isUsable: because === null || totals.loaded + totals.unchanged > 0,
    isWhole: totals.truncated === 0,
    isRefused: stop !== undefined && stop.exit !== EXIT.transient,
    because,
  };
}

/** Why a reading got no answer that could be read. */
async function failureOf(ops: Ops, runId: string): Promise<string> {
  const row = await ops
    .selectFrom('requests')
    .select('error')
    .where('run_id', '=', runId)
    .where('error', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return `the request log gave no readable answer${row?.error == null ? '' : `: ${row.error}`}`;
}

/** Gives up what readings of a sync that died left open, and lists what they may have paid for. */
export async function abandonLogReads(
  warehouse: Warehouse,
  { name }: Pick<SyncDefinition, 'name'>,
  more: AbandonOptions,
): Promise<void> {
  for (const reading of await openRunsOf(operationsOf(warehouse), logReadName(name)))
    await giveUpReading(warehouse, reading, more);
}

interface AbandonOptions {
  readonly holder: string;
  readonly newId: () => string;
  readonly now: Date;
}

async function giveUpReading(
  warehouse: Warehouse,
  sync: string,
  { holder, newId, now }: AbandonOptions,
): Promise<void> {
  const it = { sync, endpoint: tokenRequests.name, holder, now };
  await warehouse.db.transaction().execute(async (db) => {
    // No reading is continued: by then another time would be asked for.
    await continueRun(operationsOf({ db, ops: warehouse.ops }), { ...it, definitionHash: newId() });
  });
}

/** A sync that no config can name, so that nothing of a sync's own is touched by it. */
function readingDefinition({ definition, run }: LogReadContext, bodies: readonly RequestBody[]): SyncDefinition {
  return {
    name: logReadName(definition.name, run.chunk),
    endpoint: tokenRequests,
    request: {},
    forEach: undefined,
    window: undefined,
    splitBy: {},
    raiseCountTo: undefined,
    after: [],
    maxAgeMs: undefined,
    lookbackMs: 0,
    from: undefined,
    schedule: undefined,
    // Asked again without being looked for: one doubt leads to no other.
    inDoubt: 'reconcile',
    acceptRejects: 0,
    budgetPerRun: undefined,
    hash: digestOf(canonicalJson(bodies)),
    windowHash: '',
  };
}

/** Gives up what a reading before left open, and plans this one. */
async function begin(it: LogReadContext, definition: SyncDefinition, bodies: readonly RequestBody[]): Promise<Run> {
  const { warehouse, lease } = it;
  const now = it.now();
  await giveUpReading(warehouse, definition.name, { holder: lease.holder, newId: it.newId, now });
  const tasks = bodies.map((body) => taskOf(definition, body, {}, 0));
  return warehouse.db.transaction().execute(async (tx) => {
    const ops = operationsOf({ db: tx, ops: warehouse.ops });
    const run = await createRun(ops, {
      sync: definition.name,
      endpoint: definition.endpoint.name,
      definitionHash: definition.hash,
      holder: lease.holder,
      now,
    });
    await planRequests(ops, run, tasks, { at: now });
    return run;
  });
}

const textOf = (at: Date): string => instantText(BigInt(at.getTime()) * 1000n);
