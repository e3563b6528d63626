/** Whether a process can work: the database answers, its schema has this version, and the process is not ending. */
import { sql } from 'kysely';
import { migrationStatus } from '../warehouse/migrate/migrate.ts';
import { withTimeout } from '../async/with-timeout.ts';
import type { MonitoredProcess } from './monitored-process.ts';

/** The reasons why a process is not ready; none if it is. They do not quote the database: its errors may contain names and addresses. */
export type Readiness = () => Promise<readonly string[]>;

/** Probes within this time get the same result. */
const KEPT_MS = 1_000;
const PATIENCE_MS = 3_000;

/** A check that queries the database at most once a second, however many probes come. */
export function openReadiness(monitored: MonitoredProcess): Readiness {
  let looked: Promise<readonly string[]> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (monitored.isDraining()) return ['the process is ending'];
    const now = monitored.now().getTime();
    if (!looked || now - lookedAt >= KEPT_MS) {
      lookedAt = now;
      looked = look(monitored);
    }
    return looked;
  };
}

async function look({ warehouse, sleep }: MonitoredProcess): Promise<readonly string[]> {
  const state = async (): Promise<string | undefined> => {
    await sql`select 1`.execute(warehouse.db);
    const status = await migrationStatus(warehouse);
    return status.state;
  };
  const found = await withTimeout(state(), PATIENCE_MS, sleep).catch(() => 'gone');
  if (found === undefined) return ['the warehouse does not answer in time'];
  if (found === 'gone') return ['the warehouse does not answer'];
  return found === 'current' ? [] : [`the warehouse’s schema is ${found}`];
}
