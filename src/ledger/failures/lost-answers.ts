/** Attempts with lost answers: listed when the loss is noticed, resolved when the request log shows their outcome. */
import { sql } from 'kysely';
import { anyBigint } from '../../warehouse/sql/array-literal.ts';
import { namesOf, valuesFor } from '../../warehouse/sql/rows-from.ts';
import { isLeaseHeld, type Lease } from '../lease.ts';
import { isInScope, type RunScope } from '../run-scope.ts';
import { LOG_ENDPOINT } from '../../service/request-log/request-log.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { LostAnswerSummary } from '../summary.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';

/** What the log shows about a lost attempt. */
export type LossVerdict = NonNullable<LostAnswerSummary['verdict']>;

/** How the loss of an answer was noticed. */
export interface LossRecord {
  readonly at: Date;
  readonly reason: string;
  /** Number of invocations without an answer that it counts as; see `lostInvocations`. */
  readonly invocations?: number;
}

/**
 * Which last attempts were lost: that of one request whose lease is still held, or those of a run or chunk that were sent
 * or in doubt.
 */
export type LossScope = { readonly requestId: string; readonly lease: Lease } | { readonly part: RunScope };

/**
 * Lists last attempts as lost, each at most once. Lost log reads are settled as unknown immediately, since looking for
 * them would lead to more log reads.
 */
export async function recordLosses(
  ops: Ops,
  whose: LossScope,
  { at, reason, invocations = 0 }: LossRecord,
): Promise<void> {
  const noticed = at.toISOString();
  const columns = {
    request_id: 'id',
    attempt: 'attempts',
    run_id: 'run_id',
    sync: 'sync',
    endpoint: 'endpoint',
    // The send time may come from the clock of another process.
    sent_at: sql`least(sent_at, ${noticed}::timestamptz)`,
    noticed_at: sql`${noticed}::timestamptz`,
    reason: sql`${reason}::text`,
    verdict: sql`case when endpoint = ${LOG_ENDPOINT} then 'unknown' end`,
    settled_at: sql`case when endpoint = ${LOG_ENDPOINT} then ${noticed}::timestamptz end`,
    // The log is free, and a sync that stopped reading it would miss all costs.
    lost_invocations: sql`case when endpoint = ${LOG_ENDPOINT} then 0 else ${String(invocations)}::bigint end`,
  };
  await ops
    .insertInto('lost_answers')
    .columns(namesOf(columns))
    .expression((eb) => {
      const lost = eb
        .selectFrom('requests')
        .select(valuesFor(columns))
        .where('attempts', '>', '0')
        .where('sent_at', 'is not', null);
      return 'requestId' in whose
        ? lost.where('id', '=', whose.requestId).where(isLeaseHeld(whose.lease))
        : lost.where(isInScope(whose.part)).where('state', 'in', ['sent', 'in_doubt']);
    })
    .onConflict((conflict) => conflict.columns(['request_id', 'attempt']).doNothing())
    .execute();
}

/** What earlier invocations lost of a request. */
export interface LostInvocations {
  readonly requestKey: string;
  /** Invocations that ended without its answer. */
  readonly invocations: number;
  /** True if an answer exceeded the size limit. */
  readonly tooLarge: boolean;
  /** The reason of the last loss. */
  readonly reason: string;
}

/** Returns the requests of a sync whose answers were lost since the last stored one, in runs of these plans. */
export async function lostInvocations(
  ops: Ops,
  sync: string,
  definitionHashes: readonly string[],
): Promise<LostInvocations[]> {
  return ops
    .selectFrom('lost_answers as d')
    .innerJoin('requests as r', 'r.id', 'd.request_id')
    .innerJoin('runs as n', 'n.id', 'r.run_id')
    .select([
      'r.request_key as requestKey',
      sql<number>`sum(d.lost_invocations)::int`.as('invocations'),
      sql<boolean>`bool_or(d.lost_invocations > 1)`.as('tooLarge'),
      sql<string>`(array_agg(d.reason order by d.noticed_at desc, d.attempt desc))[1]`.as('reason'),
    ])
    .where('d.sync', '=', sync)
    .where('d.lost_invocations', '>', '0')
    .where('n.definition_hash', 'in', [...definitionHashes])
    .where((eb) =>
      notExists(
        eb
          .selectFrom('answers as a')
          .select('a.id')
          .whereRef('a.request_key', '=', 'r.request_key')
          .whereRef('a.received_at', '>', 'd.noticed_at'),
      ),
    )
    .groupBy('r.request_key')
    .execute();
}

/** Allows the requests of a sync with lost answers to be sent again. */
export async function forgetLosses(ops: Ops, sync: string): Promise<void> {
  await ops
    .updateTable('lost_answers')
    .set({ lost_invocations: '0' })
    .where('sync', '=', sync)
    .where('lost_invocations', '>', '0')
    .execute();
}

/** A lost attempt without a certain verdict, or one that the log did not show. */
export interface LostAnswer {
  readonly requestId: string;
  readonly attempt: number;
  readonly sentAt: Date;
  readonly noticedAt: Date;
  /** Its verdict is `not_sent`. */
  readonly isAbsent: boolean;
  /** How long the service may have worked on it. */
  readonly timeoutMs: number;
}

