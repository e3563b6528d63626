/** Forecasts of spending, kept so that they can be compared with what was spent. */
import { type Kysely, sql } from 'kysely';

export const schema = 'operations';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table "forecast_days" (
      "made_on" date not null,
      "sync" text not null,
      "date" date not null,
      "low" numeric not null,
      "likely" numeric not null,
      "high" numeric not null,
      primary key ("made_on", "sync", "date")
    )`.execute(db);
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`drop table "forecast_days"`.execute(db);
}
