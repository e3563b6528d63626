/** Open runs that no run of their sync would continue any more, of syncs that a config does not have. */
import { sql } from 'kysely';
import { anyText } from '../../warehouse/sql/array-literal.ts';
import { notExists } from '../../warehouse/sql/not-exists.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { holderOfRun, syncLease } from '../lease.ts';
import { syncInRow } from '../log-reads.ts';
import { CONTINUED_WITHIN_MS, OPEN_STATES } from '../runs.ts';

/**
 * Returns the old open runs of syncs that are not among `known`, with their reads of the log, and the names of these syncs. Workers
 * may execute a shared run longer than a day, so no worker has held its lease for as long.
 */
export async function leftRuns(
  ops: Ops,
  known: readonly string[],
  now: Date,
): Promise<readonly { readonly id: string; readonly sync: string }[]> {
  const sync = syncInRow('n.sync');
  return ops
    .selectFrom('runs as n')
    .select(['n.id', sync.as('sync')])
    .where('n.state', 'in', [...OPEN_STATES])
    .where('n.started_at', '<', new Date(now.getTime() - CONTINUED_WITHIN_MS))
    .where((eb) => eb.not(eb(sync, '=', anyText(known))))
    .where((eb) =>
      notExists(
        eb
          .selectFrom('leases as l')
          .select('l.name')
          .where('l.name', '=', sql<string>`${sql.lit(syncLease(''))} || ${sync}`)
          .where('l.holder', '=', sql<string>`${sql.lit(holderOfRun(''))} || n.id`)
          .where(
            sql<boolean>`l.expires_at >= clock_timestamp() - ${sql.lit(CONTINUED_WITHIN_MS)} * interval '1 millisecond'`,
          ),
      ),
    )
    .orderBy('n.id')
    .execute();
}
