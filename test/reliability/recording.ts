/** Records changes with database triggers, which show what a killed process cannot report. */
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

/** One change of a ledger row, a lease or an answer, in database order. */
export interface Change {
  readonly n: number;
  readonly atMs: number;
  readonly table: 'requests' | 'leases' | 'answers';
  readonly before: Readonly<Record<string, string>> | null;
  readonly after: Readonly<Record<string, string>>;
}

const STATEMENTS: readonly string[] = [
  'create schema reliability',
  `create table reliability.changes (
    n bigint generated always as identity primary key,
    at timestamptz not null default clock_timestamp(),
    "table" text not null, before jsonb, after jsonb not null)`,
  // Bodies are left out, and every value is text, so that no number is rounded.
  `create function reliability.note() returns trigger language plpgsql as $$
    declare
      kept text[] := array['id', 'run_id', 'state', 'attempts', 'request_id', 'name', 'token', 'holder', 'expires_at'];
      was jsonb; is_now jsonb;
    begin
      if tg_op = 'UPDATE' then
        select jsonb_object_agg(key, value) into was from jsonb_each_text(to_jsonb(old) - 'body' - 'headers') where key = any(kept);
      end if;
      select jsonb_object_agg(key, value) into is_now from jsonb_each_text(to_jsonb(new) - 'body' - 'headers') where key = any(kept);
      if was is distinct from is_now then
        insert into reliability.changes ("table", before, after) values (tg_table_name, was, is_now);
      end if;
      return null;
    end $$`,
  ...['requests', 'leases', 'answers'].map(
    (table) =>
      `create trigger reliability_note after insert or update on sluice_ops.${table} for each row execute function reliability.note()`,
  ),
];

/** Starts recording in a migrated warehouse; its copies record too. */
export async function installRecording(warehouse: Pick<Warehouse, 'db'>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(warehouse.db);
}

/** Returns the recorded changes, oldest first. */
export async function changesOf(warehouse: Pick<Warehouse, 'db'>): Promise<Change[]> {
  const { rows } = await sql<Omit<Change, 'n' | 'atMs'> & { n: string; at_ms: string }>`
    select n, extract(epoch from at) * 1000 as at_ms, "table", before, after from reliability.changes order by n`.execute(
    warehouse.db,
  );
  return rows.map(({ n, at_ms: atMs, ...rest }) => ({ ...rest, n: Number(n), atMs: Number(atMs) }));
}
