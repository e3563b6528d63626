/** Names the confidence of a run's quote as the JSON outputs do. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`update "runs" set quote = quote - 'sure' || jsonb_build_object('confidence', quote -> 'sure')
    where quote ? 'sure'`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`update "runs" set quote = quote - 'confidence' || jsonb_build_object('sure', quote -> 'confidence')
    where quote ? 'confidence'`.execute(db);
}
