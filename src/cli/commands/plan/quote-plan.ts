/** The quote behind `sluice plan`: what a sync would request now, and what it can cost. */
import type { Config } from '../../../config/definition.ts';
import { type Planned, type QuotedSync, quoteSyncs, summarizePlan } from '../../../flow/forecast/quote-syncs.ts';
import type { PlanOptions } from '../../../flow/prepare/plan-hash.ts';
import type { Warehouse } from '../../../warehouse/connect/connect.ts';
import { ensureSchema } from '../../../warehouse/migrate/migrate.ts';

/** Plans these syncs without requests to the service. If the warehouse is empty, creates its schema first. */
export async function quotePlan(
  warehouse: Warehouse,
  config: Config,
  names: readonly string[],
  options: PlanOptions,
): Promise<{ readonly planned: Planned; readonly quoted: readonly QuotedSync[]; readonly now: Date }> {
  await ensureSchema(warehouse);
  const now = warehouse.clock.now();
  const quoted = await quoteSyncs(warehouse, config, names, options, now);
  return { planned: await summarizePlan(warehouse, config, quoted, now), quoted, now };
}
