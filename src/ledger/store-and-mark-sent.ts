/**
 * Stores answers and marks requests as sent. Every paid answer is stored exactly before any other work on it, and every
 * request is recorded as sent before it leaves. Each operation is one statement for many rows; both also exist as one
 * statement, so that the call after an answer waits for only one commit.
 */
import { type QueryCreator, sql } from 'kysely';
import { arrayLiteral } from '../warehouse/sql/array-literal.ts';
import { precompiled, type Parameters } from '../warehouse/sql/compile-once.ts';
import { memoizeByObject } from '../async/memoize.ts';
import { isLeaseHeld, type Lease } from './lease.ts';
import { UNSETTLED_STATES } from './requests.ts';
import { compressBody, sha256Of } from './compression.ts';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';
import { hideFromStatistics } from './planner-hints.ts';

/** An answer from the client. */
export interface StoredBytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly receivedAt: Date;
  readonly tookMs: number;
}

/** An answer with its request. */
export interface AnswerToStore {
  readonly requestId: string;
  readonly answer: StoredBytes;
}

/** A request that is about to be sent. */
export interface RequestToSend {
  readonly id: string;
  /** The identifier sent with each of its attempts. */
  readonly requestId: string;
  readonly at: Date;
  /** The most that the attempt can cost. */
  readonly points: number;
}

/**
 * Commits the exact bytes of answers and marks their requests as stored. Returns the answers' ids in the same order,
 * increasing; undefined for a request that the ledger does not have. Answers were paid for, so they are stored whatever
 * the state of their requests.
 */
export async function storeAnswers(ops: Ops, storing: readonly AnswerToStore[]): Promise<(string | undefined)[]> {
  const { rows } = await ops.executeQuery(storingIn(ops)(await answerValues(storing)));
  return idsOf(storing, rows);
}

/**
 * Commits that these requests are about to be sent; none may be sent before. Returns the ids that may be sent: none if
 * the lease was lost, and not those that another process settled.
 */
export async function markSent(
  ops: Ops,
  lease: Lease,
  sending: readonly RequestToSend[],
): Promise<ReadonlySet<string>> {
  const { rows } = await ops.executeQuery(markingBy(lease)(ops)(sendingValues(sending)));
  return new Set(rows.map(({ id }) => id));
}

/** Stores answers and marks other requests as sent, in one commit. */
export async function storeAndMarkSent(
  ops: Ops,
  lease: Lease,
  storing: readonly AnswerToStore[],
  sending: readonly RequestToSend[],
): Promise<{ readonly answerIds: readonly (string | undefined)[]; readonly sentIds: ReadonlySet<string> }> {
  const values = { ...(await answerValues(storing)), ...sendingValues(sending) };
  const { rows } = await ops.executeQuery(bothBy(lease)(ops)(values));
  const marked = rows.flatMap(({ id, answer_id: answerId }) => (answerId === null ? [id] : []));
  return { answerIds: idsOf(storing, rows), sentIds: new Set(marked) };
}

interface StoredRow {
  readonly id: string;
  readonly answer_id: string | null;
}

function idsOf(storing: readonly AnswerToStore[], rows: readonly StoredRow[]): (string | undefined)[] {
  const ids = new Map(rows.map(({ id, answer_id: answerId }) => [id, answerId]));
  return storing.map(({ requestId }) => ids.get(requestId) ?? undefined);
}

const ANSWERS = [
  'bodies',
  'requestIds',
  'times',
  'took',
  'statuses',
  'headers',
  'starts',
  'sizes',
  'encodings',
  'digests',
  'lengths',
] as const;
type AnswerParameters = Parameters<(typeof ANSWERS)[number]>;

async function answerValues(storing: readonly AnswerToStore[]) {
  const packed = await Promise.all(storing.map(({ answer }) => compressBody(answer.body)));
  const answers = storing.map(({ answer }) => answer);
  let end = 1;
  const starts = packed.map(({ bytes }) => (end += bytes.byteLength) - bytes.byteLength);
  // All bodies are sent as one value and split by the server, since an array would be sent as text at twice the size.
  const bodies = packed.length === 1 ? packed[0]?.bytes : Buffer.concat(packed.map(({ bytes }) => bytes));
  return {
    bodies,
    requestIds: arrayLiteral(storing.map(({ requestId }) => requestId)),
    times: arrayLiteral(answers.map(({ receivedAt }) => receivedAt.toISOString())),
    took: arrayLiteral(answers.map(({ tookMs }) => Math.round(tookMs))),
    statuses: arrayLiteral(answers.map(({ status }) => status)),
    headers: arrayLiteral(answers.map(({ headers }) => JSON.stringify(headers))),
    starts: arrayLiteral(starts),
    sizes: arrayLiteral(packed.map(({ bytes }) => bytes.byteLength)),
    encodings: arrayLiteral(packed.map(({ encoding }) => encoding)),
    digests: arrayLiteral(answers.map(({ body }) => sha256Of(body))),
    lengths: arrayLiteral(answers.map(({ body }) => body.byteLength)),
  };
}

