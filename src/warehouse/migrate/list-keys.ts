/**
 * The foreign keys from list tables to their owners. The loader writes the rows of a list in the transaction that inserts
 * or locks their owner, so these keys cannot fail, and checking each row takes much of the server's time. From Postgres 18
 * on, the keys are declared but not enforced, and a trigger for each list deletes its rows with their owner.
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { SchemaNames } from '../connect/connect.ts';
import { foreignKeysOf } from '../schema/ddl.ts';
import type { ChildTable, RootTable } from '../schema/table-types.ts';
import { rootTables } from '../schema/tables.ts';
import { literal, objectName, sameKey } from '../sql/identifiers.ts';
import { serverVersion } from '../sql/server-version.ts';
import type { SchemaFinding } from './finding.ts';

/** The first version of Postgres that has foreign keys without enforcement. */
const NOT_ENFORCED_FROM = 18;
const FUNCTION = 'delete_list_rows';

interface ListKey {
  readonly owner: RootTable;
  readonly list: ChildTable;
  /** The name of the foreign key. */
  readonly name: string;
  readonly trigger: string;
}

const listKeys: readonly ListKey[] = rootTables.flatMap((owner) =>
  owner.children.flatMap((list) =>
    foreignKeysOf(list)
      .filter(({ table, columns }) => table === owner.name && columns.join() === list.parentKey.join())
      .map(({ name }) => ({ owner, list, name, trigger: objectName(list.name, [], 'rows') })),
  ),
);

/** Ends the enforcement of all keys that the server still enforces. Does nothing before Postgres 18. */
export async function releaseListKeys(trx: QueryExecutorProvider, names: SchemaNames): Promise<void> {
  const live = await readListKeys(trx, names);
  const due = listKeys.filter(({ name }) => live.get(name)?.isEnforced === true);
  if (due.length > 0) await createFunction(trx, names.ops);
  for (const { owner, list, name, trigger } of due) {
    const [listTable, ownerTable] = [sql.id(names.schema, list.name), sql.id(names.schema, owner.name)];
    await sql`alter table ${listTable} alter constraint ${sql.id(name)} not enforced`.execute(trx);
    await sql`
      create or replace trigger ${sql.id(trigger)} after delete on ${ownerTable} referencing old table as deleted
      for each statement execute function ${sql.id(names.ops, FUNCTION)}(
        ${sql.raw(literal(list.name))}, ${sql.raw(literal(ownerCondition(owner, list, 'deleted')))})`.execute(trx);
    // Without any trigger on the list, Postgres refuses to truncate it together with its owner.
    await sql`
      create or replace trigger ${sql.id(trigger)} after truncate on ${listTable}
      for each statement execute function ${sql.id(names.ops, FUNCTION)}()`.execute(trx);
  }
  if (live.size === 0) await sql`drop function if exists ${sql.id(names.ops, FUNCTION)}`.execute(trx);
}

/** The condition under which a row `l` of the list belongs to a row of the relation, in SQL. */
const ownerCondition = ({ key }: RootTable, { parentKey }: ChildTable, relation: string): string =>
  sameKey('l', parentKey, relation, key);

/**
 * The function of the triggers; its arguments are the list table and the condition. It runs with the rights of its owner,
 * like the deletion that an enforced key causes, so only the owner may use it in a trigger.
 */
async function createFunction(trx: QueryExecutorProvider, ops: string): Promise<void> {
  const name = sql.id(ops, FUNCTION);
  await sql`
    create or replace function ${name}() returns trigger language plpgsql security definer
    set search_path to pg_catalog, pg_temp as $function$
    begin
      if tg_op = 'TRUNCATE' then
        return null;
      end if;
      execute format('delete from %I.%I l using deleted where %s', tg_table_schema, tg_argv[0], tg_argv[1]);
      return null;
    end
    $function$`.execute(trx);
  await sql`revoke all on function ${name}() from public`.execute(trx);
}

interface LiveKey {
  readonly name: string;
  readonly isEnforced: boolean;
  readonly triggers: readonly string[];
}

/** The keys of the existing list tables by name; empty before Postgres 18, where all are enforced. */
async function readListKeys(db: QueryExecutorProvider, { schema }: SchemaNames): Promise<ReadonlyMap<string, LiveKey>> {
  if ((await serverVersion(db)) < NOT_ENFORCED_FROM) return new Map();
  const { rows } = await sql<LiveKey>`
    select k.conname as name, k.conenforced as "isEnforced",
      array(select t.tgname::text from pg_trigger t where t.tgrelid = k.confrelid and not t.tgisinternal and t.tgenabled <> 'D') as triggers
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and k.contype = 'f' and k.conname = any (${listKeys.map(({ name }) => name)})`.execute(
    db,
  );
  return new Map(rows.map((it) => [it.name, it]));
}

/** Missing or disabled triggers, and rows of lists without an owner, for every key that the server does not enforce. */
export async function listKeyDrift(db: QueryExecutorProvider, names: SchemaNames): Promise<SchemaFinding[]> {
  const live = await readListKeys(db, names);
  const findings: SchemaFinding[] = [];
  for (const { owner, list, name, trigger } of listKeys) {
    const key = live.get(name);
    if (!key || key.isEnforced) continue;
    if (!key.triggers.includes(trigger))
      findings.push({
        schema: names.schema,
        relation: owner.name,
        part: trigger,
        kind: 'missing',
        message: `trigger ${trigger} is missing or disabled, so the rows of ${list.name} stay when their owner is deleted`,
      });
    const { rows } = await sql<{ count: string }>`
      select count(*) from ${sql.id(names.schema, list.name)} l where not exists (
        select from ${sql.id(names.schema, owner.name)} o where ${sql.raw(ownerCondition(owner, list, 'o'))})`.execute(
      db,
    );
    const count = rows[0]?.count ?? '0';
    if (count !== '0')
      findings.push({
        schema: names.schema,
        relation: list.name,
        part: name,
        kind: 'different',
        message: `foreign key ${name}: rows without a row in ${owner.name}: ${count}`,
      });
  }
  return findings;
}
