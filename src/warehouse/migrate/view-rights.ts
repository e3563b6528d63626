/** Keeps the rights of other roles on views that are dropped and created again. */
import { type QueryExecutorProvider, sql } from 'kysely';
import { qualified } from '../sql/identifiers.ts';

interface Right {
  readonly view: string;
  /** The privilege, with its column if it is for one; null if the view has no rights of other roles. */
  readonly privilege: string | null;
  readonly role: string;
  readonly isGrantable: boolean;
}

/** The rights of roles other than the owner on each view of the schema. */
export async function readViewRights(db: QueryExecutorProvider, schema: string): Promise<readonly Right[]> {
  const { rows } = await sql<Right>`
    select c.relname as view, a.privilege, a.is_grantable as "isGrantable",
      case when a.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as role
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    left join lateral (
      select x.privilege_type as privilege, x.grantee, x.is_grantable from aclexplode(c.relacl) x
      union all
      select format('%s (%I)', x.privilege_type, t.attname), x.grantee, x.is_grantable
      from pg_attribute t cross join aclexplode(t.attacl) x
      where t.attrelid = c.oid and t.attnum > 0 and not t.attisdropped
    ) a on a.grantee <> c.relowner
    where n.nspname = ${schema} and c.relkind = 'v'`.execute(db);
  return rows;
}

/**
 * Gives each view that existed before exactly the rights that it had. Default privileges apply to new views only. A
 * right on a column that the view no longer has ends.
 */
export async function restoreViewRights(
  db: QueryExecutorProvider,
  schema: string,
  before: readonly Right[],
): Promise<void> {
  const after = await readViewRights(db, schema);
  const on = ({ view }: Right): string => `on ${qualified(schema, view)}`;
  const lacks = (rights: readonly Right[], it: Right): boolean =>
    it.privilege !== null && rights.every((other) => JSON.stringify(other) !== JSON.stringify(it));
  for (const it of after.filter((right) => lacks(before, right) && before.some(({ view }) => view === right.view)))
    await sql.raw(`revoke ${it.privilege} ${on(it)} from ${it.role}`).execute(db);
  for (const it of before.filter((right) => lacks(after, right) && after.some(({ view }) => view === right.view)))
    await sql
      .raw(`grant ${it.privilege} ${on(it)} to ${it.role}${it.isGrantable ? ' with grant option' : ''}`)
      .execute(db);
}
