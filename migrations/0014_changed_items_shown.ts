/** Shows with each run how many of its loaded items changed rows that were there. */
import { type Kysely, sql } from 'kysely';

export const schema = 'analyst';

const COLUMNS = `
  r.id as "run_id",
  r.sync,
  r.endpoint,
  r.state,
  r.exit_code,
  r.started_at,
  r.ended_at,
  extract(epoch from r.ended_at - r.started_at)::double precision as "duration_s",
  r.planned,
  r.fresh,
  r.asked,
  r.stored,
  r.received,
  r.loaded,
  r.unchanged,
  r.superseded,
  r.quarantined,
  r.failed,
  r.missing,
  r.truncated,
  r.points,
  r.error`;

const FROM = `from "runs" r where strpos(r.sync, ':') = 0`;

// Replaced rather than dropped, since rights on the view are lost with it.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`create or replace view "sync_runs" as select ${COLUMNS}, r.changed ${FROM}`).execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop view "sync_runs"`.execute(db);
  await sql.raw(`create view "sync_runs" as select ${COLUMNS} ${FROM}`).execute(db);
}
