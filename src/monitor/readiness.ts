/** Whether a process can do its work: the database answers, its schema is this version's, and no end is under way. */
import { sql } from 'kysely';
import { migrationStatus } from '../warehouse/migrate/migrate.ts';
import { withTimeout } from './with-timeout.ts';
import type { MonitoredProcess } from './monitored-process.ts';

/** Why a process is not ready; nothing when it is. The words are ours alone: a database's may hold names and addresses. */
export type Readiness = () => Promise<readonly string[]>;

/** Probes that come sooner are told the same. */
const KEPT_MS = 1_000;
const PATIENCE_MS = 3_000;

/** Looks at most once a second, whoever asks how often. */
export function openReadiness(it: MonitoredProcess): Readiness {
  let looked: Promise<readonly string[]> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (it.isDraining()) return ['the process is ending'];
    const now = it.now().getTime();
    if (!looked || now - lookedAt >= KEPT_MS) {
      lookedAt = now;
      looked = look(it);
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
