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
  '0001_operations': () => import('../../../migrations/0001_operations.ts'),
  '0002_tables': () => import('../../../migrations/0002_tables.ts'),
  '0003_views': () => import('../../../migrations/0003_views.ts'),
  '0004_trust': () => import('../../../migrations/0004_trust.ts'),
  '0005_ledger_times': () => import('../../../migrations/0005_ledger_times.ts'),
  '0006_lookups': () => import('../../../migrations/0006_lookups.ts'),
  '0007_insight': () => import('../../../migrations/0007_insight.ts'),
  '0008_ledger_updates': () => import('../../../migrations/0008_ledger_updates.ts'),
  '0009_costs': () => import('../../../migrations/0009_costs.ts'),
  '0010_chunks': () => import('../../../migrations/0010_chunks.ts'),
  '0011_erasure': () => import('../../../migrations/0011_erasure.ts'),
  '0012_alerts': () => import('../../../migrations/0012_alerts.ts'),
  '0013_changed_items': () => import('../../../migrations/0013_changed_items.ts'),
  '0014_changed_items_shown': () => import('../../../migrations/0014_changed_items_shown.ts'),
  '0015_quick_views': () => import('../../../migrations/0015_quick_views.ts'),
  '0016_gate_wanted': () => import('../../../migrations/0016_gate_wanted.ts'),
  '0017_readings_apart': () => import('../../../migrations/0017_readings_apart.ts'),
  '0018_texts_shared': () => import('../../../migrations/0018_texts_shared.ts'),
  '0019_unreadable': () => import('../../../migrations/0019_unreadable.ts'),
  '0021_asked_names': () => import('../../../migrations/0021_asked_names.ts'),
  '0024_lost_invocations': () => import('../../../migrations/0024_lost_invocations.ts'),
  '0026_balances': () => import('../../../migrations/0026_balances.ts'),
  '0027_spools': () => import('../../../migrations/0027_spools.ts'),
  '0028_run_states': () => import('../../../migrations/0028_run_states.ts'),
  '0029_rebuilds': () => import('../../../migrations/0029_rebuilds.ts'),
};
