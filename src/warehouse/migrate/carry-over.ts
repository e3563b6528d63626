/**
 * Carries over a warehouse from before the baseline. 20 migrations had built the schema step by step before they were
 * replaced by the baseline, which creates the same tables. A record of all 20 therefore counts as the baseline.
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import { SchemaError } from '../../errors.ts';

/** The names of applied migrations, with the time of application. */
export type Applied = ReadonlyMap<string, Date>;

/** The last commit that has the replaced migrations. It also carries over warehouses of the migrations before these. */
const LAST_COMMIT = 'c6089d7';

const REPLACED = [
  '0001_baseline_ledger',
  '0002_baseline_operations',
  '0003_baseline_pages_and_filings',
  '0004_baseline_pronet_people',
  '0005_baseline_pronet_posts',
  '0006_baseline_microblog',
  '0007_baseline_photoshare',
  '0008_plain_names',
  '0009_read_at_any_size',
  '0010_quote_confidence',
  '0011_masking_key',
  '0012_run_scope',
  '0013_run_tags',
  '0014_checks',
  '0016_forecasts',
  '0017_change_logs',
  '0018_presence',
  '0020_promoted_fields',
  '0021_history_of_lists',
  '0022_slices_and_alerts',
];

/** The first migration of every warehouse from before the baseline, and of those before the replaced migrations. */
const FIRST = ['0001_baseline_ledger', '0001_operations'];

const BASELINE = [
  '0001_ledger',
  '0002_points',
  '0003_quality_and_erasure',
  '0004_pages_and_filings',
  '0005_pronet_people',
  '0006_pronet_groups',
  '0007_pronet_posts',
  '0008_microblog',
  '0009_photoshare',
];

/** The applied migrations, with those of the baseline instead of the complete 20 before it. */
export function withBaseline(applied: Applied): Applied {
  // Migrations that a checkout added to the 20 are later than the first of them, and stay later than the baseline.
  const first = applied.get('0001_baseline_ledger');
  if (!first || !REPLACED.every((name) => applied.has(name))) return applied;
  const others = [...applied].filter(([name]) => !REPLACED.includes(name));
  return new Map([...BASELINE.map((name) => [name, first] as const), ...others]);
}

/** Whether the warehouse is from before the baseline and was not carried over. */
export const isBeforeBaseline = (names: readonly string[]): boolean => FIRST.some((name) => names.includes(name));

/** Replaces the record of the complete 20 migrations by a record of the baseline. Other records stay as they are. */
export async function recordBaseline(db: QueryExecutorProvider, ops: string, applied: Applied): Promise<void> {
  const present = withBaseline(applied);
  if (present === applied) return;
  const records = sql.id(ops, 'kysely_migration');
  await sql`delete from ${records} where name = any(${REPLACED})`.execute(db);
  const at = present.get('0001_ledger')?.toISOString();
  await sql`insert into ${records} select name, ${at} from unnest(${BASELINE}::text[]) as name`.execute(db);
}

/** The refusal of a warehouse that has only some of the 20 migrations, or those before them. */
export const incompleteBefore = (schema: string, names: readonly string[]): SchemaError =>
  new SchemaError(
    `The schema ${schema} has ${REPLACED.filter((name) => names.includes(name)).length} of the ${REPLACED.length} migrations that the baseline replaced, and this version cannot complete them.`,
    {
      next: `Nothing was changed. Run sluice migrate with commit ${LAST_COMMIT} of Sluice, which has these migrations, then run it with this version.`,
    },
  );
