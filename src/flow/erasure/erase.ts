/** Removes an entity from the complete database in one transaction. */
import { type QueryExecutorProvider, sql, type Transaction } from 'kysely';
import { cleanText } from '../../normalize/erasure/clean.ts';
import { rehash } from '../../load/rehash.ts';
import { sqlExecutorOn } from '../../load/sql/executor.ts';
import { digester, type ErasureCounts, recordErasure, wasErased } from './store.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import { type Forgotten, pseudonymOf } from '../../service/names/forgotten.ts';
import { removeUnknownFields } from '../fill/remove-unknown-fields.ts';
import { anyBigint } from '../../warehouse/sql/array-literal.ts';
import type { SchemaNames } from '../../warehouse/connect/connect.ts';
import type { OperationsTables } from '../../warehouse/schema/operations.ts';
import { bridgeTables, rootTables } from '../../warehouse/schema/tables.ts';
import { abandonMentions, type RequestRef, redactRequests, renamedKeys, requestsFor } from './ledger.ts';
import { eraseFromJobs } from './jobs.ts';
import { renewDigests } from './logged-digests.ts';
import { eraseFromUndeclared } from './undeclared.ts';
import { eraseFromPresence } from './presence.ts';
import { sweep } from './sweep.ts';
import { eraseRows, type TouchedRows } from './tables.ts';
import { dropUnchanged } from './unchanged.ts';
import {
  noteRows,
  openNameRegister,
  exclusiveNames,
  type NameRegister,
  type ErasureSearch,
  searchFor,
  sharedKeyTexts,
  type ErasureTarget,
} from './target.ts';
import { eraseFromAnswers } from './answers.ts';

