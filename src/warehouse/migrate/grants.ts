/** Prints or applies the statements that create a role with read access to the analyst tables, or to their masked views. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { Secret } from '../../config/values/secret.ts';
import type { SchemaNames, Warehouse } from '../connect/connect.ts';
import { MASKING_KEYS, maskedSchema, maskedViews } from '../masking/masked-views.ts';
import { literal, qualified, quoted } from '../sql/identifiers.ts';
import { SQL_STATE, errorCode } from '../sql/sql-states.ts';

/** Limit in bytes. Postgres truncates longer names silently. */
const LONGEST_NAME = 63;
/** SchemaNames that have another meaning in a grant, even in quotes. */
const RESERVED = ['public', 'none'];

/**
 * The statements that let the role read all analyst tables and views, including those that these owners create later.
 * The role may neither write nor see the operations schema. The statements are idempotent. Without owners, later tables
 * are those that the executing user creates. Throws a UsageError for an invalid name of a role.
 */
export function grantStatements({ schema, ops }: SchemaNames, role: string, owners: readonly string[] = []): string[] {
  refuseName(role);
  const reader = quoted(role);
  const analyst = quoted(schema);
  const later = `in schema ${analyst} grant select on tables to ${reader}`;
  return [
    createRole(role),
    `revoke all on schema ${quoted(ops)} from ${reader}`,
    `revoke all on all tables in schema ${quoted(ops)} from ${reader}`,
    `revoke all on schema ${analyst} from ${reader}`,
    `revoke all on all tables in schema ${analyst} from ${reader}`,
    `grant usage on schema ${analyst} to ${reader}`,
    `grant select on all tables in schema ${analyst} to ${reader}`,
    ...(owners.length === 0
      ? [`alter default privileges ${later}`]
      : owners.map((owner) => `alter default privileges for role ${quoted(owner)} ${later}`)),
  ];
}

/** The session setting from which the statements take the masking key. */
const KEY_SETTING = 'sluice.masking_key';
/** The fewest characters of a masking key: a shorter one could be found by trying. */
export const SHORTEST_KEY = 16;

/**
 * The statements that create the masked views and let the role read these only. They read the masking key from the
 * session setting `sluice.masking_key`, so that they do not contain it. They are idempotent; another key changes all
 * hashes. Throws a UsageError for an invalid name of a role or schema.
 */
export function maskedGrantStatements(
  { schema, ops }: SchemaNames,
  role: string,
  owners: readonly string[] = [],
): string[] {
  refuseName(role);
  const reader = quoted(role);
  const masked = quoted(maskedSchema(schema));
  if (Buffer.byteLength(maskedSchema(schema)) > LONGEST_NAME)
    throw new UsageError(`The name ${maskedSchema(schema)} of the masked schema is too long.`, {
      next: `Choose a warehouse.schema of at most ${LONGEST_NAME - Buffer.byteLength(maskedSchema(''))} bytes.`,
    });
  const forOwners = owners.length === 0 ? [''] : owners.map((owner) => ` for role ${quoted(owner)}`);
  return [
    createRole(role),
    `create schema if not exists ${masked}`,
    ...maskedViews({ schema, ops }).flatMap(({ statements }) => statements),
    `do $key$ begin if length(current_setting('${KEY_SETTING}')) < ${SHORTEST_KEY} then raise exception 'the setting ${KEY_SETTING} has fewer than ${SHORTEST_KEY} characters'; end if; end $key$`,
    `insert into ${qualified(ops, MASKING_KEYS)} (id, key) values (1, sha256(convert_to(current_setting('${KEY_SETTING}'), 'UTF8'))) on conflict (id) do update set key = excluded.key`,
    ...[ops, schema].flatMap((it) => [
      `revoke all on schema ${quoted(it)} from ${reader}`,
      `revoke all on all tables in schema ${quoted(it)} from ${reader}`,
    ]),
    ...forOwners.map(
      (it) => `alter default privileges${it} in schema ${quoted(schema)} revoke select on tables from ${reader}`,
    ),
    `grant usage on schema ${masked} to ${reader}`,
    `grant select on all tables in schema ${masked} to ${reader}`,
    ...forOwners.map((it) => `alter default privileges${it} in schema ${masked} grant select on tables to ${reader}`),
  ];
}

/** A block that creates the role if it does not exist, because Postgres has no `create role if not exists`. */
function createRole(role: string): string {
  let tag = '$reader$';
  while (role.includes(tag)) tag = `$${tag.slice(1, -1)}r$`;
  const there = `select from pg_roles where rolname = ${literal(role)}`;
  return `do ${tag} begin if not exists (${there}) then create role ${quoted(role)} nologin; end if; end ${tag}`;
}

