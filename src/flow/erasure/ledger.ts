/** Removes an entity's names from the requests for it; their costs and results stay. */
import { sql } from 'kysely';
import { asksForForgotten, mentionsForgotten, redactRequest } from '../../normalize/erasure/redact-request.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { catalog, endpointNamed } from '../../service/catalog.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { isKeyedByQuestion } from '../../service/resource.ts';
import { anyBigint, anyText } from '../../warehouse/sql/array-literal.ts';
import { ENTITY_FORGOTTEN } from '../../recovery/spool/run-spools.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import { longestPlainPart } from './sweep.ts';
import { containsAny, type ErasureSearch } from './target.ts';

/** A request for the entity. */
export interface RequestRef {
  readonly id: string;
  readonly requestKey: string;
}

const OPEN = ['planned', 'sent', 'in_doubt'] as const;

/** Endpoints whose requests are also found by a text that contains a name, which may be percent-encoded. */
const KEYED_BY_QUESTION = catalog.filter(({ returns }) => isKeyedByQuestion(returns)).map(({ name }) => name);

/** Returns the requests for the entity by any of its names. */
export async function requestsFor(ops: Ops, { forgotten, hints }: ErasureSearch): Promise<readonly RequestRef[]> {
  const rows = await ops
    .selectFrom('requests')
    .select(['id', 'endpoint', 'request_key', 'body'])
    .where(
      sql<boolean>`(${containsAny(sql`requests.body::text`, hints.map(longestPlainPart))}
        or (endpoint = ${anyText(KEYED_BY_QUESTION)} and position('%' in requests.body::text) > 0))`,
    )
    .orderBy('id')
    .execute();
  return rows.flatMap(({ id, endpoint: name, request_key: requestKey, body }) => {
    const endpoint = endpointNamed(name);
    return endpoint && asksForForgotten(endpoint, body, forgotten) ? [{ id, requestKey }] : [];
  });
}

const abandonedAt = (at: Date) =>
  ({ state: 'abandoned', finished_at: at.toISOString(), error: ENTITY_FORGOTTEN }) as const;

/**
 * Replaces the entity's names in these requests with a pseudonym, and their keys with those of `keyOf`. Returns the new
 * keys by the old ones. Open requests are abandoned.
 */
export async function redactRequests(
  ops: Ops,
  requests: readonly RequestRef[],
  { forgotten }: ErasureSearch,
  keyOf: (requestKey: string) => string,
  at: Date,
): Promise<ReadonlyMap<string, string>> {
  const keys = new Map(requests.map(({ requestKey }) => [requestKey, keyOf(requestKey)]));
  for (const { id } of requests) {
    const row = await ops
      .selectFrom('requests')
      .select(['endpoint', 'request_key', 'body', 'sent_body', 'input', 'state'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const endpoint = endpointNamed(row.endpoint);
    if (!endpoint) continue;
    const without = (part: typeof row.body) =>
      sql<string>`${canonicalJson(redactRequest(endpoint, row.body, forgotten, part))}::text::jsonb`;
    const isOpen = OPEN.some((state) => state === row.state);
    await ops
      .updateTable('requests')
      .set({
        body: without(row.body),
        sent_body: row.sent_body && without(row.sent_body),
        input: without(row.input),
        request_key: keys.get(row.request_key) ?? row.request_key,
        ...(isOpen && abandonedAt(at)),
      })
      .where('id', '=', id)
      .execute();
    const slice = await ops.selectFrom('coverage').select(['id', 'filters']).where('request_id', '=', id).execute();
    for (const { id: sliceId, filters } of slice)
      await ops
        .updateTable('coverage')
        .set({ filters: without(filters) })
        .where('id', '=', sliceId)
        .execute();
  }
  for (const table of ['answers', 'coverage', 'question_contents', 'left_entities'] as const)
    await ops
      .updateTable(table)
      .from(renamedKeys(keys).as('k'))
      .set((eb) => ({ request_key: eb.ref('k.is_now') }))
      .whereRef(`${table}.request_key`, '=', 'k.was')
      .execute();
  return keys;
}

/**
 * Abandons open requests that are not for the entity, but have one of its names in a text. The sweep replaces the name by a
 * pseudonym, and a search for a pseudonym finds nothing.
 */
export async function abandonMentions(ops: Ops, { forgotten, hints }: ErasureSearch, at: Date): Promise<void> {
  const open = await ops
    .selectFrom('requests')
    .select(['id', 'endpoint', 'body'])
    .where('state', 'in', [...OPEN])
    .where(containsAny(sql`requests.body::text`, hints.map(longestPlainPart)))
    .execute();
  const named = open.filter(({ endpoint: name, body }) => {
    const endpoint = endpointNamed(name);
    return endpoint && mentionsForgotten(endpoint, body, forgotten);
  });
  await ops
    .updateTable('requests')
    .set(abandonedAt(at))
    .where('id', '=', anyBigint(named.map(({ id }) => id)))
    .execute();
}

/** The replaced request keys as SQL rows. */
export const renamedKeys = (keys: ReadonlyMap<string, string>) =>
  rowsFrom([...keys], { was: ['text', ([before]) => before], is_now: ['text', ([, after]) => after] });
