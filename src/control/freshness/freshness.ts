/** Decides which requests stored answers serve, also answers about the same entity under another name. */
import type { SyncDefinition } from '../../config/definition.ts';
import { freshAnswersByEntity, type AnswerCandidate, namesOfEntities } from './by-entity.ts';
import {
  type AnswerAge,
  freshAnswersByKey,
  type ReceiptRange,
  receivedWithin,
  type RequestWithin,
} from '../../ledger/fresh-answers.ts';
import type { Lease } from '../../ledger/lease.ts';
import { type AnswerAvailability, type LedgerRequest } from '../../ledger/requests/planned.ts';
import { recordFresh } from '../../ledger/requests/states.ts';
import { repeatedlyUnreadable } from '../../ledger/failures/repeatedly-unreadable.ts';
import { unreadableAfter } from '../../ledger/failures/unreadable-answers.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import type { MaxAgeOf } from './max-age.ts';
import type { Task } from '../../plan/task.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import { endOfDayIn, lastEndedDay } from '../../service/paging.ts';
import { onCalendar } from '../../day.ts';
import { normalizedName, requestedName } from '../../service/names/entity-name.ts';
import { requestKeyOf } from '../../service/request-key.ts';
import { type RetryEffects, retryTransient } from '../../warehouse/connect/retry-transient.ts';

/** The ages at which answers serve requests, counted from `now`. */
interface Ages {
  readonly maxAgeOf: MaxAgeOf;
  readonly now: Date;
  readonly invokedAt?: Date | undefined;
  /** The id of an answer: only answers up to it serve. */
  readonly horizon?: string | undefined;
}

/**
 * Returns what stored answers mean for these tasks. A fresh answer to the same request, or about the same entity,
 * serves a task. A task whose last answers were unreadable is not sent. An unreadable answer that another sync got
 * after `invokedAt` serves a task too, so that an invocation makes one attempt.
 */
export async function freshFor(
  ops: Ops,
  endpoint: Endpoint,
  tasks: readonly Task[],
  { maxAgeOf, now, invokedAt, horizon }: Ages,
): Promise<AnswerAvailability> {
  const aged = tasks.flatMap(({ requestKey, request, input }) => {
    const age = maxAgeOf(input);
    return age ? [{ requestKey, request, age, ...serving(endpoint, request, age, now) }] : [];
  });
  const known = await freshAnswers(ops, endpoint, aged);
  const fresh = horizon === undefined ? known : await upToHorizon(ops, known, aged, horizon);
  const unserved = aged.filter(({ requestKey }) => !fresh.has(requestKey));
  const failing = await repeatedlyUnreadable(ops, unserved);
  if (invokedAt && horizon === undefined) {
    const rest = unserved.filter(({ requestKey }) => !failing.has(requestKey));
    for (const [key, answerId] of await unreadableAfter(ops, rest, invokedAt)) fresh.set(key, answerId);
  }
  return { fresh, failing };
}

/**
 * Replaces answers after the horizon by the newest one to the same request up to it, if there is one. An unreadable answer
 * after the horizon leaves a request without one.
 */
async function upToHorizon(
  ops: Ops,
  fresh: ReadonlyMap<string, string>,
  requests: readonly RequestWithin[],
  horizon: string,
): Promise<Map<string, string>> {
  const kept = [...fresh].filter(([, id]) => BigInt(id) <= BigInt(horizon));
  const keys = new Set(kept.map(([key]) => key));
  const others = requests.filter(({ requestKey }) => !keys.has(requestKey));
  return new Map([...kept, ...(await freshAnswersByKey(ops, others, { horizon }))]);
}

/** Returns the answers that serve these requests, by request key: to the same request, otherwise about the same entity. */
async function freshAnswers(
  ops: Ops,
  endpoint: Endpoint,
  requests: readonly UnansweredRequest[],
): Promise<Map<string, string>> {
  const exact = await freshAnswersByKey(ops, requests);
  const known = await freshAnswersByName(
    ops,
    endpoint,
    requests.filter(({ requestKey }) => !exact.has(requestKey)),
  );
  return new Map([...exact, ...known]);
}

/** A request whose answer is looked for. */
interface UnansweredRequest extends ReceiptRange {
  readonly requestKey: string;
  /** Canonical. */
  readonly request: RequestBody;
}

/**
 * Returns, by request key, the newest stored answer with the same fields about the same entity under another name. A
 * "no such entity" answer concerns a name, so it serves no other name.
 */
