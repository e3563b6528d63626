/** Makes the tables equal to the rows of a rebuild, and changes only rows that differ. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { qualified, quoted, quotedList, sameKey } from '../../warehouse/sql/identifiers.ts';
import type { SchemaNames } from '../../warehouse/connect/connect.ts';
import { rootTables, tableNamed, tables } from '../../warehouse/schema/tables.ts';
import type { Table } from '../../warehouse/schema/table-types.ts';
import { errorCode } from '../../warehouse/sql/sql-states.ts';

/**
 * Deletes, inserts and updates rows until the tables of `schema` equal those of `built`. Columns that users added keep
 * their values. Views, triggers, indexes, grants and foreign keys of users stay, since nothing is dropped or truncated.
 * Readers are not blocked; writers wait for the end of the transaction. Throws a UsageError that names the losses if it
 * would delete rows that users added, filled or refer to.
 */
export async function mergeRebuilt(
  db: QueryExecutorProvider,
  { schema, ops }: SchemaNames,
  built: string,
): Promise<void> {
  const losses = [
    ...(await lostRows(db, { schema, ops }, built)),
    ...(await lostValues(db, schema, built)),
    ...(await lostReferences(db, schema, built)),
  ];
  if (losses.length > 0)
    throw new UsageError(
      `The rebuild would delete rows that it cannot restore or that other tables use: ${losses.join('; ')}.`,
      {
        next: 'Nothing was changed. Copy or remove these values and references first, or run sluice replay without --rebuild, which deletes no row.',
      },
    );
  try {
    for (const table of tables.toReversed()) await run(db, deleteGone(table, schema, built));
    for (const table of tables) {
      await run(db, insertNew(table, schema, built));
      const update = updateChanged(table, schema, built);
      if (update !== undefined) await run(db, update);
    }
  } catch (error) {
    if (!(error instanceof Error) || !REFUSED.test(errorCode(error) ?? '')) throw error;
    throw new UsageError(`A constraint or trigger refuses the rows of the rebuild: ${error.message}.`, {
      next: 'Nothing was changed. Change or drop that constraint or trigger, then run the command again.',
      cause: error,
    });
  }
}

/** Violations of constraints and triggers. Only users can have added them, since the built rows satisfy ours. */
const REFUSED = /^(?:23|P0001)/;

/** Locks the tables against writers, but not against readers. */
export const lockTables = (db: QueryExecutorProvider, schema: string): Promise<unknown> =>
  run(db, `lock table ${tables.map(({ name }) => `only ${qualified(schema, name)}`).join(', ')} in exclusive mode`);

const run = (db: QueryExecutorProvider, statement: string): Promise<unknown> => sql.raw(statement).execute(db);

/** `only`: excludes rows of user tables that inherit from ours. */
const live = (schema: string, { name }: Table): string => `only ${qualified(schema, name)} l`;
const rebuilt = (built: string, { name }: Table): string => `${qualified(built, name)} b`;
const isGone = (table: Table, built: string): string =>
  `not exists (select from ${rebuilt(built, table)} where ${sameKey('b', table.key, 'l')})`;

const deleteGone = (table: Table, schema: string, built: string): string =>
  `delete from ${live(schema, table)} where ${isGone(table, built)}`;

function insertNew(table: Table, schema: string, built: string): string {
  const names = table.columns.map(({ name }) => name);
  return `insert into ${qualified(schema, table.name)} (${quotedList(names)})
    select ${names.map((name) => `b.${quoted(name)}`).join(', ')} from ${rebuilt(built, table)}
    where not exists (select from ${live(schema, table)} where ${sameKey('b', table.key, 'l')})`;
}

