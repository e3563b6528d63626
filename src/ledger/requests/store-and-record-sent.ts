/**
 * Stores answers and records requests as sent. Every paid answer is stored exactly before any other work on it, and every
 * request is recorded as sent before it leaves. Each operation is one statement for many rows; both also exist as one
 * statement, so that the call after an answer waits for only one commit.
 */
import { type CompiledQuery, type QueryCreator, type RawBuilder, sql } from 'kysely';
import { PLANNED_ONCE, precompiled, type Parameters } from '../../warehouse/sql/compile-once.ts';
import { memoizeByObject } from '../../async/memoize.ts';
import { arraysOf, type Columns, namesOf, rowsOfArrays, valuesFor } from '../../warehouse/sql/rows-from.ts';
import { boughtElsewhere, type SendingWithin } from '../fresh-answers.ts';
import { isLeaseHeld, type Lease } from '../lease.ts';
import { UNSETTLED_STATES } from './states.ts';
import { type CompressedBody, compressBody, sha256Of } from '../compression.ts';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';
import { hideFromStatistics } from '../planner-hints.ts';

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
  /** Identifier of the attempt. A failover can give the id to another request. Absent if the caller checked the request. */
  readonly xRequestId?: string;
  readonly answer: StoredBytes;
}

/** A request that is about to be sent. */
export interface RequestToSend {
  readonly id: string;
  /** The identifier sent with each of its attempts. */
  readonly xRequestId: string;
  readonly at: Date;
  /** The most that the attempt can cost. */
  readonly points: number;
  /** A readable answer to this request received within this range, whatever its sync, serves it instead; absent, none does. */
  readonly fresh?: SendingWithin | undefined;
}

/**
 * Commits the exact bytes of answers and records their requests as stored. Returns the answers' ids in the same order,
 * increasing; undefined for a request that the ledger does not have. Answers were paid for, so they are stored whatever
 * the state of their requests.
 */
export async function storeAnswers(ops: Ops, storing: readonly AnswerToStore[]): Promise<(string | undefined)[]> {
  const { rows } = await execute(ops, storingIn(ops)(await answerValues(storing)), storing.length);
  return idsOf(storing, rows);
}

/**
 * Commits that these requests are about to be sent; none may be sent before. Returns the ids that may be sent: none if
 * the lease was lost, and not those that another process settled, or that another run bought or is buying.
 */
export async function recordSent(
  ops: Ops,
  lease: Lease,
  sending: readonly RequestToSend[],
): Promise<ReadonlySet<string>> {
  const { rows } = await execute(ops, recordingBy(lease)(ops)(sendingValues(sending)));
  return new Set(rows.map(({ id }) => id));
}

/** Stores answers and records other requests as sent, in one commit. */
export async function storeAndRecordSent(
  ops: Ops,
  lease: Lease,
  storing: readonly AnswerToStore[],
  sending: readonly RequestToSend[],
): Promise<{ readonly answerIds: readonly (string | undefined)[]; readonly sentIds: ReadonlySet<string> }> {
  const values = { ...(await answerValues(storing)), ...sendingValues(sending) };
  const { rows } = await execute(ops, bothBy(lease)(ops)(values), storing.length);
  const recorded = rows.flatMap(({ id, answer_id: answerId }) => (answerId === null ? [id] : []));
  return { answerIds: idsOf(storing, rows), sentIds: new Set(recorded) };
}

interface StoredRow {
  readonly id: string;
  readonly answer_id: string | null;
}

/**
 * The statements are planned once for each connection after this many answers were stored. A plan made while the ledger
 * is small would read it completely, also when it has grown: the planner prefers that below some 50 answers.
 */
const PLANNED_FROM = 200;

const storedAnswers = new WeakMap<Ops, number>();

