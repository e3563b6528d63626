/** Keeps every paid answer to the byte, compressed, before anything else is tried on it. */
import { sql } from 'kysely';
import type { RequestBody } from '../service/asked.ts';
import { arrayLiteral } from '../warehouse/array.ts';
import { compiledOnce, onceEach } from '../warehouse/compiled.ts';
import { packedOf, sha256Of, unpackedBody } from './packing.ts';
import { isOf, type Part } from './part.ts';
import type { Ops } from './schema.ts';

/** An answer as the client hands it over. */
export interface StoredBytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly receivedAt: Date;
  readonly tookMs: number;
}

/** An answer with the request that it answers. */
export interface Storing {
  readonly requestId: string;
  readonly answer: StoredBytes;
}

/**
 * Commits the exact bytes of answers and marks their requests as stored, in one statement; returns the answers' ids in
 * the same order, which rise in the order of storing; undefined for a request that the ledger does not have. They were
 * paid for, so they are kept whatever became of the requests meanwhile.
 */
export async function storeAnswers(ops: Ops, storing: readonly Storing[]): Promise<(string | undefined)[]> {
  const packed = await Promise.all(storing.map(({ answer }) => packedOf(answer.body)));
  const answers = storing.map(({ answer }) => answer);
  let end = 1;
  const starts = packed.map(({ bytes }) => (end += bytes.byteLength) - bytes.byteLength);
  // The bodies go as one value and are cut apart there: an array of them would be sent as text, at twice the size.
  const bodies = packed.length === 1 ? packed[0]?.bytes : Buffer.concat(packed.map(({ bytes }) => bytes));
  const statement = storingIn(ops)({
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
  });
  const { rows: stored } = await ops.executeQuery(statement);
  const ids = new Map(stored.map(({ id, answer_id: answerId }) => [id, answerId]));
  return storing.map(({ requestId }) => ids.get(requestId) ?? undefined);
}

const storingIn = onceEach((ops: Ops) =>
  compiledOnce(
    [
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
    ],
    (given) => {
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
        )
        .updateTable('requests')
        .from('answer')
        .set((eb) => ({ state: 'stored', answer_id: eb.ref('answer.id'), status: eb.ref('answer.status') }))
        .whereRef('requests.id', '=', 'answer.request_id')
        .returning(['requests.id', 'requests.answer_id']);
    },
  ),
);

/** Puts another body in the place of an answer's; null takes it away. Size and digest are then those of what is kept. */
export async function replaceBody(ops: Ops, id: string, body: Uint8Array | null, at: Date): Promise<void> {
  const packed = await packedOf(body ?? NOTHING);
  await ops
    .updateTable('answers')
    .set({
      body: body === null ? null : packed.bytes,
      encoding: packed.encoding,
      sha256: sha256Of(body ?? NOTHING),
      bytes: String(body?.byteLength ?? 0),
      redacted_at: at.toISOString(),
    })
    .where('id', '=', id)
    .execute();
}

const NOTHING = new Uint8Array();

/** The id under which this very answer was stored; undefined when it was not. Tells how a commit ended that was cut off. */
export async function storedAs(ops: Ops, requestId: string, answer: StoredBytes): Promise<string | undefined> {
  const row = await ops
    .selectFrom('answers')
    .select('id')
    .where('request_id', '=', requestId)
    .where('sha256', '=', sha256Of(answer.body))
    .where('received_at', '=', sql<Date>`${answer.receivedAt.toISOString()}::timestamptz`)
    .executeTakeFirst();
  return row?.id;
}

/** An answer as it rests in the vault, with what was asked. */
export interface VaultAnswer {
  readonly id: string;
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly requestKey: string;
  readonly request: RequestBody;
  readonly receivedAt: string;
  readonly status: number;
  /** The exact bytes that were received, decoded from any content encoding. */
  readonly body: Uint8Array;
  /** Why the bytes are not those that were received; `body` is then what rests in the vault. */
  readonly damage: string | undefined;
  /** Already normalized and loaded once. */
  readonly loaded: boolean;
}

/** The answer of that id; undefined when it is not there, or its body is not there any more. */
export const readAnswer = async (ops: Ops, id: string): Promise<VaultAnswer | undefined> =>
  (await readAnswers(ops, [id])).get(id);

/** The answers of these ids, by id, as `readAnswer` tells each; one statement, so the caller bounds what they weigh. */
export async function readAnswers(ops: Ops, ids: readonly string[]): Promise<ReadonlyMap<string, VaultAnswer>> {
  const rows = await ops
    .selectFrom('answers as a')
    .innerJoin('requests as r', 'r.id', 'a.request_id')
    .select([
      'a.id',
      'a.request_id',
      'a.run_id',
      'a.sync',
      'a.endpoint',
      'a.request_key',
      'r.body as request',
      'a.status',
      'a.body',
      'a.encoding',
      'a.sha256',
    ])
    .select(sql<string>`to_char(a.received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('received_at'))
    .select(sql<boolean>`a.loaded_at is not null`.as('loaded'))
    .where('a.id', '=', sql<string>`any(${arrayLiteral(ids)}::bigint[])`)
    .where('a.body', 'is not', null)
    .execute();
  const answers = rows.map(async (row): Promise<VaultAnswer> => {
    const resting = row.body ?? NOTHING;
    const body = await unpackedBody(resting, row.encoding);
    const whole = body !== undefined && sha256Of(body) === row.sha256;
    return {
      id: row.id,
      requestId: row.request_id,
      runId: row.run_id,
      sync: row.sync,
      endpoint: row.endpoint,
      requestKey: row.request_key,
      request: row.request,
      receivedAt: row.received_at,
      status: Number(row.status),
      body: body ?? resting,
      damage: whole ? undefined : 'the bytes in the vault are not those that were received',
      loaded: row.loaded,
    };
  });
  return new Map((await Promise.all(answers)).map((answer) => [answer.id, answer]));
}

/** A sync's answers that were stored and not loaded yet, oldest first, with the size of their bodies; of a chunk its own alone. */
export async function unloadedAnswers(
  ops: Ops,
  sync: string,
  part?: Part,
): Promise<{ readonly id: string; readonly bytes: number }[]> {
  const rows = await ops
    .selectFrom('answers')
    .select(['id', 'bytes'])
    .where('loaded_at', 'is', null)
    .where('sync', '=', sync)
    .$if(part?.chunk !== undefined, (query) =>
      query.where('request_id', 'in', (eb) =>
        eb
          .selectFrom('requests')
          .select('id')
          .where(part ? isOf(part) : sql<boolean>`true`),
      ),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id, bytes }) => ({ id, bytes: Number(bytes) }));
}