/** Compares binary images, not values: 1.0 and 1 are equal as jsonb, but differ for readers. */
function updateChanged(table: Table, schema: string, built: string): string | undefined {
  const names = table.columns.map(({ name }) => name).filter((name) => !table.key.includes(name));
  if (names.length === 0) return undefined;
  const row = (of: string): string =>
    `(select x from (select ${names.map((it) => `${of}.${quoted(it)}`).join(', ')}) x)`;
  return `update ${live(schema, table)} set ${names.map((it) => `${quoted(it)} = b.${quoted(it)}`).join(', ')}
    from ${rebuilt(built, table)} where ${sameKey('b', table.key, 'l')} and ${row('b')} *<> ${row('l')}`;
}

/** Rows without a stored answer, such as rows that users added. */
async function lostRows(db: QueryExecutorProvider, { schema, ops }: SchemaNames, built: string): Promise<string[]> {
  const losses: string[] = [];
  for (const table of rootTables) {
    const isStored = `exists (select from ${quoted(ops)}.answers a where a.id = l._answer_id and a.body is not null)`;
    const count = await countOf(db, `${live(schema, table)} where not ${isStored} and ${isGone(table, built)}`);
    if (count > 0) losses.push(`${counted(count)} of ${schema}.${table.name} without a stored answer`);
  }
  return losses;
}

/** Values in user-added columns of rows that would be deleted. */
async function lostValues(db: QueryExecutorProvider, schema: string, built: string): Promise<string[]> {
  const losses: string[] = [];
  for (const table of tables) {
    const { rows: columns } = await sql<{ name: string }>`
      select attname as name from pg_attribute
      where attrelid = to_regclass(${qualified(schema, table.name)}) and attnum > 0 and not attisdropped
        and attgenerated = '' and attname <> all(${arrayLiteral(table.columns.map(({ name }) => name))}::text[])
      order by attnum`.execute(db);
    for (const { name } of columns) {
      const count = await countOf(
        db,
        `${live(schema, table)} where l.${quoted(name)} is not null and ${isGone(table, built)}`,
      );
      if (count > 0)
        losses.push(`${counted(count)} of ${schema}.${table.name} with a value in the added column ${name}`);
    }
  }
  return losses;
}

interface UserKey {
  readonly constraint: string;
  readonly from: string;
  readonly to: string;
  readonly columns: readonly string[];
  readonly references: readonly string[];
}

/** Rows of user tables that refer to rows that would be deleted; a cascade would delete or change them. */
async function lostReferences(db: QueryExecutorProvider, schema: string, built: string): Promise<string[]> {
  const losses: string[] = [];
  const ours = arrayLiteral(tables.map(({ name }) => name));
  const { rows: keys } = await sql<UserKey>`
    select k.conname as constraint, k.conrelid::regclass::text as "from", t.relname as "to",
      array(select a.attname::text from unnest(k.conkey) with ordinality as c(at, place)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.at order by c.place) as columns,
      array(select a.attname::text from unnest(k.confkey) with ordinality as c(at, place)
        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = c.at order by c.place) as references
    from pg_constraint k
    join pg_class t on t.oid = k.confrelid
    join pg_namespace n on n.oid = t.relnamespace
    join pg_class f on f.oid = k.conrelid
    where k.contype = 'f' and n.nspname = ${schema} and t.relname = any(${ours}::text[])
      and not (f.relnamespace = n.oid and f.relname = any(${ours}::text[]))
    order by 2, 1`.execute(db);
  for (const { constraint, from, to, columns, references } of keys) {
    const table = tableNamed(to);
    if (!table) continue;
    const joined = `${from} f join ${live(schema, table)} on ${sameKey('f', columns, 'l', references)}`;
    const count = await countOf(db, `${joined} where ${isGone(table, built)}`);
    if (count > 0) losses.push(`${counted(count)} of ${from} that ${constraint} ties to ${schema}.${to}`);
  }
  return losses;
}

const counted = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;

async function countOf(db: QueryExecutorProvider, from: string): Promise<number> {
  const { rows } = await sql.raw<{ n: string }>(`select count(*) as n from ${from}`).execute(db);
  return Number(rows[0]?.n);
}
