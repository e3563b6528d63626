/** Brings an embedded database back to the state it was opened in, as far as that can be done by emptying tables. */
import type { PGlite } from '@electric-sql/pglite';

/** Restores the state, or says that only another database has it. */
export type Restore = () => Promise<boolean>;

/**
 * How often each table was written to, by Postgres' own count: catalogs too, so every change of a schema, comment, grant,
 * role or setting shows. Changes that were rolled back count as well.
 */
const WRITES = `
  select c.oid, c.oid::regclass::text as name,
    (pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid))::int as writes
  from pg_class c where c.relkind = 'r'`;

/** Tables that are and were always empty: emptying gives such a table its first state, including its file. */
const EMPTY = `select oid from pg_class where relkind = 'r' and oid >= 16384 and pg_relation_size(oid) = 0`;

/** Notes on the size of an index as they are after `create index`; truncating leaves it unknown, for the planner too. */
const SIZES = `
  update pg_class set relpages = pg_relation_size(oid) / current_setting('block_size')::int, reltuples = 0
  where relkind = 'i' and oid >= 16384 and reltuples = -1`;

/** What is written without being counted: the positions of sequences, and what a vacuum notes of sizes. */
const UNCOUNTED = `
  select (select string_agg(concat_ws(' ', schemaname, sequencename, last_value), ',' order by schemaname, sequencename)
      from pg_sequences) as positions,
    (select string_agg(concat_ws(' ', oid, relpages, reltuples), ',' order by oid) from pg_class where oid >= 16384) as sizes`;

/** Takes note of the database's state, for `Restore` to bring it back to. */
export async function restorerOf(pglite: PGlite): Promise<Restore> {
  const query = async <T>(text: string): Promise<T[]> => (await pglite.query<T>(text)).rows;
  const writes = async (): Promise<{ oid: number; name: string; writes: number }[]> => {
    await query('select pg_stat_force_next_flush()');
    return query(WRITES);
  };
  const note = async (): Promise<Map<number, number>> => new Map((await writes()).map((it) => [it.oid, it.writes]));
  const empty = new Set((await query<{ oid: number }>(EMPTY)).map(({ oid }) => oid));
  const uncounted = JSON.stringify(await query(UNCOUNTED));
  let before = await note();
  return async () => {
    await pglite.exec('discard all');
    const written = (await writes()).filter((it) => it.writes !== (before.get(it.oid) ?? 0));
    if (written.some(({ oid }) => !empty.has(oid))) return false;
    if (written.length > 0) {
      await pglite.exec(`truncate ${written.map(({ name }) => name).join(', ')} restart identity cascade`);
      await pglite.exec(SIZES);
    }
    // Emptied files go, and the write-ahead log starts over.
    await pglite.exec('checkpoint');
    before = await note();
    return JSON.stringify(await query(UNCOUNTED)) === uncounted;
  };
}
