/** From stored answers to batches: each is read when its turn comes, and what it is about is known before it is loaded. */
import { setImmediate as others } from 'node:timers/promises';
import { conflictKeys, type SizedBatch } from '../../load/group.ts';
import type { Batch } from '../../normalize/batch.ts';
import { type NamedEntity, namedEntities } from '../../normalize/identify.ts';
import { normalize, rejectedWhole } from '../../normalize/normalize.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import type { KeyedRequest } from '../../service/request-body.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import { memoizeByObject } from '../../warehouse/sql/compile-once.ts';
import { withoutForgotten } from '../erasure/answer-body.ts';
import { faultOf } from './answer-fault.ts';

/** A request of the ledger that an answer is loaded for. */
export type RequestIdentity = Pick<KeyedRequest, 'requestKey' | 'request'>;

/** For whom an answer is loaded. */
export interface LoadTarget {
  /** Whose bridges the rows are made for, when not the sync that bought the answer. */
  readonly sync?: string;
  /** The request that it is loaded for, when not the one that it answered. */
  readonly identity?: RequestIdentity;
}

/** An answer of the vault, and for whom it is loaded when not for those that the options name. */
export interface AnswerToLoad extends StoredAnswer {
  readonly target?: LoadTarget;
}

/** How answers are read. */
export interface AnswerParseOptions extends LoadTarget {
  /** The loads may be their answers' first, which settles their requests; so what follows must be planned with them. */
  readonly settles: boolean;
  /** Loads into another schema than the analysts', and records nothing. */
  readonly targetSchema?: string;
}

/** An answer that was read, ready to be loaded. */
export interface ParsedAnswer extends SizedBatch {
  readonly answer: StoredAnswer;
  readonly identity: RequestIdentity;
  /** Entities with the names that it shows of them. */
  readonly named: readonly NamedEntity[];
  /** The load may be the answer's first. */
  readonly settles: boolean;
  /** Why it is quarantined whole, when that is the fault of this program. */
  readonly fault?: string;
  /** Something forgotten was taken out of the body, which the vault must not keep either. */
  readonly isRedacted: boolean;
}

/** Reads each answer when its turn comes, and between two lets other work go on, such as the load of those before. */
export async function* parseAnswers(
  answers: Iterable<AnswerToLoad> | AsyncIterable<AnswerToLoad>,
  options: AnswerParseOptions,
  forgotten: Forgotten | undefined,
): AsyncGenerator<ParsedAnswer, undefined> {
  const settled = recently();
  for await (const { target = options, ...given } of answers) {
    // Given again for another request that it serves, it has had its first load by then.
    const kept = forgotten && withoutForgotten(given, forgotten);
    const clean = kept ? { ...given, body: kept } : given;
    const answer = settled.has(given.id) ? { ...clean, loaded: true } : clean;
    const { sync = answer.sync, identity = { requestKey: answer.requestKey, request: answer.request } } = target;
    // Loaded for another sync, it still waits for the one that asked: for its own bridge, and for what follows.
    const settles = options.settles && sync === answer.sync;
    if (settles) settled.add(answer.id);
    const isRedacted = kept !== undefined;
    yield {
      answer,
      identity,
      settles,
      isRedacted,
      bytes: answer.body.byteLength,
      ...parse(answer, { ...identity, sync }, options),
    };
    await others();
  }
  return undefined;
}

function parse(
  answer: StoredAnswer,
  asked: KeyedRequest,
  { targetSchema }: AnswerParseOptions,
): Pick<ParsedAnswer, 'batch' | 'named' | 'fault'> {
  try {
    const batch = batchOf(answer, asked);
    return { batch, named: targetSchema === undefined ? namedIn(answer, batch) : [] };
  } catch (error) {
    const fault = faultOf(error, 'reading');
    // A rebuild that can't read an answer must not take the place of tables that hold its rows.
    if (fault === undefined || targetSchema !== undefined) throw error;
    return { ...rejectedAnswer(fault), fault };
  }
}

/** What is left of an answer that is quarantined whole, for this reason. */
export const rejectedAnswer = (reason: string): Pick<ParsedAnswer, 'batch' | 'named'> => ({
  batch: rejectedWhole(reason),
  named: [],
});

function batchOf(answer: StoredAnswer, asked: KeyedRequest): Batch {
  const endpoint = endpointNamed(answer.endpoint);
  if (!endpoint) return rejectedWhole(`there is no endpoint ${answer.endpoint} in this version`);
  if (answer.damage !== undefined) return rejectedWhole(answer.damage);
  // "No such entity" is an outcome of the input: whatever its body says, it deletes nothing.
  if (answer.status === 412) return { ...rejectedWhole(''), received: 0, rejects: [] };
  // Nobody asks for parts; whoever sends one would have it taken for the whole.
  if (answer.status === 206) return rejectedWhole('the service says that this is a part of its answer (206)');
  return normalize(endpoint, asked, answer.body);
}

/** Of the name that was asked by: that another names the same entity is a conclusion, not a sighting. */
function namedIn(answer: StoredAnswer, batch: Batch): NamedEntity[] {
  const endpoint = endpointNamed(answer.endpoint);
  return endpoint ? namedEntities(endpoint, answer.request, batch) : [];
}

/** True of groups that may be loaded in any order, and at once. */
export const areIndependent = (one: readonly ParsedAnswer[], other: readonly ParsedAnswer[]): boolean =>
  touchedBy(one).isDisjointFrom(touchedBy(other));

const touchedBy = memoizeByObject(
  (group: readonly ParsedAnswer[]): ReadonlySet<string> =>
    new Set([
      ...conflictKeys(group),
      ...group.map(({ answer }) => `request ${answer.requestId}`),
      // Who goes by a name is told by the order of its sightings.
      ...group.flatMap(({ named }) =>
        named.flatMap(({ resource, names }) => names.map(({ name }) => `${resource} by ${name}`)),
      ),
    ]),
);

/** The last of what was added. */
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

/** More than are read from the vault, grouped and committed at a time. */
const RECENT = 10_000;
