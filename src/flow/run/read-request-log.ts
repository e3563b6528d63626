/**
 * Reads a range of the request log for a run that lost answers. The read is a run of its own that uses the ledger, the
 * answer store and the loader like any other. It affects no other sync's watermarks and no exit code.
 */
import type { SyncDefinition } from '../../config/definition.ts';
import { EXIT } from '../../errors.ts';
import { assertLease, type Lease } from '../../ledger/lease.ts';
import { planRequests } from '../../ledger/requests/planned.ts';
import { readRunCounters } from '../../ledger/run-counters.ts';
import { continueRun, createRun, endRun, openRunsOf, type Run } from '../../ledger/runs.ts';
import { deletableLogReads, logReadName, recordDeletion, waitForDeletions } from '../../ledger/log-reads.ts';
import { deleteRunRows } from '../../load/delete-run-rows.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { PriceBook } from '../../plan/pricing/price-book.ts';
import { taskOf } from '../../plan/plan.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { tokenRequests } from '../../service/endpoints/token-requests.ts';
import { tokenRequest } from '../../service/resources/token-request.ts';
import { canonicalJson, digestOf } from '../../service/canonical-json.ts';
import { instantText } from '../../service/instant.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Effects } from '../effects.ts';
import { executeRun } from './execute.ts';
import type { RunContext } from './run-context.ts';
import type { RunStop } from './stop-controller.ts';
import { inLongTransaction } from '../../warehouse/connect/long-work.ts';
import { retryTransaction, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** A time range by the service's clock. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** What a log read needs from the run that starts it. */
export interface LogReadContext
  extends Effects,
    Pick<RunContext, 'warehouse' | 'definition' | 'run' | 'lease' | 'client' | 'limiter' | 'budget' | 'onLoaded'> {
  /** Returns the prices of a sync's calls. */
  readonly pricesOf: (definition: SyncDefinition) => Promise<PriceBook>;
  /** Runs one log read at a time. Reads share a run name, and a new read abandons the one before. */
  readonly oneAtATime: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The result of a log read. */
export interface LogRead {
  readonly runId: string;
  /** Every answer was readable. */
  readonly isRead: boolean;
  /** At least a part of the log was read. */
  readonly isUsable: boolean;
  /** No rows were left out. */
  readonly isWhole: boolean;
  /** The service refused the read, so it would refuse another one soon after. */
  readonly isRefused: boolean;
  /** What stopped the read, if the service refused the token. */
  readonly refusedToken: RunStop | undefined;
  /** Why the log could not be read. */
  readonly because: string | null;
}

const PAGE = 100;
/** Most pages of one range; the rows beyond are worth less than the time to read them. */
export const MOST_PAGES = 50;

/** Rows of a range beside those of the calls that the read is for, such as rows of other programs. */
export const ROWS_BEYOND_CALLS = MOST_PAGES * PAGE;

/** The most pages of a range that has the rows of this many calls, and others. */
export const pagesWith = (calls: number): number => MOST_PAGES + Math.ceil(calls / PAGE);
/**
 * A log read has no timeout of its own, and it delays a run that already lost an answer. The client adds its margin.
 */
const TIMEOUT_SECONDS = 10;
/** If the service demands a longer wait, the read is given up. */
const LONGEST_WAIT_MS = 20_000;

/** Reads these ranges of the log into the warehouse; true if they are complete. Failures of the log are not thrown. */
export async function readLog(
  context: LogReadContext,
  stretches: readonly TimeRange[],
  signal: AbortSignal,
): Promise<boolean> {
  const bodies = stretches.map(({ from, to }) => ({ limit: PAGE, start_time: textOf(from), end_time: textOf(to) }));
  const { isRead, isWhole } = await readLogPages(context, bodies, MOST_PAGES, signal);
  return isRead && isWhole;
}

/** The request for all rows of the log since an instant of the service's clock; without an instant, for all rows. */
export const logSince = (from: Date | undefined): RequestBody => ({
  limit: PAGE,
  ...(from !== undefined && { start_time: textOf(from) }),
});

/** Reads the pages of these requests, at most `deepest` of each. Failures of the log are not thrown. */
export async function readLogPages(
  context: LogReadContext,
  bodies: readonly RequestBody[],
  deepest: number,
  signal: AbortSignal,
): Promise<LogRead> {
  return context.oneAtATime(() => readNow(context, bodies, deepest, signal));
}

/** The prices of the pages that these reads request. */
export const readingPrices = (context: Pick<LogReadContext, 'definition' | 'run' | 'pricesOf'>): Promise<PriceBook> =>
  context.pricesOf(logReadDefinition(context, []));

async function readNow(
  context: LogReadContext,
  bodies: readonly RequestBody[],
  maxPages: number,
  signal: AbortSignal,
): Promise<LogRead> {
  const ops = operationsOf(context.warehouse);
  const definition = logReadDefinition(context, bodies);
  const run = await retryTransient(() => begin(context, definition, bodies), context);
  const timeout = new AbortController();
  const either = AbortSignal.any([signal, timeout.signal]);
  const { client } = context;
  const prices = await context.pricesOf(definition);
  const stop = await executeRun(
    {
      ...context,
      definition,
      run,
      maxAgeOf: () => undefined,
      // The next run can read the log, so a signal interrupts the call.
      client: { ...client, send: (call) => client.send({ ...call, timeoutSeconds: TIMEOUT_SECONDS }, signal) },
      sleep: async (ms, given) => {
        if (ms > LONGEST_WAIT_MS) timeout.abort(new Error('the log is not available now'));
        await context.sleep(ms, given);
      },
      prices: () => prices,
      retries: 0,
      inFlight: 1,
      maxPages,
      onPlanned: () => undefined,
      onSent: () => () => undefined,
      onWait: () => () => undefined,
      onEnded: () => undefined,
      onLostAnswer: () => undefined,
    },
    either,
  );
  const totals = await retryTransient(() => readRunCounters(ops, run.id), context);
  const rest = totals.left + totals.inDoubt + totals.failed + totals.quarantined;
  const because = stop?.because ?? (rest > 0 ? await retryTransient(() => failureOf(ops, run.id), context) : null);
  const end = {
    // Never continued, since a later read needs another range.
    state: because === null ? ('complete' as const) : ('failed' as const),
    exitCode: because === null ? EXIT.complete : EXIT.transient,
    error: because,
    at: context.now(),
  };
  const conclude = async (tx: Ops): Promise<void> => {
    // The next holder of a lost lease abandoned the rest of it.
    await assertLease(tx, context.lease);
    await endRun(tx, run.id, end, totals);
  };
  await retryTransaction(ops, conclude, context);
  return {
    runId: run.id,
    isRead: because === null,
    isUsable: because === null || totals.loaded + totals.unchanged > 0,
    isWhole: totals.truncated === 0,
    isRefused: stop !== undefined && stop.reason !== 'unavailable',
    refusedToken: stop?.reason === 'access-refused' ? stop : undefined,
    because,
  };
}

/** Returns why a read got no readable answer. */
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

/** Abandons open log reads of a sync whose process died, and lists their possible charges. */
export async function abandonLogReads(
  warehouse: Warehouse,
  { name }: Pick<SyncDefinition, 'name'>,
  abandoning: AbandonOptions,
): Promise<void> {
  for (const reading of await openRunsOf(operationsOf(warehouse), logReadName(name)))
    await abandonLogRead(warehouse, reading, abandoning);
}

interface AbandonOptions {
  readonly lease: Lease;
  readonly newId: Effects['newId'];
  readonly now: Date;
}

async function abandonLogRead(
  warehouse: Warehouse,
  sync: string,
  { lease, newId, now }: AbandonOptions,
): Promise<void> {
  // No read is continued: a later one needs another range.
  const run = { sync, endpoint: tokenRequests.name, holder: lease.holder, now, definitionHash: newId() };
  await operationsOf(warehouse)
    .transaction()
    .execute(async (tx) => {
      await assertLease(tx, lease);
      await continueRun(tx, run);
    });
}

/**
 * Deletes the rows of the log that only such reads brought, while no sync reads the log itself. Call it in a transaction.
 * Rows of reads of other running syncs stay.
 */
export async function deleteReadRows(
  { warehouse, definition, run, now }: Pick<LogReadContext, 'warehouse' | 'definition' | 'run' | 'now'>,
  db: Warehouse['db'],
): Promise<void> {
  const { schema, ops } = warehouse;
  await recordDeletion({ db, ops }, now());
  const runs = deletableLogReads(operationsOf({ db, ops }), logReadName(definition.name, run.chunk));
  await deleteRunRows(db, { schema, table: tokenRequest.table, runs });
}

/** A definition with a name that no config can contain, so it touches nothing of a real sync. */
function logReadDefinition(
  { definition, run }: Pick<LogReadContext, 'definition' | 'run'>,
  bodies: readonly RequestBody[],
): SyncDefinition {
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
    // A lost answer of a log read is requested again without a lookup, which would only lead to more log reads.
    inDoubt: 'reconcile',
    acceptRejects: 0,
    budgetPerRun: undefined,
    tags: definition.tags,
    hash: digestOf(canonicalJson(bodies)),
    windowHash: '',
  };
}

/** Abandons open earlier reads, and plans this one. */
async function begin(
  context: LogReadContext,
  definition: SyncDefinition,
  bodies: readonly RequestBody[],
): Promise<Run> {
  const { warehouse, lease } = context;
  const now = context.now();
  await abandonLogRead(warehouse, definition.name, { lease, newId: context.newId, now });
  const tasks = bodies.map((body) => taskOf(definition, body, {}, 0));
  return inLongTransaction(warehouse, async (tx) => {
    const database = { db: tx, ops: warehouse.ops };
    await waitForDeletions(database);
    const ops = operationsOf(database);
    await assertLease(ops, lease);
    const run = await createRun(ops, {
      sync: definition.name,
      endpoint: definition.endpoint.name,
      definitionHash: definition.hash,
      holder: lease.holder,
      tags: definition.tags,
      now,
    });
    await planRequests(ops, run, tasks, { at: now });
    return run;
  });
}

const textOf = (at: Date): string => instantText(BigInt(at.getTime()) * 1000n);
