/** The results of checks in the ledger: one row for each run and check. */
import type { Selectable } from 'kysely';
import type { Ops, OpsDatabase } from '../../warehouse/connect/operations-db.ts';

type Row = Selectable<OpsDatabase['checks']>;

/** What a check found. */
export interface CheckResult extends Pick<Row, 'name' | 'kind' | 'severity' | 'status' | 'allowed' | 'message'> {
  /** In the unit of its kind; null if no number was found. */
  readonly found: number | null;
}

/** True if the check failed or could not run. A skipped check is not failing. */
export const isFailing = ({ status }: Pick<CheckResult, 'status'>): boolean => status === 'fail' || status === 'error';

/** Replaces the results of a run. Use a transaction. */
export async function recordCheckResults(
  ops: Ops,
  { id, sync }: { readonly id: string; readonly sync: string },
  results: readonly CheckResult[],
  at: Date,
): Promise<void> {
  await ops.deleteFrom('checks').where('run_id', '=', id).execute();
  await ops
    .insertInto('checks')
    .values(
      results.map(({ found, ...it }) => ({
        ...it,
        found: found === null ? null : String(found),
        run_id: id,
        sync,
        at,
      })),
    )
    .execute();
}
