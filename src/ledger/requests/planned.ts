/** The planned requests of the ledger: each is recorded before it is sent. */
import { yieldToEventLoop } from '../../async/yield-to-event-loop.ts';
import { sql } from 'kysely';
import type { Task } from '../../plan/task.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { namesOf, rowsFrom, valuesFor } from '../../warehouse/sql/rows-from.ts';
import { isInScope, type RunScope } from '../run-scope.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { errorOf, nextStepOf, type RepeatedlyUnreadable } from '../failures/repeatedly-unreadable.ts';
import { UNREADABLE } from '../failures/unreadable-answers.ts';
import { ROWS_PER_STATEMENT } from '../fresh-answers.ts';

/** A request in the ledger, without its answer. */
export interface LedgerRequest {
  readonly id: string;
  readonly requestKey: string;
  readonly request: RequestBody;
  readonly body: RequestBody;
  readonly input: RequestBody;
  readonly attempts: number;
  /** The attempts, if the last invocation ended with a failure that may be billed; otherwise 0. */
  readonly billableFailures: number;
  /** The id that its attempts carry; null before the first. */
  readonly xRequestId: string | null;
  /** An earlier answer was unreadable, so the request is sent again unchanged. */
  readonly hasUnreadableAnswer?: boolean;
}

/** What stored answers mean for the requests of a plan, by request key. */
export interface AnswerAvailability {
  /** The answer that serves the request. */
  readonly fresh: ReadonlyMap<string, string>;
  /** Requests that are not sent because their last answers were unreadable. */
  readonly failing: ReadonlyMap<string, RepeatedlyUnreadable>;
}

/** Options for planning tasks. */
export interface PlanRequestsOptions {
  readonly at: Date;
  /** The request that led to the tasks; they belong to its chunk. */
  readonly parentId?: string;
  readonly freshAnswers?: AnswerAvailability;
  /** The chunk of each task, by index; absent for a run that is not shared. */
  readonly chunks?: readonly (number | null)[] | undefined;
}

/**
 * Adds tasks to the ledger: as planned, as fresh if a stored answer serves them, or as failed if their last answers
 * were unreadable. A task that is already in this run is ignored. Returns how many were new.
 */
export async function planRequests(
  ops: Ops,
  run: { readonly id: string; readonly sync: string; readonly endpoint: string },
  tasks: readonly Task[],
  options: PlanRequestsOptions,
): Promise<number> {
  let added = 0;
  let inserted = Promise.resolve(0);
  for (let start = 0; start < tasks.length; start += ROWS_PER_STATEMENT) {
    const end = start + ROWS_PER_STATEMENT;
    const chunks = options.chunks?.slice(start, end);
    // Prepared while the database executes the statement before.
    const insertion = insertionOf(ops, run, tasks.slice(start, end), { ...options, chunks });
    added += await inserted;
    inserted = insertion.executeTakeFirst().then((result) => Number(result.numInsertedOrUpdatedRows ?? 0n));
    // The error is thrown where the promise is awaited.
    inserted.catch(() => undefined);
    await yieldToEventLoop();
  }
  return added + (await inserted);
}

