/** What the console reads, and how it plans. */
import type { Config } from '../../../config/definition.ts';
import { embeddedFolder } from '../../../config/values/paths.ts';
import { quoteSyncs, summarizePlan } from '../../../flow/forecast/quote-syncs.ts';
import type { ConsoleSource } from '../../../ui/serve.ts';
import { toUserError } from '../../../warehouse/connect/retry-transient.ts';
import type { Context } from '../../context.ts';
import { withWarehouseToRead } from '../../open.ts';
import { failureOf } from '../../text/failure.ts';
import { planLines } from '../../text/plan-text.ts';

/** Requests that may read a server at the same time. An embedded warehouse has one session. */
const READERS = 4;

/** The source of the console for this config. `flags` are the words with which suggested commands read the same config. */
export function consoleSource(context: Context, config: Config, flags: readonly string[]): ConsoleSource {
  const { redact } = context.redactor;
  return {
    syncs: config.syncs,
    read: (work, signal) =>
      withWarehouseToRead({ ...context, signal: AbortSignal.any([context.signal, signal]) }, config, work),
    readers: embeddedFolder(config.warehouse.url.reveal()) === undefined ? READERS : 1,
    plan: async (warehouse, names) => {
      const now = warehouse.clock.now();
      const quoted = await quoteSyncs(warehouse, config, names, { refresh: false }, now);
      const planned = await summarizePlan(warehouse, config, quoted, now);
      const syncCommand = ['sluice sync', ...flags, ...names].join(' ');
      return { planned, lines: planLines(planned, { syncCommand, budget: config.budget }) };
    },
    redact,
    failureOf: (error) => failureOf(toUserError(error), redact),
    onFailure: ({ message, next }) => context.log.warn(message, { next }),
    now: context.now,
  };
}
