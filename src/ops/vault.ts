/** Keeps every paid answer to the byte, compressed, before anything else is tried on it. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { sql } from 'kysely';
import type { RequestBody } from '../service/asked.ts';
import type { Ops } from './schema.ts';

/** An answer as the client hands it over. */
export interface StoredBytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly receivedAt: Date;
  readonly tookMs: number;
}

/** Smaller bodies grow by compression. */
const WORTH_COMPRESSING_BYTES = 150;
const pack = promisify(gzip);
const unpack = promisify(gunzip);

/**
 * Commits the exact bytes of an answer and marks its request as stored, in one statement; returns the answer's id, which
 * rises in the order of storing. It was paid for, so it is kept whatever became of the request meanwhile.
 */
export async function storeAnswer(ops: Ops, requestId: string, answer: StoredBytes): Promise<string> {
  const compressed = answer.body.byteLength >= WORTH_COMPRESSING_BYTES;
  const body = compressed ? await pack(answer.body) : Buffer.from(answer.body);
  const sha256 = sha256Of(answer.body);
  const stored = await ops
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
            .selectFrom('requests')
            .select([
              'id',
              'run_id',
              'sync',
              'endpoint',
              'request_key',
              sql<string | null>`(body ->> 'count')::bigint`.as('asked'),
              sql<Date>`${answer.receivedAt.toISOString()}::timestamptz`.as('received_at'),
              sql<string>`${String(Math.round(answer.tookMs))}::bigint`.as('took_ms'),
              sql<string>`${String(answer.status)}::bigint`.as('status'),
              sql<object>`${JSON.stringify(answer.headers)}::jsonb`.as('headers'),
              sql<Buffer>`${body}::bytea`.as('body'),
              sql<string>`${compressed ? 'gzip' : 'identity'}::text`.as('encoding'),
              sql<string>`${sha256}::text`.as('sha256'),
              sql<string>`${String(answer.body.byteLength)}::bigint`.as('bytes'),
            ])
            .where('id', '=', requestId),
        )
        .returning('id'),
    )
    .updateTable('requests')
    .from('answer')
    .set((eb) => ({ state: 'stored', answer_id: eb.ref('answer.id'), status: String(answer.status) }))
    .where('requests.id', '=', requestId)
    .returning('requests.answer_id')
    .executeTakeFirst();
  if (stored?.answer_id == null) throw new Error(`the ledger has no request ${requestId} for the answer that came`);
  return stored.answer_id;
}

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

/** The SHA-256 of an answer's bytes, in hex: what the vault knows them by. */
export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

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

/** The answer of that id; undefined when it is not there (any more). */
export async function readAnswer(ops: Ops, id: string): Promise<VaultAnswer | undefined> {
  const row = await ops
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
    .where('a.id', '=', id)
    .executeTakeFirst();
  if (!row) return undefined;
  const resting = Buffer.from(row.body);
  const body = row.encoding === 'gzip' ? await unpack(resting).catch(() => undefined) : resting;
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
}

/** Ids of a sync's answers that were stored and not loaded yet, oldest first. */
export async function unloadedAnswers(ops: Ops, sync: string): Promise<string[]> {
  const rows = await ops
    .selectFrom('answers')
    .select('id')
    .where('loaded_at', 'is', null)
    .where('sync', '=', sync)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}