/** The statement that adds a part of the tasks. */
function insertionOf(
  ops: Ops,
  run: { readonly id: string; readonly sync: string; readonly endpoint: string },
  tasks: readonly Task[],
  { at, parentId, freshAnswers, chunks }: PlanRequestsOptions,
) {
  const failing = (key: string): RepeatedlyUnreadable | undefined => freshAnswers?.failing.get(key);
  const source = rowsFrom(tasks, {
    request_key: ['text', ({ requestKey }) => requestKey],
    body: ['jsonb', ({ request }) => request],
    sent_body: ['jsonb', ({ body }) => body],
    input: ['jsonb', ({ input }) => input],
    depth: ['bigint', ({ depth }) => depth],
    answer_id: [
      'bigint',
      ({ requestKey }) => freshAnswers?.fresh.get(requestKey) ?? failing(requestKey)?.answerId ?? null,
    ],
    error: ['text', ({ requestKey }) => errorOf(failing(requestKey))],
    chunk: ['bigint', (_, index) => chunks?.[index] ?? null],
    position: ['int', (_, index) => index],
  });
  const columns = {
    run_id: sql`${run.id}::bigint`,
    sync: sql`${run.sync}::text`,
    endpoint: sql`${run.endpoint}::text`,
    request_key: 't.request_key',
    body: 't.body',
    sent_body: 't.sent_body',
    input: 't.input',
    depth: 't.depth',
    parent_id: sql`${parentId ?? null}::bigint`,
    state: sql`case when t.answer_id is null then 'planned' when t.error is null then 'fresh' else 'failed' end`,
    answer_id: 't.answer_id',
    planned_at: sql`${at.toISOString()}::timestamptz`,
    finished_at: sql`case when t.answer_id is null then null else ${at.toISOString()}::timestamptz end`,
    failure_class: sql`case when t.error is not null then ${UNREADABLE}::text end`,
    error: 't.error',
    next: sql`case when t.error is not null then ${nextStepOf(run.sync)}::text end`,
    chunk:
      parentId === undefined
        ? 't.chunk'
        : ops.selectFrom('requests as p').select('p.chunk').where('p.id', '=', parentId),
  };
  return ops
    .insertInto('requests')
    .columns(namesOf(columns))
    .expression((eb) => eb.selectFrom(source.as('t')).select(valuesFor(columns)).orderBy('t.position'))
    .onConflict((conflict) => conflict.columns(['run_id', 'request_key']).doNothing());
}

/**
 * Returns requests of a run after the given id that were never sent, in plan order, at most `limit`. The result is
 * empty only if there are no more.
 */
export async function openRequests(
  ops: Ops,
  scope: RunScope,
  afterId: string,
  limit: number,
): Promise<LedgerRequest[]> {
  const open = planned(ops, scope).where('attempts', '=', '0');
  for (let after = afterId; ; ) {
    // Most requests of a run have consecutive ids. Without the upper bound, each page would sort all open requests.
    const upTo = String(BigInt(after) + BigInt(limit));
    const rows = await open.where('id', '>', after).where('id', '<=', upTo).execute();
    if (rows.length > 0) return ledgerRequests(rows);
    const next = await open
      .clearSelect()
      .clearOrderBy()
      .select(sql<string | null>`(min(id) - 1)::bigint`.as('before'))
      .where('id', '>', upTo)
      .executeTakeFirst();
    if (next?.before == null) return [];
    after = next.before;
  }
}

/** Returns requests of a run that were sent and are planned again, in plan order. */
export async function triedRequests(ops: Ops, scope: RunScope): Promise<LedgerRequest[]> {
  return ledgerRequests(await planned(ops, scope).where('attempts', '>', '0').execute());
}

const planned = (ops: Ops, scope: RunScope) =>
  ops
    .selectFrom('requests')
    .select(['id', 'request_key as requestKey', 'body as request', 'sent_body as body', 'input'])
    .select([sql<number>`attempts::int`.as('attempts'), 'x_request_id as xRequestId'])
    .select(
      sql<number>`case when failure_class = 'unavailable' and status not in (429, 503) then attempts::int else 0 end`.as(
        'billableFailures',
      ),
    )
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('answers as a')
            .select('a.id')
            .whereRef('a.request_key', '=', 'requests.request_key')
            .where('a.unreadable', '=', sql<boolean>`true`),
        )
        .as('hasUnreadableAnswer'),
    )
    .where(isInScope(scope))
    .where('state', '=', 'planned')
    .orderBy('id');

function ledgerRequests(rows: Awaited<ReturnType<ReturnType<typeof planned>['execute']>>): LedgerRequest[] {
  return rows.map((row) => ({
    ...row,
    body: row.body as RequestBody,
    hasUnreadableAnswer: row.hasUnreadableAnswer === true,
  }));
}