function refuseName(role: string): void {
  const bytes = Buffer.byteLength(role);
  if (bytes > 0 && bytes <= LONGEST_NAME && !/^pg_|\0/.test(role) && !RESERVED.includes(role)) return;
  throw new UsageError(`${JSON.stringify(role)} is not a valid name of a role`, {
    next: `Choose a name of 1 to ${LONGEST_NAME} bytes that is not reserved, such as sluice_reader.`,
  });
}

/**
 * Creates the role in one transaction and returns the executed statements. With a masking key, the role reads only the
 * masked views. Throws a UsageError if the role could write or read all anyway, if one for masked views could read more, if a
 * right is missing, and for an embedded warehouse, which allows no log-in.
 */
export async function applyGrants(
  { kind, db, ...names }: Pick<Warehouse, 'kind' | 'db' | 'schema' | 'ops'>,
  role: string,
  maskingKey?: Secret,
): Promise<string[]> {
  refuseName(role);
  if (kind === 'embedded')
    throw new UsageError('An embedded warehouse has one user, and no other role can log in.', {
      next: 'Read it with sluice query, or use a warehouse on a server.',
    });
  try {
    return await db.transaction().execute(async (tx) => {
      const owners = await ownersOf(tx, names);
      await refuseWriter(tx, role, owners);
      if (maskingKey) await sql`select set_config(${KEY_SETTING}, ${maskingKey.reveal()}, true)`.execute(tx);
      const statements = maskingKey ? maskedGrantStatements(names, role, owners) : grantStatements(names, role, owners);
      await sql.raw(statements.join(';\n')).execute(tx);
      if (maskingKey) await refuseReader(tx, names, role);
      return statements;
    });
  } catch (error) {
    if (errorCode(error) !== SQL_STATE.insufficientPrivilege) throw error;
    throw new UsageError(`This user lacks a right: ${(error as Error).message}.`, {
      next: 'Let an administrator run the statements that sluice grants prints.',
      cause: error,
    });
  }
}

/** The owners of the existing tables, who are expected to create the later ones too. */
async function ownersOf(db: QueryExecutorProvider, { schema }: SchemaNames): Promise<string[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct pg_get_userbyid(c.relowner)::text as owner
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind in ('r', 'p', 'v') order by 1`.execute(db);
  return rows.map(({ owner }) => owner);
}

/** Roles of Postgres whose members reach all data, whatever is revoked from them. */
const REACHES_ALL_DATA = [
  'pg_write_all_data',
  'pg_read_all_data',
  'pg_write_server_files',
  'pg_read_server_files',
  'pg_execute_server_program',
];

/** Refuses a superuser, an owner of tables, and a member of a role that reaches all data: their rights cannot be revoked. */
async function refuseWriter(db: QueryExecutorProvider, role: string, owners: readonly string[]): Promise<void> {
  const { rows } = await sql<{ writes: boolean; groups: string | null }>`
    select r.rolsuper or exists (
        select from pg_roles o where o.rolname = any(${owners}) and pg_has_role(r.oid, o.oid, 'member')) as writes,
      (select string_agg(o.rolname, ', ' order by o.rolname) from pg_roles o
        where o.rolname = any(${REACHES_ALL_DATA}) and pg_has_role(r.oid, o.oid, 'member')) as groups
    from pg_roles r where r.rolname = ${role}`.execute(db);
  const [found] = rows;
  if (found?.writes)
    throw new UsageError(`The role ${role} is a superuser or owns the tables, so it could write anyway.`, {
      next: 'Choose another role with --role. A role that does not exist is created.',
    });
  if (found && found.groups !== null)
    throw new UsageError(
      `The role ${role} is a member of ${found.groups}, so it could read or write all data anyway.`,
      {
        next: `Let an administrator revoke ${found.groups} from it or from the role through which it is a member, or choose another role with --role.`,
      },
    );
}

/** Refuses a role that could read personal data in another way, such as through PUBLIC or another role. */
async function refuseReader(db: QueryExecutorProvider, { schema, ops }: SchemaNames, role: string): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in (${schema}, ${ops}) and c.relkind in ('r', 'p', 'v', 'm')
      and has_schema_privilege(${role}, n.oid, 'usage') and has_any_column_privilege(${role}, c.oid, 'select')
    order by 1`.execute(db);
  const [first] = rows;
  if (!first) return;
  throw new UsageError(
    `The role ${role} can still read ${rows.length} tables and views with personal data, such as ${first.name}, through PUBLIC or another role.`,
    { next: 'Revoke these rights, or choose another role with --role. Nothing was changed.' },
  );
}