export interface ErasureOptions {
  /** Later answers may bring the entity back, and an earlier ban on it is lifted. */
  readonly mayReturn: boolean;
  /** Report what would be removed, and remove nothing. */
  readonly dryRun: boolean;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** What an erasure removed from the database, and what to search for in the spool. */
export interface ErasureResult extends ErasureCounts {
  /** Whether an earlier erasure had the same key. */
  readonly wasForgotten: boolean;
  readonly search: ErasureSearch;
  readonly register: NameRegister;
  /** The id of the receipt; null for a dry run. */
  readonly receipt: string | null;
}

/** Erases the entity inside the caller's transaction. The caller commits, or rolls back for a dry run. */
export async function eraseIn(
  db: Transaction<OperationsTables>,
  warehouse: SchemaNames,
  target: ErasureTarget,
  { mayReturn, dryRun, now, newId, onProgress, signal }: ErasureOptions,
): Promise<ErasureResult> {
  const ops = operationsOf({ db, ops: warehouse.ops });
  const digests = await digester(ops, () => Buffer.from(newId() + newId()));
  if (!digests) throw new Error('the salt of the erasure digests is missing');
  const digest = digests.ofKey(target.table.name, target.key);
  const wasForgotten = await wasErased(ops, digest);
  const register = openNameRegister(target);
  await noteRows(db, warehouse, target, register);
  const done = { touched: new Set<string>(), erased: new Set<string>(), digests: new Map<string, string>() };
  const at = now();
  const shared = await sharedKeyTexts(db, warehouse, target);
  let search: ErasureSearch;
  let requestsAboutEntity: readonly RequestRef[];
  // Stored answers may hold names that the tables never had, so each new name starts another pass.
  for (let known = -1; ; ) {
    const names = await exclusiveNames(db, warehouse, target, register.names, [target.table]);
    const texts = await exclusiveNames(db, warehouse, target, names, rootTables);
    search = searchFor(target, names, texts, shared, pseudonymOf(digest));
    requestsAboutEntity = await requestsFor(ops, search);
    if (known === register.size()) break;
    known = register.size();
    const ids = new Set(requestsAboutEntity.map(({ id }) => id));
    await eraseFromAnswers(ops, search, register, ids, { at, done, signal, onProgress });
  }
  const rows: Record<string, number> = {};
  const touched: TouchedRows = {
    changed: new Map(),
    note: (table, count) => {
      if (count > 0) rows[table] = (rows[table] ?? 0) + count;
    },
  };
  const answers = await answersTo(ops, requestsAboutEntity);
  await eraseFromPresence(db, warehouse, target, answers);
  await eraseRows(db, warehouse, { target, search }, answers, touched);
  await eraseFromUndeclared(db, warehouse.schema, search, touched);
  await renewDigests(db, warehouse.schema, done.digests, touched);
  // A key without salt could be computed from the name. Each erasure has keys of its own, because an entity that may
  // return is requested again, and can be forgotten again.
  const erasure = newId();
  const keyOf = (requestKey: string): string => digests.ofText(`${erasure} ${requestKey}`);
  const keys = await redactRequests(ops, requestsAboutEntity, search, keyOf, at);
  await renameQuestions(db, warehouse.schema, keys);
  await abandonMentions(ops, search, at);
  await sweep(db, warehouse, search, touched);
  await dropUnchanged(db, warehouse.schema, touched);
  await eraseFromDrift(ops, search, touched);
  await eraseFromJobs(db, warehouse, search, touched);
  for (const table of rootTables) {
    const ids = [...(touched.changed.get(table) ?? [])];
    if (ids.length > 0) await rehash(sqlExecutorOn(db, warehouse.schema), table, ids);
  }
  const counts = { rows, answers: done.touched.size, bodies: done.erased.size, requests: requestsAboutEntity.length };
  const banned = [
    digest,
    ...search.requestNames.map((name) => digests.ofName(target.table.name, name)),
    ...[...search.traces].flatMap(([trace, first]) => [digests.ofTrace(trace), digests.ofFirst(first)]),
  ];
  const receipt = dryRun
    ? null
    : await recordErasure(ops, { ...counts, table: target.table.name, digest, at, mayReturn }, [...new Set(banned)]);
  return { ...counts, wasForgotten, search, register, receipt };
}

/**
 * Returns the answers to these requests: those that serve them, and their own. A request can have two equal answers,
 * and then the earlier one wrote the rows.
 */
const answersTo = async (ops: Ops, requestsAboutEntity: readonly RequestRef[]): Promise<string[]> => {
  const requests = anyBigint(requestsAboutEntity.map(({ id }) => id));
  const rows = await ops
    .selectFrom('requests')
    .select('answer_id as id')
    .where('id', '=', requests)
    .where('answer_id', 'is not', null)
    .$narrowType<{ id: string }>()
    .union(ops.selectFrom('answers').select('id').where('request_id', '=', requests))
    .execute();
  return rows.map(({ id }) => id);
};

/** Bridge rows stay tied to their question, under the digest that now replaces its key in the ledger. */
async function renameQuestions(
  db: QueryExecutorProvider,
  schema: string,
  keys: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { name, questionKey } of bridgeTables)
    if (questionKey.includes('request_key') && keys.size > 0)
      await sql`update ${sql.id(schema, name)} b set request_key = k.is_now
        from ${renamedKeys(keys)} as k
        where b.request_key = k.was`.execute(db);
}

/**
 * Deletes the records of unknown fields whose path contains a name of the entity: a field can have the name of a person, as
 * in an index of people. The contract has all other names.
 */
async function eraseFromDrift(ops: Ops, { forgotten }: ErasureSearch, touched: TouchedRows): Promise<void> {
  const removed = await removeUnknownFields(ops, (_, path) => holdsName(path, forgotten));
  if (removed > 0) touched.note('drift', removed);
}

/** True if a field, or several in a row, have a name of the entity, since names contain dots. */
const holdsName = (fields: readonly string[], forgotten: Forgotten): boolean =>
  fields.some((_, start) =>
    fields.slice(start).some((_field, length) => {
      const name = fields.slice(start, start + length + 1).join('.');
      return cleanText(name, { forgotten }) !== name;
    }),
  );
