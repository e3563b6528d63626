/** Finds stored answers whose set of rows a newer answer replaced, so that a late or a second load brings no row back. */
import { sql } from 'kysely';
import { canonicalJson } from '../../service/canonical-json.ts';
import { catalog, endpointNamed } from '../../service/catalog.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { requestKeyOf } from '../../service/request-key.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import type { AnswerToLoad, RequestIdentity } from './read-answer.ts';

/** How lists were requested. */
interface RequestedLists {
  /** The counts of stored answers, by endpoint. */
  readonly counts: ReadonlyMap<string, readonly number[]>;
  /** Fields that do not name the owner, as sent in requests for one owner that differ in them, by endpoint and owner. */
  readonly others: ReadonlyMap<string, ReadonlyMap<string, readonly RequestBody[]>>;
}

/** Returns the answers, each with whether a newer one replaced its set. */
export type ReplacedSetCheck = (answers: readonly AnswerToLoad[]) => Promise<readonly AnswerToLoad[]>;

/**
 * Returns a function that finds answers whose set the loader replaced with a newer answer: a loaded and complete one to
 * the same request, or to one for the same set. Such a request may differ in its count, and in fields that do not name
 * the owner. For an endpoint that only adds to a set, these are the answers of the endpoint that lists the set. Sets that
 * name a sync are replaced by answers for this sync alone. How lists were requested is read once, when it is first needed.
 */
export function openReplacedSetCheck(ops: Ops, effects: RetryEffects): ReplacedSetCheck {
  let lists: RequestedLists | undefined;
  return async (answers) => {
    if (!answers.some(({ endpoint }) => listsOf(endpoint).length > 0)) return answers;
    lists ??= await retryTransient(() => requestedLists(ops), effects);
    const known = lists;
    const replaced = await retryTransient(() => answersWithReplacedSet(ops, answers, known), effects);
    return answers.map((answer, index) => ({ ...answer, isSetReplaced: replaced.has(index) }));
  };
}

const requestedLists = async (ops: Ops): Promise<RequestedLists> => ({
  counts: await requestedCounts(ops),
  others: await requestedOthers(ops),
});

/** Returns the counts with which lists were requested that are one set for all counts. */
async function requestedCounts(ops: Ops): Promise<RequestedLists['counts']> {
  const names = catalog
    .filter((endpoint) => replacesSet(endpoint) && !isInKey(endpoint.name, 'request_key'))
    .map(({ name }) => name);
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

/** Returns the fields besides `count` that differ between requests for one owner. Few requests differ in them. */
async function requestedOthers(ops: Ops): Promise<RequestedLists['others']> {
  const found = new Map<string, ReadonlyMap<string, readonly RequestBody[]>>();
  for (const endpoint of catalog.filter(({ returns }) => returns.owner !== undefined)) {
    const owner = ownerFields(endpoint);
    const isOther = (field: string): boolean => !owner.includes(field);
    const rest = sql<RequestBody>`body - ${arrayLiteral([...owner, 'count'])}::text[]`;
    const rows = await ops
      .selectFrom('requests')
      .select(
        sql<RequestBody>`body - ${arrayLiteral(Object.keys(endpoint.request.shape).filter(isOther))}::text[]`.as(
          'owner',
        ),
      )
      .select(sql<RequestBody[]>`jsonb_agg(distinct ${rest})`.as('others'))
      .where('endpoint', '=', endpoint.name)
      .groupBy('owner')
      .having(sql<boolean>`count(distinct ${rest}) > 1`)
      .execute();
    found.set(endpoint.name, new Map(rows.map((row) => [canonicalJson(row.owner), row.others])));
  }
  return found;
}

/** Returns the indexes of the answers whose set a newer one replaced. */
async function answersWithReplacedSet(
  ops: Ops,
  answers: readonly AnswerToLoad[],
  lists: RequestedLists,
): Promise<ReadonlySet<number>> {
  const sought = answers.flatMap((answer, index) => {
    const { endpoint, target: { sync = answer.sync, identity = answer } = {} } = answer;
    const ofSync = isInKey(endpoint, 'sync') ? sync : null;
    return keysOfSet(endpoint, identity, lists).map((key) => ({ index, answerId: answer.id, key, ofSync }));
  });
  if (sought.length === 0) return new Set();
  const rows = await ops
    .selectFrom(
      rowsFrom(sought, {
        index: ['int', ({ index }) => index],
        answer_id: ['bigint', ({ answerId }) => answerId],
        request_key: ['text', ({ key }) => key],
        sync: ['text', ({ ofSync }) => ofSync],
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
  return new Set(rows.map(({ index }) => index));
}

/** True if complete answers of the endpoint replace the rows of an owner or of a question. */
const replacesSet = ({ returns, bridge }: Endpoint): boolean => returns.owner !== undefined || bridge?.lists === true;

/** The endpoints whose complete answers replace the set that the answers of an endpoint add to. */
function listsOf(name: string): readonly Endpoint[] {
  const endpoint = endpointNamed(name);
  const table = endpoint?.bridge?.table;
  return catalog.filter(
    (other) => replacesSet(other) && (other === endpoint || (table !== undefined && other.bridge?.table === table)),
  );
}

/** True if this is one of the columns that identify the set. */
const isInKey = (name: string, column: string): boolean =>
  Object.hasOwn(endpointNamed(name)?.bridge?.questionColumns ?? {}, column);

/** The request fields that name the owner of a set. */
const ownerFields = ({ urns }: Endpoint): readonly string[] => Object.keys(urns);

/**
 * The keys of requests that list the set of a request: its own if it lists the set, and those with another count or other
 * fields that do not name the owner.
 */
function keysOfSet(
  endpoint: string,
  { requestKey, request }: RequestIdentity,
  { counts, others }: RequestedLists,
): readonly string[] {
  const keys = listsOf(endpoint).flatMap((list) => {
    const isOwn = list.name === endpoint;
    const question = isOwn ? request : fieldsOf(list, request);
    const fields = ownerFields(list);
    const owner = Object.fromEntries(Object.entries(question).filter(([field]) => fields.includes(field)));
    const same = (others.get(list.name)?.get(canonicalJson(owner)) ?? []).map((rest) => ({ ...owner, ...rest }));
    const requested = (counts.get(list.name) ?? []).flatMap((count) =>
      [question, ...same].map((body) => requestKeyOf(list.name, { ...body, count })),
    );
    return [...(isOwn ? [requestKey] : []), ...requested];
  });
  return [...new Set(keys)];
}

/** The fields of a request that the endpoint has too. */
const fieldsOf = ({ request: { shape } }: Endpoint, request: RequestBody): RequestBody =>
  Object.fromEntries(Object.entries(request).filter(([field]) => Object.hasOwn(shape, field)));
