/** Writers that wait for each other: as the database sees them, and as a test makes them. */
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { SqlExecutor } from '../../src/load/sql/executor.ts';
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

/** The same, but it stops before the first statement of which this is true, until it is let go. */
export function stopping(
  run: SqlExecutor,
  isHere: (statement: string, parameters: readonly unknown[]) => boolean,
): { readonly run: SqlExecutor; readonly reached: Promise<void>; readonly letGo: () => void } {
  const reached = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let first = true;
  const stop = async (statement: string, parameters: readonly unknown[]): Promise<void> => {
    if (!first || !isHere(statement, parameters)) return;
    first = false;
    reached.resolve();
    await gone.promise;
  };
  return {
    reached: reached.promise,
    letGo: gone.resolve,
    run: {
      rows: (statement, parameters) => stop(statement, parameters).then(() => run.rows(statement, parameters)),
      count: (statement, parameters) => stop(statement, parameters).then(() => run.count(statement, parameters)),
      write: (statement, parameters) => stop(statement, parameters).then(() => run.write(statement, parameters)),
      copyRows: (table, lines) => stop(`add ${table.name}`, []).then(() => run.copyRows(table, lines)),
      insert: (table, rows, otherwise) =>
        stop(`insert ${table.name}`, []).then(() => run.insert(table, rows, otherwise)),
      yieldToEventLoop: run.yieldToEventLoop,
      drain: run.drain,
      schema: run.schema,
    },
  };
}
