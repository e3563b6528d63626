/**
 * Carries over a warehouse from before the baseline. 25 migrations had built the schema step by step before they were
 * replaced by the baseline, which creates the same tables. A record of all 25 therefore counts as the baseline.
 */
import { type QueryExecutorProvider, sql } from 'kysely';
import { SchemaError } from '../../errors.ts';

/** The names of applied migrations, with the time of application. */
export type Applied = ReadonlyMap<string, Date>;

/** The last commit that has the migrations before the baseline. */
const LAST_COMMIT = '4238209';

const BEFORE = [
  '0001_operations',
  '0002_tables',
  '0003_views',
  '0004_trust',
  '0005_ledger_times',
  '0006_lookups',
  '0007_insight',
  '0008_ledger_updates',
  '0009_costs',
  '0010_chunks',
  '0011_erasure',
  '0012_alerts',
  '0013_changed_items',
  '0014_changed_items_shown',
  '0015_quick_views',
  '0016_gate_wanted',
  '0017_readings_apart',
  '0018_texts_shared',
  '0019_unreadable',
  '0021_asked_names',
  '0024_lost_invocations',
  '0026_balances',
  '0027_spools',
  '0028_run_states',
  '0029_rebuilds',
];

const BASELINE = [
  '0001_baseline_ledger',
  '0002_baseline_operations',
  '0003_baseline_pages_and_filings',
  '0004_baseline_pronet_people',
  '0005_baseline_pronet_posts',
  '0006_baseline_microblog',
  '0007_baseline_photoshare',
];

/** The applied migrations, with those of the baseline instead of the complete 25 before it. */
export function withBaseline(applied: Applied): Applied {
  const last = applied.get('0029_rebuilds');
  if (!last || !BEFORE.every((name) => applied.has(name))) return applied;
  const others = [...applied].filter(([name]) => !BEFORE.includes(name));
  return new Map([...BASELINE.map((name) => [name, last] as const), ...others]);
}

/** The applied migrations from before the baseline. */
export const beforeBaseline = (names: readonly string[]): string[] => names.filter((name) => BEFORE.includes(name));

/** Replaces the record of the complete 25 migrations by a record of the baseline. Other records stay as they are. */
export async function recordBaseline(db: QueryExecutorProvider, ops: string, applied: Applied): Promise<void> {
  const present = withBaseline(applied);
  if (present === applied) return;
  const records = sql.table(`${ops}.kysely_migration`);
  await sql`delete from ${records} where name = any(${BEFORE})`.execute(db);
  for (const name of BASELINE)
    await sql`insert into ${records} values (${name}, ${present.get(name)?.toISOString()})`.execute(db);
}

/** The refusal of a warehouse that has only some of the 25 migrations. */
export const incompleteBefore = (schema: string, names: readonly string[]): SchemaError =>
  new SchemaError(
    `The schema ${schema} has ${names.length} of the ${BEFORE.length} migrations that the baseline replaced, and this version cannot complete them.`,
    {
      next: `Nothing was changed. Run sluice migrate with commit ${LAST_COMMIT} of Sluice, which has these migrations, then run it with this version.`,
    },
  );