async function freshAnswersByName(
  ops: Ops,
  endpoint: Endpoint,
  unserved: readonly UnansweredRequest[],
): Promise<Map<string, string>> {
  const { naming } = endpoint;
  if (!naming || unserved.length === 0) return new Map();
  const resource = naming.resource();
  const lookups = unserved.map(({ request, since }) => {
    const written = request[naming.field];
    return { names: typeof written === 'string' ? requestedName(naming.kinds, written).candidates : [], since };
  });
  const named = await namesOfEntities(ops, resource.name, lookups);
  const candidates = unserved.flatMap(({ requestKey, request, since, until }, place): AnswerCandidate[] =>
    (named.get(place) ?? []).map((name) => ({
      place,
      requestKey: requestKeyOf(endpoint.name, { ...request, [naming.field]: name.name }),
      soughtKey: requestKey,
      name,
      since,
      until,
    })),
  );
  const answers = await freshAnswersByEntity(ops, resource.name, candidates, endpoint.returns !== resource);
  return new Map([...answers].map(([place, id]) => [(unserved[place] as UnansweredRequest).requestKey, id]));
}

export interface FreshnessContext extends RetryEffects {
  readonly definition: Pick<SyncDefinition, 'endpoint'>;
  readonly maxAgeOf: MaxAgeOf;
  readonly ops: Ops;
  readonly lease: Lease;
  readonly now: () => Date;
}

type FreshnessRule = Pick<FreshnessContext, 'definition' | 'maxAgeOf'>;

/** True if the entity of a request may have been bought under another name. */
export const mayBeBoughtUnderOtherName = (
  { definition, maxAgeOf }: FreshnessRule,
  { input }: Pick<LedgerRequest, 'input'>,
): boolean => definition.endpoint.naming !== undefined && maxAgeOf(input) !== undefined;

/** The receipt times of answers that serve a request now; undefined if it must always be sent. */
export function freshWithin(
  { definition, maxAgeOf, now }: Pick<FreshnessContext, 'definition' | 'maxAgeOf' | 'now'>,
  { input, request }: Pick<LedgerRequest, 'input' | 'request'>,
): ReceiptRange | undefined {
  const age = maxAgeOf(input);
  return age && serving(definition.endpoint, request, age, now());
}

/**
 * The times of answers that serve a request. Once one of its days has ended, an answer that was requested before serves no
 * longer, because the day could still get more items.
 */
function serving({ paging: { days } }: Endpoint, request: RequestBody, age: AnswerAge, now: Date): ReceiptRange {
  const within = receivedWithin(age, now);
  const [first, last] = days ? [request[days.from], request[days.to]] : [];
  if (!days || typeof last !== 'string' || !onCalendar(last)) return within;
  const ended = lastEndedDay(days.timeZone, last, now);
  if (typeof first === 'string' && first > ended) return within;
  return { ...within, sentSince: endOfDayIn(days.timeZone, ended) };
}

/**
 * Returns, by request id, answers to these requests, or about their entities, that arrived since the plan was made.
 * These requests are settled as fresh, and must not be sent.
 */
export async function serveFromNewAnswers(
  context: FreshnessContext,
  requests: readonly LedgerRequest[],
): Promise<ReadonlyMap<string, string>> {
  return retryTransient(async () => {
    const unserved = requests.flatMap((request) => {
      const within = freshWithin(context, request);
      return within ? [{ ...request, ...within }] : [];
    });
    const known = await freshAnswers(context.ops, context.definition.endpoint, unserved);
    const ours = new Map<string, string>();
    for (const { id, requestKey } of unserved) {
      const answerId = known.get(requestKey);
      if (answerId !== undefined && (await recordFresh(context.ops, context.lease, id, answerId, context.now())))
        ours.set(id, answerId);
    }
    return ours;
  }, context);
}

/**
 * Runs work on requests with similar names one after the other, so that an answer to the earlier serves the later. All
 * other work runs concurrently.
 */
export function oneAtATimePerEntity(
  context: FreshnessRule,
): (request: LedgerRequest, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<void>>();
  const field = context.definition.endpoint.naming?.field;
  return (request, work) => {
    const name =
      field !== undefined && mayBeBoughtUnderOtherName(context, request) ? request.request[field] : undefined;
    if (typeof name !== 'string') return work();
    const normalized = normalizedName(name);
    const before = last.get(normalized);
    const own = (before ? before.then(work, work) : work()).finally(() => {
      if (last.get(normalized) === own) last.delete(normalized);
    });
    last.set(normalized, own);
    return own;
  };
}
