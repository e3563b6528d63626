/** Writers that wait for each other, as the database sees them. */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';

/** Waits until so many of the database's connections wait for a lock. */
export async function waitUntilBlocked(warehouse: Warehouse, connections: () => number): Promise<void> {
  for (let waiting = 0; waiting < connections(); ) {
    await wait(1);
    const { rows } = await sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      warehouse.db,
    );
    waiting = rows[0]?.waiting ?? 0;
  }
}
