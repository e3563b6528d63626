/** Renews the digests that change logs hold in place of long texts, after an erasure rewrote the texts. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { decode } from '../../normalize/decode.ts';
import { isObject } from '../../normalize/scope.ts';
import { digestOf } from '../../service/canonical-json.ts';
import { endpointNamed } from '../../service/catalog.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { rowsFrom } from '../../warehouse/sql/rows-from.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import type { StoredAnswer } from '../../ledger/answers.ts';
import { executeNoted, type TouchedRows } from './tables.ts';

/** The digest of a text before the erasure, with the digest of the text that replaced it. */
export type RenewedDigests = Map<string, string>;

/** Notes the rewritten texts of an answer whose changes are logged as digests. `left` is the body without the entity. */
export function noteRewritten(renewed: RenewedDigests, { endpoint, body }: StoredAnswer, left: Uint8Array): void {
  const fields = endpointNamed(endpoint)?.returns.digested ?? [];
  if (fields.length === 0) return;
  const after = itemsOf(left);
  for (const [position, item] of itemsOf(body).entries())
    for (const field of fields) {
      const was = textIn(item, field);
      const is = textIn(after[position], field);
      if (was !== undefined && is !== undefined && was !== is) renewed.set(digestOf(was), digestOf(is));
    }
}

/**
 * Replaces the noted digests in the change logs, so that a rebuild writes the same lines. The digest of a text whose answer
 * was pruned stays.
 */
export async function renewDigests(
  db: QueryExecutorProvider,
  schema: string,
  renewed: RenewedDigests,
  touched: TouchedRows,
): Promise<void> {
  if (renewed.size === 0) return;
  const digests = rowsFrom([...renewed.keys()], {
    was: ['text', (digest) => digest],
    is_now: ['text', (digest) => presentDigest(renewed, digest)],
  });
  for (const { changes } of rootTables) {
    if (!changes || changes.digested.length === 0) continue;
    const log = sql.id(schema, changes.name);
    const isDigest = sql`attribute = any(${arrayLiteral(changes.digested)}::text[])`;
    const write = sql`
      with renewed as (select * from ${digests} as d)
      update ${log} c set
        from_value = coalesce((select is_now from renewed where was = c.from_value), c.from_value),
        to_value = coalesce((select is_now from renewed where was = c.to_value), c.to_value)
      where ${isDigest} and exists (select from renewed where was in (c.from_value, c.to_value))`;
    await executeNoted(db, touched, changes.name, write);
  }
}

/** An erasure reads the answers again when it finds another name, so a text can be rewritten several times. */
function presentDigest(renewed: RenewedDigests, digest: string): string {
  const next = renewed.get(digest);
  return next === undefined ? digest : presentDigest(renewed, next);
}

function itemsOf(body: Uint8Array): readonly unknown[] {
  const decoded = decode(body);
  return decoded.kind === 'items' ? decoded.items : [];
}

function textIn(item: unknown, field: string): string | undefined {
  const value = isObject(item) ? item[field] : undefined;
  return typeof value === 'string' ? value : undefined;
}
