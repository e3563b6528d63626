/** Removes an entity's names from every text of both schemas, and from the JSON of the operations schema. */
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { type Cleaning, cleaned, cleanText, isOwnName } from '../../normalize/erasure/clean.ts';
import { cleaningOf } from '../../normalize/erasure/redact-items.ts';
import { parseExact } from '../../service/exact-json.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { SHORTEST_TRACE } from '../../service/names/traces.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { operationsTables } from '../../warehouse/schema/operations.ts';
import { rootTables, tables } from '../../warehouse/schema/tables.ts';
import type { Table } from '../../warehouse/schema/table-types.ts';
import type { SchemaNames } from '../../warehouse/connect/connect.ts';
import { type DescribedEntity, entitiesIn } from './own-names.ts';
import { noteChanged, rootKeyIn, type TouchedRows } from './tables.ts';
import { containsAny, type ErasureSearch } from './target.ts';

/** Tables that hold names from the config or digests. Other code erases names of entities in them. */
const NOT_SWEPT = [
  'identities',
  'forgotten',
  'erasures',
  'erasure_salts',
  'leases',
  'limiter_slots',
  'limiter_paces',
  'marks',
  'rebuilds',
];
const NOT_TEXT = ['sync', 'endpoint', 'request_key', 'definition_hash', 'holder', 'encoding', 'sha256', 'state'];

interface Swept {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** The rows to sweep, with the alias `t`. */
  readonly where?: RawBuilder<boolean>;
  /** The key columns of the root row that stores the digest of these texts. */
  readonly keep: readonly string[];
  readonly changes?: (key: readonly string[]) => void;
  /** The entities whose own names stay. */
  readonly entities?: readonly DescribedEntity[];
  /** Decides whether a text is a name of an entity. */
  readonly naming?: Cleaning;
}

/**
 * Rewrites the texts that contain a name. Keys and references stay, because they belong to other entities. Other code
 * rewrites the JSON of analyst tables.
 */
export async function sweep(
  db: QueryExecutorProvider,
  { schema, ops }: SchemaNames,
  search: ErasureSearch,
  touched: TouchedRows,
): Promise<void> {
  const hashed = rootTables.flatMap((root) => [root, ...root.children].map((table) => ({ root, table })));
  for (const table of tables) {
    const own = hashed.find((it) => it.table === table);
    const logged = hashed.find((it) => it.table.changes?.name === table.name)?.table;
    const held = new Set([...table.key, ...table.foreignKeys.flatMap(({ columns }) => columns)]);
    await sweepTable(db, search, touched, {
      schema,
      name: table.name,
      columns: table.columns.filter(({ name, type }) => type !== 'jsonb' && !held.has(name) && !name.startsWith('_')),
      ...(logged && { where: sql<boolean>`t.attribute <> all(${arrayLiteral(jsonColumnsOf(logged))}::text[])` }),
      keep: own ? rootKeyIn(own.table) : [],
      ...(own && {
        changes: (key) => noteChanged(touched, own.root, key.join('\0')),
        entities: entitiesIn(own.table),
        naming: cleaningOf({ forgotten: search.forgotten, resource: own.root.resource }),
      }),
    });
  }
  for (const { name, columns, key } of operationsTables)
    if (!NOT_SWEPT.includes(name))
      await sweepTable(db, search, touched, {
        schema: ops,
        name,
        columns: columns.filter((it) => !key.includes(it.name) && !NOT_TEXT.includes(it.name)),
        keep: [],
      });
}

async function sweepTable(
  db: QueryExecutorProvider,
  { forgotten, hints: all }: ErasureSearch,
  touched: TouchedRows,
  table: Swept,
): Promise<void> {
  const columns = table.columns.filter(({ type }) => type === 'text' || type === 'jsonb');
  const hints = all.filter((it) => it.length >= SHORTEST_TRACE);
  if (columns.length === 0 || hints.length === 0) return;
  const texts = columns.map(({ name }, index) => sql`${sql.ref(`t.${name}`)}::text as ${sql.ref(`c${index}`)}`);
  const joined = sql.join(columns.map(({ name }) => sql`${sql.ref(`t.${name}`)}::text`));
  const keep = table.keep.map((name, index) => sql`${sql.ref(`t.${name}`)}::text as ${sql.ref(`k${index}`)}`);
  const entities = (table.entities ?? []).map(
    ({ key }, index) =>
      sql`(num_nulls(${sql.join(key.map((it) => sql.ref(`t.${it}`)))}) = 0)::text as ${sql.ref(`e${index}`)}`,
  );
  const { rows } = await sql<Record<string, string | null>>`
    select t.ctid::text as at, ${sql.join([...texts, ...keep, ...entities])} from ${sql.id(table.schema, table.name)} t
    where ${table.where ?? sql`true`} and ${containsAny(sql`concat_ws(' ', ${joined})`, hints.map(longestPlainPart))}`.execute(
    db,
  );
  for (const row of rows) {
    const sets = columns.flatMap(({ name, type }, index) => {
      const text = row[`c${index}`] ?? null;
      if (text === null || isNameOfOther(table, row, name, text)) return [];
      const after = type === 'text' ? cleanText(text, { forgotten }) : cleanJson(text, forgotten);
      return after === text ? [] : [sql`${sql.ref(name)} = ${after}::text::${sql.raw(type)}`];
    });
    if (sets.length === 0) continue;
    await sql`update ${sql.id(table.schema, table.name)} set ${sql.join(sets)} where ctid = ${row['at']}::tid`.execute(
      db,
    );
    touched.note(table.name, 1);
    table.changes?.(table.keep.map((_, index) => row[`k${index}`] ?? ''));
  }
}

/** True if the text is a name that another entity, which has a key, gives itself. */
function isNameOfOther(
  { entities = [], naming }: Swept,
  row: Record<string, string | null>,
  column: string,
  text: string,
): boolean {
  const field = entities
    .find(({ fields }, index) => fields.has(column) && row[`e${index}`] === 'true')
    ?.fields.get(column);
  return field !== undefined && naming !== undefined && isOwnName(field, text, naming);
}

function cleanJson(text: string, forgotten: ErasureSearch['forgotten']): string {
  const value = parseExact(text);
  const after = cleaned(value, { forgotten });
  return after === value ? text : canonicalJson(after);
}

/** The columns of an analyst table with JSON from answers. */
export const jsonColumnsOf = ({ columns }: Table): readonly string[] =>
  columns.filter(({ name, type }) => type === 'jsonb' && !name.startsWith('_')).map(({ name }) => name);

/** The characters that JSON writes with an escape, and some more. */
export const ESCAPED_IN_JSON = /["\\\p{Cc}]/u;

/** The longest part of a text that JSON writes without escapes. */
export const longestPlainPart = (text: string): string =>
  text.split(ESCAPED_IN_JSON).toSorted((a, b) => b.length - a.length)[0] ?? text;
