/** Looks for texts in everything that a warehouse and a spool hold. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { decompressBody } from '../../src/ledger/compression.ts';
import { jobsSchema } from '../../src/warehouse/schema/jobs-schema.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

/** Each place that holds one of the texts: `schema.table.column: text`, `answer ID: text` or `spool FILE: text`. */
export async function tracesOf(
  warehouse: Warehouse,
  texts: readonly string[],
  spool?: string,
): Promise<readonly string[]> {
  return [
    ...(await inColumns(warehouse, texts)),
    ...(await inStatistics(warehouse, texts)),
    ...(await inVault(warehouse, texts)),
    ...(await inFiles(spool, texts)),
  ];
}

/** The planner's statistics contain frequent values of columns. */
async function inStatistics({ db, schema, ops }: Warehouse, texts: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ column: string; text: string }>`
    select tablename || '.' || attname as column, concat_ws(' ', most_common_vals, histogram_bounds, most_common_elems) as text
    from pg_stats where schemaname in (${schema}, ${ops})`.execute(db);
  return rows.flatMap(({ column, text }) => (texts.some((it) => holds(text, it)) ? [`statistics of ${column}`] : []));
}

async function inColumns({ db, schema, ops }: Warehouse, texts: readonly string[]): Promise<string[]> {
  const { rows: tables } = await sql<{ schema: string; name: string; columns: string[] }>`
    select n.nspname as schema, c.relname as name, array_agg(a.attname::text) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname in (${schema}, ${ops}, ${jobsSchema(schema)}) and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
    group by 1, 2`.execute(db);
  if (tables.flatMap(({ columns }) => columns).length < 100) throw new Error('the columns are not all there');
  const found: string[] = [];
  for (const { schema: of, name, columns } of tables) {
    const values = columns.map((column) => sql`(${sql.lit(column)}, t.${sql.ref(column)}::text)`);
    // One statement for each table: a warehouse has more than a thousand columns.
    const { rows } = await sql<{ column: string; text: string }>`
      select distinct v.name as column, v.text from ${sql.id(of, name)} t, lateral (values ${sql.join(values)}) v(name, text)
      where v.text is not null`.execute(db);
    for (const { column, text } of rows)
      for (const it of texts) if (holds(text, it)) found.push(`${of}.${name}.${column}: ${it}`);
  }
  return found;
}

async function inVault({ db, ops }: Warehouse, texts: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string; body: Buffer; encoding: string }>`
    select id, body, encoding from ${sql.id(ops, 'answers')} where body is not null`.execute(db);
  const found: string[] = [];
  for (const { id, body, encoding } of rows) {
    const bytes = await decompressBody(body, encoding);
    if (!bytes) throw new Error(`answer ${id} cannot be decompressed`);
    const text = Buffer.from(bytes).toString('utf8');
    for (const it of texts) if (holds(text, it)) found.push(`answer ${id}: ${it}`);
  }
  return found;
}

async function inFiles(folder: string | undefined, texts: readonly string[]): Promise<string[]> {
  if (folder === undefined) return [];
  const found: string[] = [];
  for (const file of await readdir(folder).catch(() => [])) {
    const text = await readFile(join(folder, file), 'utf8');
    for (const it of texts) if (holds(text, it) || file.includes(it)) found.push(`spool ${file}: ${it}`);
  }
  return found;
}

/** A text inside a longer word does not count. Few values contain a text at all, so a fast check comes first. */
const holds = (text: string, it: string): boolean =>
  [it, JSON.stringify(it).slice(1, -1)].some(
    (written) =>
      text.includes(written) &&
      new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(written)}(?![\\p{L}\\p{N}])`, 'u').test(text),
  );
