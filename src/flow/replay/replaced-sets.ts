/** Finds stored answers whose set of rows a newer answer replaced, so that another load of them brings no row back. */
import { sql } from 'kysely';
import { endpointNamed } from '../../service/catalog.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';

/** A stored answer, and the request and the sync that it is loaded for. */
export interface AnswerWithTarget {
  readonly answerId: string;
  readonly endpoint: string;
  readonly requestKey: string;
  readonly sync: string;
}

/**
 * Returns those of these answers whose set the loader replaced with a newer answer to the same request: a loaded and
 * complete one. Sets that name a sync are replaced by answers for this sync alone. Other requests for the same set, such
 * as one with another count, are not compared.
 */
export async function answersWithReplacedSet<T extends AnswerWithTarget>(
  ops: Ops,
  answers: readonly T[],
): Promise<ReadonlySet<T>> {
  const owners = answers.filter(({ endpoint }) => replacesSet(endpoint));
  if (owners.length === 0) return new Set();
  const rows = await ops
    .selectFrom(
      rowsFrom(owners, {
        index: ['int', (_, index) => index],
        answer_id: ['bigint', ({ answerId }) => answerId],
        request_key: ['text', ({ requestKey }) => requestKey],
        sync: ['text', ({ endpoint, sync }) => (namesSync(endpoint) ? sync : null)],
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

/** True if the set is that of one sync. */
const namesSync = (name: string): boolean => Object.hasOwn(endpointNamed(name)?.bridge?.questionColumns ?? {}, 'sync');
