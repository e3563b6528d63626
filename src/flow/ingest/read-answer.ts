/**
 * Turns stored answers into batches, one at a time. The entities that a batch touches are known before it is loaded.
 */
import { yieldToEventLoop } from '../../async/yield-to-event-loop.ts';
import { conflictKeys, type SizedBatch } from '../../load/group.ts';
import type { Batch } from '../../normalize/batch.ts';
import { type NamedEntity, namedEntities } from '../../normalize/identify.ts';
import { normalize, rejectedWhole } from '../../normalize/normalize.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import type { KeyedRequest } from '../../service/request-body.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import { memoizeByObject } from '../../async/memoize.ts';
import { withoutForgotten } from '../erasure/answer-body.ts';
import { faultOf } from './answer-fault.ts';

/** The identity of a request that an answer is loaded for. */
export type RequestIdentity = Pick<KeyedRequest, 'requestKey' | 'request'>;

/** The sync and request that an answer is loaded for. */
export interface LoadTarget {
  /** The sync whose bridges get rows; absent, the sync that bought the answer. */
  readonly sync?: string;
  /** The request that it is loaded for; absent, the one that it answered. */
  readonly identity?: RequestIdentity;
}

/** A stored answer; without a target, it is loaded for the request that it answered. */
export interface AnswerToLoad extends StoredAnswer {
  readonly target?: LoadTarget | undefined;
  /** A newer answer already replaced its set of rows; absent, this is not known. */
  readonly isSetReplaced?: boolean;
}

/**
 * Why answers are loaded. `settle`: the loads may be the first of their answers, which settles the requests, so follow-up
 * requests must be planned in the same transaction. `replay`: the analyst tables get the rows again. `copy`: tables in
 * another schema get the rows, and nothing is recorded.
 */
export type LoadPurpose =
  | { readonly kind: 'settle' }
  | { readonly kind: 'replay' }
  | { readonly kind: 'copy'; readonly schema: string };

/** A parsed answer, ready to load. */
export interface ParsedAnswer extends SizedBatch {
  readonly answer: StoredAnswer;
  readonly identity: RequestIdentity;
  /** Entities with the names that the answer shows for them. */
  readonly named: readonly NamedEntity[];
  /** The load may be the answer's first. */
  readonly settles: boolean;
  /** Why the complete answer is quarantined, if a bug of this program is the reason. */
  readonly fault?: string | undefined;
  /** A forgotten entity was removed from the body, so the stored body must be replaced too. */
  readonly isRedacted: boolean;
  readonly isSetReplaced: boolean;
}

/** Yields each parsed answer on demand, and lets other work run in between, such as the load of earlier answers. */
export async function* parseAnswers(
  answers: Iterable<AnswerToLoad> | AsyncIterable<AnswerToLoad>,
  purpose: LoadPurpose,
  forgotten: Forgotten | undefined,
): AsyncGenerator<ParsedAnswer, undefined> {
  const settled = recently();
  for await (const { target = {}, isSetReplaced = false, ...given } of answers) {
    const kept = forgotten && withoutForgotten(given, forgotten);
    const clean = kept ? { ...given, body: kept } : given;
    // An answer that comes again for another request already had its first load. One that comes again for its own request lost
    // it: after a failover, the database may lack the last loads, and give the ids of lost answers to other ones.
    const isLoaded = target.identity !== undefined && settled.has(given.id);
    const answer = isLoaded ? { ...clean, loaded: true } : clean;
    const { sync = answer.sync, identity = { requestKey: answer.requestKey, request: answer.request } } = target;
    // An answer that is loaded for another sync still has to settle its own request, with its bridge and follow-up
    // requests.
    const settles = purpose.kind === 'settle' && sync === answer.sync;
    if (settles) settled.add(answer.id);
    const isRedacted = kept !== undefined;
    yield {
      answer,
      identity,
      settles,
      isRedacted,
      isSetReplaced,
      bytes: answer.body.byteLength,
      ...parse(answer, { ...identity, sync }, purpose),
    };
    await yieldToEventLoop();
  }
  return undefined;
}

function parse(
  answer: StoredAnswer,
  request: KeyedRequest,
  { kind }: LoadPurpose,
): Pick<ParsedAnswer, 'batch' | 'named' | 'fault'> {
  try {
    const batch = batchOf(answer, request);
    return { batch, named: kind === 'copy' ? [] : namedIn(answer, batch) };
  } catch (error) {
    const fault = faultOf(error, 'reading');
    // A copy without the rows of an answer must not replace tables that have them.
    if (fault === undefined || kind === 'copy') throw error;
    return { ...rejectedAnswer(fault), fault };
  }
}

/** The batch of an answer that is quarantined completely, for this reason. */
export const rejectedAnswer = (reason: string): Pick<ParsedAnswer, 'batch' | 'named'> => ({
  batch: rejectedWhole(reason),
  named: [],
});

function batchOf(answer: StoredAnswer, request: KeyedRequest): Batch {
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint) return rejectedWhole(`there is no endpoint ${answer.endpoint} in this version`);
  if (answer.damage !== undefined) return rejectedWhole(answer.damage);
  // Status 412 means that the entity does not exist. Whatever the body says, it deletes nothing.
  if (answer.status === 412) return { ...rejectedWhole(''), received: 0, rejects: [] };
  // Sluice requests no partial content, and a partial answer must not pass as a complete one.
  if (answer.status === 206) return rejectedWhole('the service says that this is a part of its answer (206)');
  return normalize(endpoint, request, answer.body);
}

/** Records only the requested name. An answer that serves another name too is a conclusion, not an observation. */
function namedIn(answer: StoredAnswer, batch: Batch): NamedEntity[] {
  const endpoint = endpointNamed(answer.endpoint);
  return endpoint ? namedEntities(endpoint, answer.request, batch) : [];
}

/** True if two groups may be loaded in any order and at the same time. */
export const areIndependent = (one: readonly ParsedAnswer[], other: readonly ParsedAnswer[]): boolean =>
  touchedBy(one).isDisjointFrom(touchedBy(other));

const touchedBy = memoizeByObject(
  (group: readonly ParsedAnswer[]): ReadonlySet<string> =>
    new Set([
      ...conflictKeys(group),
      ...group.map(({ answer }) => `request ${answer.requestId}`),
      // The order of observations decides which entity has a name.
      ...group.flatMap(({ named }) =>
        named.flatMap(({ resource, names }) => names.map(({ name }) => `${resource} by ${name}`)),
      ),
    ]),
);

/** A set that keeps only the most recently added ids. */
function recently(): Pick<Set<string>, 'add' | 'has'> {
  const kept = new Set<string>();
  return {
    has: (id) => kept.has(id),
    add: (id) => {
      const [oldest] = kept.size === RECENT ? kept : [];
      if (oldest !== undefined) kept.delete(oldest);
      return kept.add(id);
    },
  };
}

/** More than are read, grouped and committed at a time. */
const RECENT = 10_000;
