/** Keeps the analyst views equal to their declarations: a view is replaced when the checksum of its query changes. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { digestOf } from '../../service/canonical-json.ts';
import type { SchemaNames } from '../connect/connect.ts';
import { maskedSchema, maskedViewNames } from '../masking/masked-views.ts';
import { views, viewsByDependency } from '../schema/views/views.ts';
import type { View } from '../schema/views/view.ts';
import { arrayLiteral } from '../sql/array-literal.ts';
import { attempt } from '../sql/attempt.ts';
import { relationExists } from '../sql/relation-exists.ts';
import { quoted } from '../sql/identifiers.ts';
import { APPLIED_VIEWS } from './views-current.ts';
import { SQL_STATE } from '../sql/sql-states.ts';

/** The query names a table, column or function that does not exist. */
const MISSING = [SQL_STATE.undefinedTable, SQL_STATE.undefinedColumn, SQL_STATE.undefinedFunction];
/** The existing columns of the view change. */
export const OTHER_COLUMNS = [SQL_STATE.invalidTableDefinition];
/** Another object depends on what a statement drops or changes. */
const DEPENDENTS = [SQL_STATE.dependentObjectsStillExist, SQL_STATE.featureNotSupported];

const checksumOf = ({ query }: View): string => digestOf(query);

/** The digest of all declared views, as `VIEWS_DIGEST` must have it. */
export const viewsDigest = (): string =>
  digestOf(
    views
      .map((it) => `${it.name} ${checksumOf(it)}`)
      .toSorted()
      .join(','),
  );

interface CreatedView {
  readonly name: string;
  readonly checksum: string;
  readonly exists: boolean;
}

async function createdViews(
  db: QueryExecutorProvider,
  { schema, ops }: SchemaNames,
): Promise<ReadonlyMap<string, CreatedView>> {
  const { rows } = await sql<CreatedView>`
    select v.name, v.checksum, exists (
      select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = v.name and c.relkind = 'v'
    ) as exists
    from ${sql.id(ops, APPLIED_VIEWS)} v`.execute(db);
  return new Map(rows.map((it) => [it.name, it]));
}

/**
 * Creates the missing views and replaces those whose query changed. A view whose existing columns change is dropped and
 * created again with our views that depend on it; this fails if objects of users depend on them. With `mayLackTables`,
 * a view is left out if its query names what does not exist.
 */
export async function applyViews(
  trx: QueryExecutorProvider,
  names: SchemaNames,
  { mayLackTables }: { readonly mayLackTables: boolean },
): Promise<void> {
  await createChecksumTable(trx, names.ops);
  await dropUndeclared(trx, names);
  const created = await createdViews(trx, names);
  const isCurrent = (it: View): boolean =>
    created.get(it.name)?.exists === true && created.get(it.name)?.checksum === checksumOf(it);
  const outdated = new Set(views.filter((it) => !isCurrent(it)).map(({ name }) => name));
  if (outdated.size === 0) return;
  await sql`set local search_path to ${sql.id(names.schema)}, ${sql.id(names.ops)}, pg_temp`.execute(trx);
  const replace = (view: View) => sql.raw(`create or replace view ${quoted(view.name)} as ${view.query}`).execute(trx);
  const applied: View[] = [];
  for (const view of viewsByDependency()) {
    if (!outdated.has(view.name)) continue;
    const done = await attempt(trx, mayLackTables ? MISSING : [], async () => {
      if (await attempt(trx, OTHER_COLUMNS, () => replace(view))) return;
      const dropped = await withDependents(trx, names.schema, view);
      await dropViews(trx, names.schema, dropped);
      for (const name of dropped) outdated.add(name);
      await replace(view);
    });
    if (done) applied.push(view);
  }
  await recordChecksums(trx, names.ops, applied);
}

/** Does the work. If our views are in its way, drops all of them first, so that only objects of users can prevent it. */
export async function withViewsOutOfTheWay<T>(
  trx: QueryExecutorProvider,
  schema: string,
  work: () => Promise<T>,
): Promise<T> {
  const done = await attempt(trx, DEPENDENTS, work);
  if (done) return done.value;
  const names = views.map(({ name }) => name);
  await dropViews(trx, schema, names, maskedViewNames());
  return work();
}

/** Creates the table if it does not exist. The check comes first, because a statement would require a right. */
async function createChecksumTable(trx: QueryExecutorProvider, ops: string): Promise<void> {
  if (await relationExists(trx, ops, APPLIED_VIEWS)) return;
  await sql`create table ${sql.id(ops, APPLIED_VIEWS)} (name text primary key, checksum text not null)`.execute(trx);
}

async function recordChecksums(trx: QueryExecutorProvider, ops: string, applied: readonly View[]): Promise<void> {
  await sql`
    insert into ${sql.id(ops, APPLIED_VIEWS)} as v (name, checksum)
    select * from unnest(
      ${arrayLiteral(applied.map(({ name }) => name))}::text[], ${arrayLiteral(applied.map(checksumOf))}::text[]
    )
    on conflict (name) do update set checksum = excluded.checksum where v.checksum <> excluded.checksum`.execute(trx);
}

/** Drops the views that an earlier version declared. */
async function dropUndeclared(trx: QueryExecutorProvider, { schema, ops }: SchemaNames): Promise<void> {
  const declared = arrayLiteral(views.map(({ name }) => name));
  const { rows } = await sql<{ name: string }>`
    delete from ${sql.id(ops, APPLIED_VIEWS)} where name <> all (${declared}::text[]) returning name`.execute(trx);
  await dropViews(
    trx,
    schema,
    rows.map(({ name }) => name),
  );
}

/** Drops those of the views that exist, and of the masked views. Fails if other objects depend on them. */
async function dropViews(
  trx: QueryExecutorProvider,
  schema: string,
  names: readonly string[],
  masked: readonly string[] = names,
): Promise<void> {
  if (names.length === 0) return;
  const all = [
    ...names.map((name) => sql.id(schema, name)),
    ...masked.map((name) => sql.id(maskedSchema(schema), name)),
  ];
  await sql`drop view if exists ${sql.join(all)}`.execute(trx);
}

/** The names of the view and of our existing views that depend on it. */
async function withDependents(trx: QueryExecutorProvider, schema: string, { name }: View): Promise<string[]> {
  const declared = arrayLiteral(views.map((it) => it.name));
  const { rows } = await sql<{ name: string }>`
    with recursive dependent (oid) as (
      select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relname = ${name}
      union
      select r.ev_class from dependent d
      join pg_depend p on p.refclassid = 'pg_class'::regclass and p.refobjid = d.oid and p.classid = 'pg_rewrite'::regclass
      join pg_rewrite r on r.oid = p.objid
    )
    select c.relname as name from dependent join pg_class c using (oid) join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = any (${declared}::text[])`.execute(trx);
  return rows.map((it) => it.name);
}
