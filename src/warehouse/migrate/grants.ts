/** Prints or applies the statements that create a role with read access to the analyst tables only. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../connect/connect.ts';
import { literal, quoted } from '../sql/identifiers.ts';
import { errorCode } from '../sql/errors.ts';

type Names = Pick<Warehouse, 'schema' | 'ops'>;

/** Limit in bytes. Postgres truncates longer names silently. */
const LONGEST_NAME = 63;
/** Names that have another meaning in a grant, even in quotes. */
const RESERVED = ['public', 'none'];

/**
 * The statements that let the role read all analyst tables and views, including those that these owners create later.
 * The role may neither write nor see the operations schema. The statements are idempotent. Without owners, later tables
 * are those that the executing user creates. Throws a UsageError for an invalid name of a role.
 */
export function grantStatements({ schema, ops }: Names, role: string, owners: readonly string[] = []): string[] {
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
 * Creates the role in one transaction and returns the executed statements. Throws a UsageError if the role could write
 * anyway, if a right is missing, and for an embedded warehouse, which allows no log-in.
 */
export async function applyGrants(
  { kind, db, ...names }: Pick<Warehouse, 'kind' | 'db' | 'schema' | 'ops'>,
  role: string,
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
      const statements = grantStatements(names, role, owners);
      for (const statement of statements) await sql.raw(statement).execute(tx);
      return statements;
    });
  } catch (error) {
    if (errorCode(error) !== '42501') throw error;
    throw new UsageError(`This user lacks a right: ${(error as Error).message}.`, {
      next: 'Let an administrator run the statements that sluice grants prints.',
      cause: error,
    });
  }
}

/** The owners of the existing tables, who are expected to create the later ones too. */
async function ownersOf(db: QueryExecutorProvider, { schema }: Names): Promise<string[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct pg_get_userbyid(c.relowner)::text as owner
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind in ('r', 'p', 'v') order by 1`.execute(db);
  return rows.map(({ owner }) => owner);
}

/** Refuses a superuser and an owner of tables, whose rights cannot be revoked. */
async function refuseWriter(db: QueryExecutorProvider, role: string, owners: readonly string[]): Promise<void> {
  const { rows } = await sql<{ writes: boolean }>`
    select r.rolsuper or exists (
      select from pg_roles o where o.rolname = any(${owners}) and pg_has_role(r.oid, o.oid, 'member')) as writes
    from pg_roles r where r.rolname = ${role}`.execute(db);
  if (rows[0]?.writes)
    throw new UsageError(`The role ${role} is a superuser or owns the tables, so it could write anyway.`, {
      next: 'Choose another role with --role. A role that does not exist is created.',
    });
}
