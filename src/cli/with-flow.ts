/** Prepares everything that runs need: the warehouse with its schema, the spool, spans and progress. */
import type { Config } from '../config/definition.ts';
import type { FlowEffects } from '../flow/run/invocation.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { Context } from './context.ts';
import { withWarehouse } from './open.ts';
import { formerSpoolFolder, spoolFolder } from './spool-folder.ts';
import { withProgress } from './terminal/with-progress.ts';

/** The result of the work, after its spans were sent. Creates or updates the schema first if that is allowed. */
export async function withFlow<T>(
  context: Context,
  config: Config,
  work: (warehouse: Warehouse, effects: FlowEffects) => Promise<T>,
): Promise<T> {
  const [{ ensureSchema }, { openSpool }, { openTracing }] = await Promise.all([
    import('../warehouse/migrate/migrate.ts'),
    import('../recovery/spool/files.ts'),
    import('../telemetry/tracing.ts'),
  ]);
  const { sleep, random, newId, env } = context;
  const tracing = await openTracing(env, sleep);
  return withWarehouse(context, config, async (warehouse) => {
    await ensureSchema(warehouse);
    const effects = {
      now: warehouse.clock.now,
      sleep,
      random,
      newId,
      spool: openSpool({ folder: spoolFolder(context, config) }),
      formerSpools: [formerSpoolFolder(context)],
      ...(tracing && { beginSpan: tracing.beginSpan }),
    };
    // Times of requests come from the clock of the warehouse.
    return withProgress({ ...context, now: warehouse.clock.now }, async (callbacks) => {
      const result = await work(warehouse, { ...effects, ...callbacks });
      await tracing?.flush();
      return result;
    });
  });
}
