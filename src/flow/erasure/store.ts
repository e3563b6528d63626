/** The forgotten entities, stored only as salted digests, and the receipts of erasures. */
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { type Forgotten, pseudonymOf, nameVariants } from '../../service/names/forgotten.ts';
import { memoizeByText, scrubberByDigests, traceOf, wholeTraces } from '../../service/names/traces.ts';
import { urnOf } from '../../service/names/urn.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';

/** Digests of keys and names with one warehouse's salt. */
export interface Digester {
  readonly ofKey: (table: string, key: readonly string[]) => string;
  readonly ofName: (table: string, name: string) => string;
  /** Digests a text that identifies the entity anywhere, and the first word of such a text. */
  readonly ofTrace: (text: string) => string;
  readonly ofFirst: (word: string) => string;
  /** Digests any other text about the entity, such as the key of a request for it. */
  readonly ofText: (text: string) => string;
}

const ONLY = '1';

/**
 * Returns digests with the warehouse's salt; `random` creates the salt if there is none. Undefined if there is no salt
 * and no `random`.
 */
export async function digester(ops: Ops, random?: () => Uint8Array): Promise<Digester | undefined> {
  if (random) {
    const salt = { id: ONLY, salt: random() };
    await ops
      .insertInto('erasure_salts')
      .values(salt)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const row = await ops.selectFrom('erasure_salts').select('salt').where('id', '=', ONLY).executeTakeFirst();
  return row && digesterOf(row.salt);
}

const digesterOf = (salt: Uint8Array): Digester => {
  const digestOf = memoizeByText((text) => createHmac('sha256', salt).update(text).digest('hex'));
  const digest = (...parts: readonly string[]): string => digestOf(JSON.stringify(parts));
  return {
    ofKey: (table, key) => digest('key', table, ...key),
    ofName: (table, name) => digest('name', table, name),
    ofTrace: (text) => digest('trace', text),
    ofFirst: (word) => digest('first', word),
    ofText: (text) => digest('text', text),
  };
};

/** Returns the rules that later answers and plans are checked against; undefined while nothing is forgotten. */
export async function readForgotten(ops: Ops): Promise<Forgotten | undefined> {
  const rows = await ops
    .selectFrom('forgotten as f')
    .innerJoin('erasures as e', 'e.id', 'f.erasure_id')
    .select(['f.digest', 'e.digest as entity'])
    .orderBy('e.id', 'desc')
    .execute();
  if (rows.length === 0) return undefined;
  const digests = await digester(ops);
  if (!digests) throw new Error('the salt of the erasure digests is missing');
  // The first erasure replaced a name that several entities had.
  const known = new Map(rows.map(({ digest, entity }) => [digest, entity]));
  const pseudonymFor = (name: string): string => {
    const entity = digestsOfName(digests, name).flatMap((digest) => known.get(digest) ?? [])[0];
    return pseudonymOf(entity ?? '');
  };
  const traces = {
    isFirst: memoizeByText((word) => known.has(digests.ofFirst(word))),
    isTrace: (text: string) => known.has(digests.ofTrace(text)),
  };
  return {
    isKey: (table, key) => known.has(digests.ofKey(table, key)),
    isName: (table, text) => nameVariants(text).some((name) => known.has(digests.ofName(table, name))),
    isTrace: wholeTraces(traces),
    scrub: scrubberByDigests(traces, pseudonymFor),
    pseudonymFor,
  };
}

/** The digests of what a text can name: a trace, a name in a table, or a URN. */
function digestsOfName({ ofTrace, ofName, ofKey }: Digester, name: string): readonly string[] {
  const urn = urnOf(name);
  const spellings = nameVariants(name);
  return [
    ofTrace(traceOf(name)?.trace ?? ''),
    ...rootTables.flatMap((table) => [
      ...spellings.map((spelling) => ofName(table.name, spelling)),
      ...(urn ? [ofKey(table.name, [urn.type, urn.value])] : []),
    ]),
  ];
}

/** How much an erasure removed. */
export interface ErasureCounts {
  /** Deleted or changed rows, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** Stored answers from which the entity was removed. */
  readonly answers: number;
  /** The touched answers that could not be read, so their complete body was removed. */
  readonly bodies: number;
  /** Requests for the entity in the ledger. */
  readonly requests: number;
}

/** A receipt before it is written. */
export interface Erasure extends ErasureCounts {
  readonly table: string;
  readonly digest: string;
  readonly at: Date;
  readonly mayReturn: boolean;
}

/**
 * Writes the receipt and the digests that later answers must not bring back. They replace an earlier ban on the same
 * key.
 */
export async function recordErasure(ops: Ops, erasure: Erasure, digests: readonly string[]): Promise<string> {
  const earlier = ops.selectFrom('erasures').select('id').where('digest', '=', erasure.digest);
  if (erasure.mayReturn) await ops.deleteFrom('forgotten').where('erasure_id', 'in', earlier).execute();
  const { id } = await ops
    .insertInto('erasures')
    .values({
      table_name: erasure.table,
      digest: erasure.digest,
      erased_at: erasure.at.toISOString(),
      row_counts: sql`${JSON.stringify(erasure.rows)}::jsonb`,
      answers: erasure.answers,
      bodies: erasure.bodies,
      requests: erasure.requests,
      comes_again: erasure.mayReturn,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (!erasure.mayReturn)
    await ops
      .insertInto('forgotten')
      .columns(['digest', 'erasure_id'])
      .expression(sql`select d, ${id}::bigint from unnest(${arrayLiteral(digests)}::text[]) as u(d)`)
      .execute();
  return id;
}

/** True if an erasure of the key with this digest is recorded. */
export async function wasErased(ops: Ops, digest: string): Promise<boolean> {
  const row = await ops.selectFrom('erasures').select('id').where('digest', '=', digest).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Adds the number of touched spool files to a receipt. */
export async function recordSpooled(ops: Ops, id: string, spooled: number): Promise<void> {
  await ops.updateTable('erasures').set({ spooled }).where('id', '=', id).execute();
}
