/** The stored answers: their exact bytes, or what was kept of them. */
import { sql } from 'kysely';
import type { RequestBody } from '../service/request-body.ts';
import { utcText } from '../warehouse/sql/utc-text.ts';
import { anyBigint } from '../warehouse/sql/array-literal.ts';
import type { StoredBytes } from './requests/store-and-record-sent.ts';
import { compressBody, sha256Of, decompressBody } from './compression.ts';
import { isInScope, type RunScope } from './run-scope.ts';
import { OPEN_STATES } from './runs.ts';
import type { Ops } from '../warehouse/connect/operations-db.ts';

/** Replaces the body of an answer; null removes it. Size and digest are then those of the new body. */
export async function replaceBody(ops: Ops, id: string, body: Uint8Array | null, at: Date): Promise<void> {
  const packed = await compressBody(body ?? EMPTY_BODY);
  await ops
    .updateTable('answers')
    .set({
      body: body === null ? null : packed.bytes,
      encoding: packed.encoding,
      sha256: sha256Of(body ?? EMPTY_BODY),
      bytes: String(body?.byteLength ?? 0),
      redacted_at: at.toISOString(),
    })
    .where('id', '=', id)
    .execute();
}

/** The body of an answer that was emptied or not kept. */
export const EMPTY_BODY = new Uint8Array();

/**
 * Returns the id under which exactly this answer was stored, also if a forgotten entity was removed from it later;
 * undefined if it was not. So it shows whether an interrupted commit succeeded.
 */
export async function storedAnswerId(ops: Ops, requestId: string, answer: StoredBytes): Promise<string | undefined> {
  const row = await ops
    .selectFrom('answers')
    .select('id')
    .where('request_id', '=', requestId)
    .where((eb) => eb.or([eb('sha256', '=', sha256Of(answer.body)), eb('redacted_at', 'is not', null)]))
    .where('received_at', '=', sql<Date>`${answer.receivedAt.toISOString()}::timestamptz`)
    .executeTakeFirst();
  return row?.id;
}

/** Returns the id of the newest stored answer; 0 if there is none. */
export async function newestAnswerId(ops: Ops): Promise<string> {
  const newest = await ops.selectFrom('answers').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
  return newest?.id ?? '0';
}

/** Returns when answers were received, by id. */
export async function receivedAtOf(ops: Ops, ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  if (ids.length === 0) return new Map();
  const rows = await ops.selectFrom('answers').select(['id', 'received_at']).where('id', '=', anyBigint(ids)).execute();
  return new Map(rows.map((row) => [row.id, row.received_at]));
}

/** A stored answer with its request. */
export interface StoredAnswer {
  readonly id: string;
  readonly requestId: string;
  readonly runId: string;
  readonly sync: string;
  readonly endpoint: string;
  readonly requestKey: string;
  readonly request: RequestBody;
  readonly receivedAt: string;
  /** Time from sending to receipt, in milliseconds. */
  readonly tookMs: number;
  readonly status: number;
  /** The exact bytes that were received, decoded from any content encoding. */
  readonly body: Uint8Array;
  /** Why the bytes differ from those that were received; `body` then holds the bytes in the database. */
  readonly damage: string | undefined;
  /** Already normalized and loaded once. */
  readonly loaded: boolean;
  /** A load that served another sync before the first one has put items into quarantine. */
  readonly hasEarlyRejects: boolean;
}

/** Returns the answer with that id; undefined if it does not exist or its body was removed. */
export const readAnswer = async (ops: Ops, id: string): Promise<StoredAnswer | undefined> =>
  (await readAnswers(ops, [id])).get(id);

/**
 * Returns the answers with these ids, by id, as `readAnswer` does. It uses one statement, so the caller must bound
 * their total size.
 */
export async function readAnswers(ops: Ops, ids: readonly string[]): Promise<ReadonlyMap<string, StoredAnswer>> {
  const rows = await ops
    .selectFrom('answers as a')
    .innerJoin('requests as r', 'r.id', 'a.request_id')
    .select(['a.id', 'a.request_id as requestId', 'a.run_id as runId', 'a.sync', 'a.endpoint'])
    .select(['a.request_key as requestKey', 'r.body as request', 'a.took_ms', 'a.status', 'a.body'])
    .select(['a.encoding', 'a.sha256'])
    .select(utcText('a.received_at').as('receivedAt'))
    .select(sql<boolean>`a.loaded_at is not null`.as('loaded'))
    .select(sql<boolean>`a.loaded_at is null and coalesce(a.quarantined > 0, false)`.as('hasEarlyRejects'))
    .where('a.id', '=', anyBigint(ids))
    .where('a.body', 'is not', null)
    .execute();
  const answers = rows.map(async ({ encoding, sha256, took_ms: tookMs, ...row }): Promise<StoredAnswer> => {
    const stored = row.body ?? EMPTY_BODY;
    const body = await decompressBody(stored, encoding);
    const isIntact = body !== undefined && sha256Of(body) === sha256;
    return {
      ...row,
      tookMs: Number(tookMs),
      status: Number(row.status),
      body: body ?? stored,
      damage: isIntact ? undefined : 'the stored bytes are not those that were received',
    };
  });
  return new Map((await Promise.all(answers)).map((answer) => [answer.id, answer]));
}

/**
 * Returns a sync's stored answers that are not loaded yet, oldest first, with the size of their bodies; for a chunk
 * only its own.
 */
export async function unloadedAnswers(
  ops: Ops,
  sync: string,
  part?: RunScope,
): Promise<{ readonly id: string; readonly bytes: number }[]> {
  const rows = await ops
    .selectFrom('answers')
    .select(['id', 'bytes'])
    .where('loaded_at', 'is', null)
    .where('sync', '=', sync)
    .$if(part?.chunk !== undefined, (query) =>
      query.where(
        'request_id',
        'in',
        ops
          .selectFrom('requests')
          .select('id')
          .where(isInScope(part as RunScope)),
      ),
    )
    .orderBy('id')
    .execute();
  return rows.map(({ id, bytes }) => ({ id, bytes: Number(bytes) }));
}

/** A stored answer of another sync that waits for its first load. */
export interface LeftAnswer {
  readonly answerId: string;
  readonly bytes: number;
  readonly sync: string;
  readonly endpoint: string;
  /** No run will continue the one that bought it, so it leads to no request. */
  readonly isOver: boolean;
}

/** Returns the waiting answers of all other syncs, oldest first. Runs that started before `openSince` are not continued. */
export async function answersLeftToOthers(ops: Ops, sync: string, openSince: Date): Promise<LeftAnswer[]> {
  const rows = await ops
    .selectFrom('answers as a')
    .innerJoin('runs as n', 'n.id', 'a.run_id')
    .select(['a.id as answerId', 'a.bytes', 'a.sync', 'a.endpoint'])
    .select((eb) =>
      eb
        .or([eb('n.state', 'not in', [...OPEN_STATES]), eb('n.started_at', '<', openSince)])
        .$castTo<boolean>()
        .as('isOver'),
    )
    .where('a.loaded_at', 'is', null)
    .where('a.body', 'is not', null)
    .where('a.sync', '<>', sync)
    .orderBy('a.id')
    .execute();
  return rows.map(({ bytes, ...row }) => ({ ...row, bytes: Number(bytes) }));
}
