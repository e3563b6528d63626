/** Every migration, listed by hand so that a build holds them too. */
import type { Kysely } from 'kysely';
import * as operations from '../../migrations/0001_operations.ts';
import * as tables from '../../migrations/0002_tables.ts';
import * as views from '../../migrations/0003_views.ts';
import * as trust from '../../migrations/0004_trust.ts';
import * as ledgerTimes from '../../migrations/0005_ledger_times.ts';
import * as lookups from '../../migrations/0006_lookups.ts';

/** One step of the schema, in the schema that it names first on the search path. */
export interface Step {
  readonly schema: 'operations' | 'analyst';
  up(db: Kysely<unknown>): Promise<void>;
  down(db: Kysely<unknown>): Promise<void>;
}

/** Steps by name, in the order of their names. */
export const steps: Readonly<Record<string, Step>> = {
  '0001_operations': operations,
  '0002_tables': tables,
  '0003_views': views,
  '0004_trust': trust,
  '0005_ledger_times': ledgerTimes,
  '0006_lookups': lookups,
};
