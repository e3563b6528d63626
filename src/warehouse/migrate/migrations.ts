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
  '0001_ledger': () => import('../../../migrations/0001_ledger.ts'),
  '0002_points': () => import('../../../migrations/0002_points.ts'),
  '0003_quality_and_erasure': () => import('../../../migrations/0003_quality_and_erasure.ts'),
  '0004_pages_and_filings': () => import('../../../migrations/0004_pages_and_filings.ts'),
  '0005_pronet_people': () => import('../../../migrations/0005_pronet_people.ts'),
  '0006_pronet_groups': () => import('../../../migrations/0006_pronet_groups.ts'),
  '0007_pronet_posts': () => import('../../../migrations/0007_pronet_posts.ts'),
  '0008_microblog': () => import('../../../migrations/0008_microblog.ts'),
  '0009_photoshare': () => import('../../../migrations/0009_photoshare.ts'),
  '0010_failed_attempts': () => import('../../../migrations/0010_failed_attempts.ts'),
};