/** The contract's default. */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** Which lost attempts: those of these requests, or those since an instant whose requests no run will send again. */
export type LostAnswerFilter =
  | { readonly requestIds: readonly string[] }
  | { readonly over: true; readonly since: Date; readonly limit: number };

/** States of requests and runs in which the run itself resolves the loss before it sends the request again. */
const PENDING_STATES = ['planned', 'sent', 'stored', 'in_doubt'] as const;
const OPEN_RUNS = ['running', 'interrupted', 'out_of_points'] as const;

/** SQL condition that a lost attempt was not in the log when it was assessed. */
const isAbsent = sql<boolean>`coalesce(d.verdict = 'not_sent', false)`;

/**
 * Returns lost attempts without a certain verdict, newest first. Without request ids, attempts with `not_sent` follow
 * whose requests have a row now: it may have appeared late, or only the log of another token was read before.
 */
export async function readLostAnswers(ops: Ops, which: LostAnswerFilter): Promise<LostAnswer[]> {
  const lost = ops
    .selectFrom('lost_answers as d')
    .innerJoin('requests as r', 'r.id', 'd.request_id')
    .innerJoin('runs as n', 'n.id', 'r.run_id')
    .select(['d.request_id as requestId', sql<number>`d.attempt::int`.as('attempt')])
    .select([
      'd.sent_at as sentAt',
      'd.noticed_at as noticedAt',
      isAbsent.as('isAbsent'),
      sql<string | null>`r.sent_body ->> 'timeout'`.as('timeout'),
    ])
    .where('d.endpoint', '<>', LOG_ENDPOINT)
    .orderBy(isAbsent)
    .orderBy('d.noticed_at', 'desc')
    .orderBy('d.request_id')
    .orderBy('d.attempt');
  const rows = await ('requestIds' in which
    ? lost
        .where('d.request_id', '=', anyBigint(which.requestIds))
        .where((eb) => eb.or([eb('d.verdict', 'is', null), eb('d.verdict', '=', 'unknown')]))
    : lost
        .where('d.sent_at', '>=', sql<Date>`${which.since.toISOString()}::timestamptz`)
        .where((eb) => eb.not(eb.and([eb('r.state', 'in', [...PENDING_STATES]), eb('n.state', 'in', [...OPEN_RUNS])])))
        .where((eb) =>
          eb.or([
            eb('d.verdict', 'is', null),
            eb('d.verdict', '=', 'unknown'),
            eb.and([
              isAbsent,
              eb.exists(
                eb
                  .selectFrom('request_cost_matches as m')
                  .select('m.log_id')
                  .whereRef('m.request_id', '=', 'd.request_id')
                  .where('m.match_kind', '<>', 'ambiguous'),
              ),
            ]),
          ]),
        )
        .limit(which.limit)
  ).execute();
  return rows.map(({ timeout, ...row }) => ({ ...row, timeoutMs: 1000 * Number(timeout ?? DEFAULT_TIMEOUT_SECONDS) }));
}

/** The verdict on a lost attempt. */
export interface SettledLostAnswer {
  readonly requestId: string;
  readonly attempt: number;
  readonly verdict: LossVerdict;
  readonly logId: string | null;
  /** The cost in points; null if unknown. */
  readonly points: number | null;
}

/** Records verdicts. A repeated verdict keeps its time. */
export async function settleLostAnswers(ops: Ops, settled: readonly SettledLostAnswer[], at: Date): Promise<void> {
  for (const { requestId, attempt, verdict, logId, points } of settled)
    await ops
      .updateTable('lost_answers')
      .set({
        verdict,
        log_id: logId,
        points: points === null ? null : String(points),
        settled_at: sql`case when verdict = ${verdict} then settled_at else ${at.toISOString()}::timestamptz end`,
      })
      .where('request_id', '=', requestId)
      .where('attempt', '=', String(attempt))
      .execute();
}

/** Returns the lost attempts of a run and of other given requests, for its summary, in send order. */
export async function lostAnswersOf(
  ops: Ops,
  runId: string,
  requestIds: readonly string[],
): Promise<LostAnswerSummary[]> {
  const rows = await ops
    .selectFrom('lost_answers as d')
    .innerJoin('requests as r', 'r.id', 'd.request_id')
    .select(['d.request_id as requestId', sql<number>`d.attempt::int`.as('attempt'), 'r.input', 'r.body'])
    .select(['d.sent_at as sentAt', 'd.reason', 'd.verdict', sql<number | null>`d.points::float8`.as('points')])
    .where((eb) => eb.or([eb('d.run_id', '=', runId), eb('d.request_id', '=', anyBigint(requestIds))]))
    .orderBy('d.sent_at')
    .orderBy('d.request_id')
    .orderBy('d.attempt')
    .execute();
  return rows.map(({ body, ...row }) => ({
    ...row,
    input: Object.keys(row.input).length > 0 ? row.input : body,
    sentAt: row.sentAt.toISOString(),
  }));
}
