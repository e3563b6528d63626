/**
 * Records which entities the answers to each question contain, in the transaction of their load. The views of presence
 * derive from it when an entity was last seen, and since when it is missing. The record depends on the answers
 * alone, and not on the order in which they are loaded.
 */
import { withoutRepeats } from '../../async/in-batches.ts';
import type { SqlExecutor } from '../../load/sql/executor.ts';
import type { Batch } from '../../normalize/batch.ts';
import { endpointNamed } from '../../service/catalog.ts';
import { countOf, type Endpoint } from '../../service/endpoint.ts';
import { requestedName } from '../../service/names/entity-name.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';
import { hashOfEntity } from '../../warehouse/schema/entity-hash.ts';
import { rootTableNamed } from '../../warehouse/schema/tables.ts';
import { arrayLiteralOf } from '../../warehouse/sql/array-literal.ts';
import type { StoredAnswer } from '../answers.ts';
import { isUnreadable } from '../failures/unreadable-answers.ts';
import { recordChanged, recordSame } from './presence-sql.ts';

/** A loaded answer, and the question that it was loaded for. */
export interface AnsweredQuestion {
  readonly answer: Pick<StoredAnswer, 'id' | 'endpoint' | 'receivedAt'>;
  readonly identity: { readonly requestKey: string; readonly request: RequestBody };
  readonly batch: Batch;
}

/**
 * Records the contents of answers, in their order. Answers of the request log and unreadable ones are left out. Throws
 * the errors of the database.
 */
export async function recordPresence(
  executor: SqlExecutor,
  ops: string,
  answered: readonly AnsweredQuestion[],
): Promise<void> {
  const readable = answered.filter(
    ({ answer, batch }) => !isUnreadable(batch) && endpointNamed(answer.endpoint)?.returns.table !== LOG_TABLE,
  );
  for (const part of withoutRepeats(readable, ({ identity }) => identity.requestKey)) {
    const contents = part.map(contentsOf);
    const others = new Set((await executor.rows(recordSame(ops), parametersOf(contents))).map(({ key }) => key));
    const changed = contents.filter(({ requestKey }) => others.has(requestKey));
    if (changed.length > 0) await executor.count(recordChanged(ops), parametersOf(changed));
  }
}

interface Contents extends Pick<StoredAnswer, 'id' | 'endpoint' | 'receivedAt' | 'requestKey'> {
  /** The number of its items. */
  readonly received: number;
  readonly isComplete: boolean;
  readonly nameCanMove: boolean;
  /** The hashes of its entities in hex, in ascending order. */
  readonly hashes: string;
}

function contentsOf({ answer: { id, endpoint, receivedAt }, identity, batch }: AnsweredQuestion): Contents {
  const { requestKey, request } = identity;
  const hashes = new Set<string>();
  for (const [name, rows] of batch.roots) {
    const table = rootTableNamed(name);
    for (const row of rows) hashes.add(hashOfEntity(table, row.item === undefined ? 'nested' : 'item', row.id));
  }
  // An answer with as many items as requested may omit some, and so may one with rejected items.
  const isComplete = batch.rejects.length === 0 && batch.received < (countOf(request) ?? Infinity);
  const nameCanMove = canNameMove(endpointNamed(endpoint), request);
  return {
    id,
    endpoint,
    receivedAt,
    requestKey,
    received: batch.received,
    isComplete,
    nameCanMove,
    hashes: [...hashes].toSorted().join(''),
  };
}

/** True if the request names what it returns by an alias or a URL, which can move to another entity. */
function canNameMove(endpoint: Endpoint | undefined, request: RequestBody): boolean {
  const naming = endpoint?.naming;
  if (!naming || naming.resource() !== endpoint.returns) return false;
  const kind = requestedName(naming.kinds, String(request[naming.field])).fallback?.kind;
  return kind !== 'id' && kind !== 'urn';
}

/** One array per parameter. */
const parametersOf = (contents: readonly Contents[]): string[] =>
  (['requestKey', 'endpoint', 'id', 'receivedAt', 'received', 'isComplete', 'nameCanMove', 'hashes'] as const).map(
    (name) => arrayLiteralOf(contents, (it) => it[name]),
  );