async function execute<Row>(ops: Ops, query: CompiledQuery<Row>, storing = 0) {
  const stored = storedAnswers.get(ops) ?? 0;
  storedAnswers.set(ops, stored + storing);
  return ops.executeQuery(stored < PLANNED_FROM ? query : { ...query, sql: query.sql + PLANNED_ONCE });
}

function idsOf(storing: readonly AnswerToStore[], rows: readonly StoredRow[]): (string | undefined)[] {
  const ids = new Map(rows.map(({ id, answer_id: answerId }) => [id, answerId]));
  return storing.map(({ requestId }) => ids.get(requestId) ?? undefined);
}

interface PackedAnswer extends AnswerToStore {
  readonly packed: CompressedBody;
  /** Where its packed body starts among those of all answers, from 1. */
  readonly start: number;
}

const ANSWER_COLUMNS = {
  request_id: ['bigint', ({ requestId }) => requestId],
  attempt_id: ['uuid', ({ xRequestId }) => xRequestId ?? null],
  received_at: ['timestamptz', ({ answer }) => answer.receivedAt],
  took_ms: ['bigint', ({ answer }) => Math.round(answer.tookMs)],
  status: ['bigint', ({ answer }) => answer.status],
  headers: ['jsonb', ({ answer }) => answer.headers],
  start: ['int', ({ start }) => start],
  size: ['int', ({ packed }) => packed.bytes.byteLength],
  encoding: ['text', ({ packed }) => packed.encoding],
  sha256: ['text', ({ answer }) => sha256Of(answer.body)],
  bytes: ['bigint', ({ answer }) => answer.body.byteLength],
  position: ['int', (_, index) => index],
} as const satisfies Columns<PackedAnswer>;

const ANSWERS = ['bodies', 'answers', ...namesOf(ANSWER_COLUMNS)] as const;
type AnswerParameters = Parameters<(typeof ANSWERS)[number]>;

async function answerValues(storing: readonly AnswerToStore[]) {
  let end = 1;
  const bodies = await Promise.all(storing.map(({ answer }) => compressBody(answer.body)));
  const packed = storing.map((stored, index): PackedAnswer => {
    const body = bodies[index] as CompressedBody;
    const start = end;
    end += body.bytes.byteLength;
    return { ...stored, packed: body, start };
  });
  return {
    answers: packed.length,
    // All bodies are sent as one value and split by the server, since an array would be sent as text at twice the size.
    bodies: bodies.length === 1 ? bodies[0]?.bytes : Buffer.concat(bodies.map(({ bytes }) => bytes)),
    ...arraysOf(packed, ANSWER_COLUMNS),
  };
}

const SENDING_COLUMNS = {
  id: ['bigint', ({ id }) => id],
  x_request_id: ['uuid', ({ xRequestId }) => xRequestId],
  sent_at: ['timestamptz', ({ at }) => at],
  points: ['numeric', ({ points }) => points],
  request_key: ['text', ({ fresh }) => fresh?.requestKey ?? null],
  sync: ['text', ({ fresh }) => fresh?.sync ?? null],
  since: ['timestamptz', ({ fresh }) => fresh?.since ?? null],
  until: ['timestamptz', ({ fresh }) => fresh?.until ?? null],
  sent_since: ['timestamptz', ({ fresh }) => fresh?.sentSince ?? null],
} as const satisfies Columns<RequestToSend>;

const SENDINGS = ['sendings', ...namesOf(SENDING_COLUMNS)] as const;
type SendingParameters = Parameters<(typeof SENDINGS)[number]>;

const sendingValues = (sending: readonly RequestToSend[]) => ({
  sendings: sending.length,
  ...arraysOf(sending, SENDING_COLUMNS),
});

/**
 * The rows with a limit of as many as there are. The planner expects few rows of an unknown limit, and keeps a plan only
 * if it expects that a plan for the given arrays would not be cheaper.
 */
const limited = <Row>(rows: RawBuilder<Row>, count: RawBuilder<unknown>) =>
  sql<Row>`(select * from ${rows} as given limit ${count}::bigint)`;

