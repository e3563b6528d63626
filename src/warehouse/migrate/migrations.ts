/** The list of all migrations. It is explicit, so that a bundle contains them too. */
import type { Kysely } from 'kysely';

/** One migration. Its `schema` comes first on the search path. */
export interface Migration {
  readonly schema: 'operations' | 'analyst';
  up(db: Kysely<unknown>): Promise<void>;
  down(db: Kysely<unknown>): Promise<void>;
}

/**
 * The migrations by name, in the order of execution. They load lazily, because nearly every start has none to apply.
 */
export const steps: Readonly<Record<string, () => Promise<Migration>>> = {
  '0001_baseline_ledger': () => import('../../../migrations/0001_baseline_ledger.ts'),
  '0002_baseline_operations': () => import('../../../migrations/0002_baseline_operations.ts'),
  '0003_baseline_pages_and_filings': () => import('../../../migrations/0003_baseline_pages_and_filings.ts'),
  '0004_baseline_pronet_people': () => import('../../../migrations/0004_baseline_pronet_people.ts'),
  '0005_baseline_pronet_posts': () => import('../../../migrations/0005_baseline_pronet_posts.ts'),
  '0006_baseline_microblog': () => import('../../../migrations/0006_baseline_microblog.ts'),
  '0007_baseline_photoshare': () => import('../../../migrations/0007_baseline_photoshare.ts'),
  '0008_plain_names': () => import('../../../migrations/0008_plain_names.ts'),
  '0009_read_at_any_size': () => import('../../../migrations/0009_read_at_any_size.ts'),
  '0010_quote_confidence': () => import('../../../migrations/0010_quote_confidence.ts'),
  '0011_masking_key': () => import('../../../migrations/0011_masking_key.ts'),
  '0012_run_scope': () => import('../../../migrations/0012_run_scope.ts'),
  '0013_run_tags': () => import('../../../migrations/0013_run_tags.ts'),
  '0014_checks': () => import('../../../migrations/0014_checks.ts'),
  '0016_forecasts': () => import('../../../migrations/0016_forecasts.ts'),
  '0017_change_logs': () => import('../../../migrations/0017_change_logs.ts'),
  '0018_presence': () => import('../../../migrations/0018_presence.ts'),
  '0020_promoted_fields': () => import('../../../migrations/0020_promoted_fields.ts'),
  '0021_history_of_lists': () => import('../../../migrations/0021_history_of_lists.ts'),
  '0022_slices_and_alerts': () => import('../../../migrations/0022_slices_and_alerts.ts'),
};
