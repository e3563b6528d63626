/** Removes what `extra` says of an erased entity: the fields of its object that the contract does not have. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { withoutPath } from '../../normalize/scope.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { parseExact } from '../../service/exact-json.ts';

/** A column with the text of `extra`: the column itself, or a value of a logged change. */
type ExtraColumn = 'extra' | 'from_value' | 'to_value';

/** Removes the object at `path` from `extra` in these rows of a table, or from its logged changes. */
export async function eraseExtra(
  db: QueryExecutorProvider,
  { schema, name }: { readonly schema: string; readonly name: string },
  columns: readonly ExtraColumn[],
  path: readonly string[],
  where: RawBuilder<unknown>,
): Promise<void> {
  const texts = columns.map((it) => sql`c.${sql.ref(it)}::text as ${sql.ref(it)}`);
  const { rows } = await sql<Readonly<Record<string, string | null>>>`
    select c.ctid::text as at, ${sql.join(texts)} from ${sql.id(schema, name)} c
    where (${where}) and num_nonnulls(${sql.join(columns.map((it) => sql`c.${sql.ref(it)}`))}) > 0`.execute(db);
  for (const row of rows) {
    const sets = columns.flatMap((it) => {
      const text = row[it] ?? null;
      const after = textWithout(text, path);
      const type = sql.raw(it === 'extra' ? 'jsonb' : 'text');
      return after === text ? [] : [sql`${sql.ref(it)} = ${after}::text::${type}`];
    });
    if (sets.length > 0)
      await sql`update ${sql.id(schema, name)} set ${sql.join(sets)} where ctid = ${row['at']}::tid`.execute(db);
  }
}

/** The text without the object at the path, or the identical text if it has none; null if nothing else is in it. */
function textWithout(text: string | null, path: readonly string[]): string | null {
  if (text === null) return null;
  const before = parseExact(text);
  const after = withoutPath(before, path);
  if (after === undefined) return null;
  return after === before ? text : canonicalJson(after);
}