const storingIn = memoizeByObject((ops: Ops) => precompiled(ANSWERS, (given) => settingStored(answered(ops, given))));

const recordingBy = memoizeByObject((lease: Lease) =>
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

/** The columns of a new answer, from its request and from what was received. */
const STORED_COLUMNS = {
  request_id: 'requests.id',
  run_id: 'requests.run_id',
  sync: 'requests.sync',
  endpoint: 'requests.endpoint',
  request_key: 'requests.request_key',
  asked: sql`(requests.body ->> 'count')::bigint`,
  received_at: 'received.received_at',
  took_ms: 'received.took_ms',
  status: 'received.status',
  headers: 'received.headers',
  body: 'received.body',
  encoding: 'received.encoding',
  sha256: 'received.sha256',
  bytes: 'received.bytes',
};

/** The statement's new answers, as `answer`. */
function answered(ops: Ops, given: AnswerParameters) {
  return ops
    .with('received', (db) =>
      db
        .selectFrom(limited(rowsOfArrays(ANSWER_COLUMNS, given), given.answers).as('s'))
        .selectAll()
        .select(sql<Buffer>`substring(${given.bodies}::bytea from start for size)`.as('body')),
    )
    .with('answer', (db) =>
      db
        .insertInto('answers')
        .columns(namesOf(STORED_COLUMNS))
        .expression((eb) =>
          eb
            .selectFrom('received')
            .innerJoin('requests', 'requests.id', 'received.request_id')
            .where(sql<boolean>`coalesce(received.attempt_id = requests.x_request_id, received.attempt_id is null)`)
            .select(valuesFor(STORED_COLUMNS))
            .orderBy('received.position'),
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

/**
 * The requests to send, with what another sync bought or is buying. These lookups come before requests are joined. As
 * conditions of the join, they would seem so expensive for each pair that the planner would read all requests instead.
 */
const checkedSendings = (ops: Ops, given: SendingParameters) =>
  ops
    .selectFrom(limited(rowsOfArrays(SENDING_COLUMNS, given), given.sendings).as('t'))
    .selectAll('t')
    .select(boughtElsewhere)
    .offset(0);

/** The failed attempts of a request that is about to be sent again: the last one keeps what the log charged so far, and its rows. */
const withChargeSoFar = (ops: Ops) => {
  const chargedSoFar = ops
    .selectFrom('request_cost_matches as m')
    .select(
      sql`jsonb_build_object('points', requests.charged, 'log_ids', coalesce(jsonb_agg(m.log_id), '[]'))`.as('it'),
    )
    .where('m.request_id', '=', sql<string>`requests.id`)
    .where('m.match_kind', '<>', 'ambiguous');
  return sql<string>`case when requests.charged is null then requests.failed_attempts
    else jsonb_set(requests.failed_attempts, '{-1,charged_so_far}', ${chargedSoFar}) end`;
};

function settingSent(ops: Ops, lease: Lease, given: SendingParameters) {
  return ops
    .updateTable('requests')
    .from(checkedSendings(ops, given).as('t'))
    .set((eb) => ({
      state: 'sent',
      attempts: sql`attempts + 1`,
      sent_at: eb.ref('t.sent_at'),
      x_request_id: sql`coalesce(requests.x_request_id, t.x_request_id)`,
      // What the log charged covers only the attempts before this one.
      points: sql`coalesce(requests.charged, requests.points, 0) + t.points`,
      charged: null,
      failed_attempts: withChargeSoFar(ops),
    }))
    .whereRef('requests.id', '=', 't.id')
    .where((eb) => hideFromStatistics(eb('requests.state', 'in', [...UNSETTLED_STATES])))
    .where('t.is_bought', '=', false)
    .where((eb) => eb.or([eb('t.is_in_flight', '=', false), eb('requests.attempts', '>', '0')]))
    .where(isLeaseHeld(lease))
    .returning('requests.id');
}
