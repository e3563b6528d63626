/** Keeps the comments on tables, views and columns in the database equal to the declarations. */
import { type QueryExecutorProvider, sql } from 'kysely';
import type { SchemaNames, Warehouse } from '../connect/connect.ts';
import { dictionary } from '../schema/dictionary.ts';
import type { SchemaFinding } from './finding.ts';
import { literal, qualified, quoted } from '../sql/identifiers.ts';

interface Comment {
  readonly schema: string;
  readonly relation: string;
  /** Null for the comment on the relation itself. */
  readonly column: string | null;
  readonly kind: 'table' | 'view';
  readonly text: string;
}

/** The comments that differ from the declared ones, as findings of the drift check. */
export async function readCommentDrift({
  db,
  ...names
}: Pick<Warehouse, 'db' | 'schema' | 'ops'>): Promise<SchemaFinding[]> {
  const differing = await differingComments(db, names);
  return differing.map(({ schema, relation, column }) => ({
    schema,
    relation,
    ...(column !== null && { part: column }),
    kind: 'different',
    isFixedByMigrate: true,
    message: `${column === null ? '' : `column ${column}: `}its comment is not the declared one; sluice migrate fixes it`,
  }));
}

/** Writes the comments that differ from the declared ones and returns their number. */
export async function applyComments(
  db: QueryExecutorProvider,
  { kind, ...names }: Pick<Warehouse, 'kind' | 'schema' | 'ops'>,
): Promise<number> {
  const differing = await differingComments(db, names);
  const statements = differing.map(statementOf);
  // A server accepts many statements without parameters in one message. A round trip for each would double the time of
  // a
  // first migration.
  const sent = kind === 'postgres' && statements.length > 0 ? [statements.join(';\n')] : statements;
  for (const text of sent) await sql.raw(text).execute(db);
  return differing.length;
}

/** The declared comments that differ from the live ones. Missing relations and columns are ignored. */
async function differingComments(db: QueryExecutorProvider, names: SchemaNames): Promise<Comment[]> {
  const live = await liveComments(db, names);
  return declaredComments(names).filter((it) => live.has(targetOf(it)) && live.get(targetOf(it)) !== it.text);
}

/** The tables of the migrator and its library. */
const BOOKKEEPING = [
  {
    table: 'kysely_migration',
    about: 'Applied migrations: one row per migration.',
    columns: [
      { name: 'name', about: 'Name of the migration.' },
      { name: 'timestamp', about: 'Time of its application: RFC 3339, UTC.' },
    ],
  },
  {
    table: 'kysely_migration_lock',
    about: 'One row that a migrator locks, so that only one migrates at a time.',
    columns: [
      { name: 'id', about: 'Identifier of the row.' },
      { name: 'is_locked', about: 'Unused on Postgres, where the row itself is locked.' },
    ],
  },
  {
    table: 'applied_views',
    about: 'Queries of the analyst views at their last creation: one row per view.',
    columns: [
      { name: 'name', about: 'Name of the view.' },
      {
        name: 'checksum',
        about: 'SHA-256 of its query, in hex. The migrator replaces a view whose query has another checksum.',
      },
    ],
  },
].map((it) => ({ ...it, area: 'operations', kind: 'table' as const }));

function declaredComments({ schema, ops }: SchemaNames): Comment[] {
  return [...dictionary(), ...BOOKKEEPING].flatMap(({ area, kind, table, about, columns }) => {
    const relation = {
      schema: area === 'analyst' ? schema : ops,
      relation: table,
      kind: kind === 'view' ? kind : ('table' as const),
    };
    return [
      { ...relation, column: null, text: about },
      ...columns.map((it): Comment => ({ ...relation, column: it.name, text: it.about })),
    ];
  });
}

const targetOf = ({ schema, relation, column }: Pick<Comment, 'schema' | 'relation' | 'column'>): string =>
  JSON.stringify([schema, relation, column]);

function statementOf({ schema, relation, column, kind, text }: Comment): string {
  const name = qualified(schema, relation);
  return column === null
    ? `comment on ${kind} ${name} is ${literal(text)}`
    : `comment on column ${name}.${quoted(column)} is ${literal(text)}`;
}

/** The comment on every existing relation and column; null if it has none. */
async function liveComments(
  db: QueryExecutorProvider,
  { schema, ops }: SchemaNames,
): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ schema: string; relation: string; column: string | null; text: string | null }>`
    select n.nspname as schema, c.relname as relation, a.attname as column, d.description as text
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select 0 as number, null as attname
      union all
      select attnum, attname from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
    ) a
    left join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = c.oid and d.objsubid = a.number
    where n.nspname in (${schema}, ${ops}) and c.relkind in ('r', 'p', 'v')`.execute(db);
  return new Map(rows.map((it) => [targetOf(it), it.text]));
}