const SENDINGS = ['sentIds', 'sentRequestIds', 'sentTimes', 'sentPoints'] as const;
type SendingParameters = Parameters<(typeof SENDINGS)[number]>;

const sendingValues = (sending: readonly RequestToSend[]) => ({
  sentIds: arrayLiteral(sending.map(({ id }) => id)),
  sentRequestIds: arrayLiteral(sending.map(({ requestId }) => requestId)),
  sentTimes: arrayLiteral(sending.map(({ at }) => at.toISOString())),
  sentPoints: arrayLiteral(sending.map(({ points }) => points)),
});

const storingIn = memoizeByObject((ops: Ops) => precompiled(ANSWERS, (given) => settingStored(answered(ops, given))));

const markingBy = memoizeByObject((lease: Lease) =>
  memoizeByObject((ops: Ops) => precompiled(SENDINGS, (given) => settingSent(ops, lease, given))),
);

const bothBy = memoizeByObject((lease: Lease) =>
  memoizeByObject((ops: Ops) =>
    precompiled([...ANSWERS, ...SENDINGS], (given) =>
      answered(ops, given)
        .with('stored', settingStored)
        .with('marked', () => settingSent(ops, lease, given))
        .selectFrom('stored')
        .select(['stored.id', 'stored.answer_id'])
        .unionAll((eb) =>
          eb.selectFrom('marked').select(['marked.id', sql<string | null>`null::bigint`.as('answer_id')]),
        ),
    ),
  ),
);

/** The statement's new answers, as `answer`. */
function answered(ops: Ops, given: AnswerParameters) {
  const source = sql<{
    place: string;
    request_id: string;
    received_at: Date;
    took_ms: string;
    status: string;
    headers: object;
    body: Buffer;
    encoding: string;
    sha256: string;
    bytes: string;
  }>`(select place, request_id, received_at, took_ms, status, headers::jsonb as headers,
  substring(${given.bodies}::bytea from start for size) as body, encoding, sha256, bytes
    from unnest(
  ${given.requestIds}::bigint[],
  ${given.times}::timestamptz[],
  ${given.took}::bigint[],
  ${given.statuses}::bigint[],
  ${given.headers}::text[],
  ${given.starts}::int[],
  ${given.sizes}::int[],
  ${given.encodings}::text[],
  ${given.digests}::text[],
  ${given.lengths}::bigint[])
  with ordinality as u(request_id, received_at, took_ms, status, headers, start, size, encoding, sha256, bytes, place))`;
  return ops
    .with('told', (db) => db.selectFrom(source.as('s')).selectAll())
    .with('answer', (db) =>
      db
        .insertInto('answers')
        .columns([
          'request_id',
          'run_id',
          'sync',
          'endpoint',
          'request_key',
          'asked',
          'received_at',
          'took_ms',
          'status',
          'headers',
          'body',
          'encoding',
          'sha256',
          'bytes',
        ])
        .expression((eb) =>
          eb
            .selectFrom('told')
            .innerJoin('requests', 'requests.id', 'told.request_id')
            .select([
              'requests.id',
              'requests.run_id',
              'requests.sync',
              'requests.endpoint',
              'requests.request_key',
              sql<string | null>`(requests.body ->> 'count')::bigint`.as('asked'),
              'told.received_at',
              'told.took_ms',
              'told.status',
              'told.headers',
              'told.body',
              'told.encoding',
              'told.sha256',
              'told.bytes',
            ])
            .orderBy('told.place'),
        )
        .returning(['id', 'request_id', 'status']),
    );
}

const settingStored = (
  db: QueryCreator<
    OpsDatabase & { readonly answer: { readonly id: string; readonly request_id: string; readonly status: string } }
  >,
) =>
  db
    .updateTable('requests')
    .from('answer')
    .set((eb) => ({ state: 'stored', answer_id: eb.ref('answer.id'), status: eb.ref('answer.status') }))
    .whereRef('requests.id', '=', 'answer.request_id')
    .returning(['requests.id', 'requests.answer_id']);

function settingSent(ops: Ops, lease: Lease, given: SendingParameters) {
  const source = sql<{ id: string; request_id: string; at: Date; points: string }>`(select * from unnest(
    ${given.sentIds}::bigint[], ${given.sentRequestIds}::uuid[], ${given.sentTimes}::timestamptz[], ${given.sentPoints}::numeric[])
    as u(id, request_id, at, points))`;
  return ops
    .updateTable('requests')
    .from(source.as('t'))
    .set((eb) => ({
      state: 'sent',
      attempts: sql`attempts + 1`,
      sent_at: eb.ref('t.at'),
      x_request_id: sql`coalesce(x_request_id, t.request_id)`,
      points: sql`coalesce(requests.points, 0) + t.points`,
    }))
    .whereRef('requests.id', '=', 't.id')
    .where((eb) => hideFromStatistics(eb('requests.state', 'in', [...UNSETTLED_STATES])))
    .where(isLeaseHeld(lease))
    .returning('requests.id');
}
