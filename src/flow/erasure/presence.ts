/** Removes an entity from the recorded contents of answers, where hashes of keys stand for entities. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { entityHashSql, hashesIn, hashOfEntity } from '../../warehouse/schema/entity-hash.ts';
import { referenceColumnNames } from '../../warehouse/schema/references.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { anyBigint, arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { literal } from '../../warehouse/sql/identifiers.ts';
import type { SchemaNames } from '../../warehouse/connect/connect.ts';
import { type ErasureTarget } from './target.ts';

const PLACES = ['item', 'nested'] as const;

/** Rows of an owner are known by their position; no answer has as many. */
const MOST_POSITIONS = 10_000;

/**
 * Removes the hashes of the entity, of the rows that it owns, and of the rows that `answers` produced from requests for
 * it. Call it before these rows are deleted.
 */
export async function eraseFromPresence(
  db: QueryExecutorProvider,
  { schema, ops }: SchemaNames,
  { table, key }: ErasureTarget,
  answers: readonly string[],
): Promise<void> {
  const own = PLACES.map((place) => hashOfEntity(table, place, key.join('\0')));
  const asOwner = referenceColumnNames(table.resource.noun, table.key);
  const hashes = [
    sql`select decode(u.hex, 'hex') from unnest(${arrayLiteral(own)}::text[]) as u(hex)`,
    ...rootTables.flatMap((other) => {
      if (other.resource.owner?.join() !== asOwner.join()) return [];
      const valueOf = (name: string): string => {
        const part = asOwner.indexOf(name);
        return part < 0 ? 'n' : literal(key[part] ?? '');
      };
      return [
        sql`select ${sql.raw(entityHashSql(other, 'item', valueOf))} from generate_series(0, ${sql.lit(MOST_POSITIONS)}) as n`,
      ];
    }),
    ...rootTables
      .filter(({ key: names, resource }) => names.some((name) => resource.fields[name]?.shape === 'given'))
      .map(
        (other) =>
          sql`select ${sql.raw(entityHashSql(other, 'item'))} from ${sql.id(schema, other.name)} t
            where t._answer_id = ${anyBigint(answers)}`,
      ),
  ];
  const erased = sql`erased (key) as materialized (${sql.join(hashes, sql` union all `)})`;
  await sql`with ${erased} delete from ${sql.id(ops, 'left_entities')} where key in (select key from erased)`.execute(
    db,
  );
  const hashesOf = sql.raw(hashesIn('q.keys'));
  await sql`with ${erased} update ${sql.id(ops, 'question_contents')} q
    set keys = (select coalesce(string_agg(h.key, '' order by h.key), '') from (${hashesOf}) as h(key) where h.key not in (select key from erased))
    where exists (select from (${hashesOf}) as h(key) where h.key in (select key from erased))`.execute(db);
}
