/** Finds stored answers whose set of rows a newer answer replaced, so that another load of them brings no row back. */
import { sql } from 'kysely';
import { catalog, endpointNamed } from '../../service/catalog.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { requestKeyOf } from '../../service/request-key.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';

/** A stored answer, and the request and the sync that it is loaded for. */
export interface AnswerWithTarget {
  readonly answerId: string;
  readonly endpoint: string;
  readonly requestKey: string;
  /** Canonical. */
  readonly request: RequestBody;
  readonly sync: string;
}

/** The counts that stored answers were requested with, by endpoint. */
export type RequestedCounts = ReadonlyMap<string, readonly number[]>;

/** Returns the counts with which lists were requested that are one set for all counts. */
export async function requestedCounts(ops: Ops): Promise<RequestedCounts> {
  const names = catalog.map(({ name }) => name).filter((name) => replacesSet(name) && !isInKey(name, 'request_key'));
  const rows = await ops
    .selectFrom('answers')
    .select(['endpoint', 'asked'])
    .distinct()
    .where('endpoint', 'in', names)
    .where('asked', 'is not', null)
    .execute();
  return new Map(
    [...Map.groupBy(rows, ({ endpoint }) => endpoint)].map(([name, of]) => [name, of.map((it) => Number(it.asked))]),
  );
}

/**
 * Returns those of these answers whose set the loader replaced with a newer answer: a loaded and complete one to the same
 * request, or to one that differs in its count alone. Sets that name a sync are replaced by answers for this sync alone.
 */
export async function answersWithReplacedSet<T extends AnswerWithTarget>(
  ops: Ops,
  answers: readonly T[],
  counts: RequestedCounts,
): Promise<ReadonlySet<T>> {
  const owners = answers.filter(({ endpoint }) => replacesSet(endpoint));
  const sought = owners.flatMap((owner, index) => keysOfSet(owner, counts).map((key) => ({ ...owner, index, key })));
  if (sought.length === 0) return new Set();
  const rows = await ops
    .selectFrom(
      rowsFrom(sought, {
        index: ['int', ({ index }) => index],
        answer_id: ['bigint', ({ answerId }) => answerId],
        request_key: ['text', ({ key }) => key],
        sync: ['text', ({ endpoint, sync }) => (isInKey(endpoint, 'sync') ? sync : null)],
      }).as('t'),
    )
    .innerJoinLateral(
      ops
        .selectFrom('requests as r')
        .innerJoin('answers as a', 'a.id', 'r.answer_id')
        .select('a.id')
        .where(
          sql<boolean>`r.request_key = t.request_key and (t.sync is null or r.sync = t.sync) and a.id > t.answer_id`,
        )
        .where('a.loaded_at', 'is not', null)
        .where('a.quarantined', '=', '0')
        // The body of an answer of status 412 is not read, so it replaces nothing.
        .where('a.status', '<>', '412')
        .where(sql<boolean>`not a.unreadable and (a.asked is null or a.received < a.asked)`)
        // Each request is looked up by its key, whatever the statistics.
        .limit(1)
        .as('newer'),
      (join) => join.onTrue(),
    )
    .select('t.index')
    .execute();
  const found = new Set(rows.map(({ index }) => index));
  return new Set(owners.filter((_, index) => found.has(index)));
}

/** True if complete answers of the endpoint replace the rows of an owner or of a question. */
function replacesSet(name: string): boolean {
  const endpoint = endpointNamed(name);
  return endpoint?.returns.owner !== undefined || endpoint?.bridge?.lists === true;
}

/** True if this is one of the columns that identify the set. */
const isInKey = (name: string, column: string): boolean =>
  Object.hasOwn(endpointNamed(name)?.bridge?.questionColumns ?? {}, column);

/** The keys of requests for the set of a request: its own, and those with another count. */
function keysOfSet({ endpoint, requestKey, request }: AnswerWithTarget, counts: RequestedCounts): readonly string[] {
  const others = counts.get(endpoint)?.map((count) => requestKeyOf(endpoint, { ...request, count })) ?? [];
  return [...new Set([requestKey, ...others])];
}
