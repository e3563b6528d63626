/** Prepares the SQL of checks before a run, so that a mistake is found before anything is bought. */
import type { SyncDefinition } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { describe } from '../queries/check-queries.ts';

type Checked = Pick<SyncDefinition, 'name' | 'checks'>;

/** The checks of a sync that run SQL. */
export const sqlChecksOf = ({ checks = [] }: Checked) =>
  checks.flatMap(({ name, rule, where }) => (rule.kind === 'sql' ? [{ name, sql: rule.sql, where }] : []));

/** Prepares the SQL of each check without reading a row. Throws a UsageError that lists every faulty one. */
export async function checkStatements(
  warehouse: Pick<Warehouse, 'schema' | 'session' | 'isRemote'>,
  syncs: readonly Checked[],
): Promise<void> {
  const problems: string[] = [];
  for (const sync of syncs)
    for (const check of sqlChecksOf(sync)) {
      const found = await describe(warehouse, check);
      if (typeof found === 'string') problems.push(`${check.where}: ${sync.name}: check ${check.name}: ${found}`);
    }
  if (problems.length > 0) throw new UsageError(problems.join('\n'), { next: 'Correct the SQL of these checks.' });
}
