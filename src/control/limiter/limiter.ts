/**
 * The one limiter of the token: every call needs a slot, and starts no earlier than its start time. It covers all
 * processes that share a server's warehouse; an embedded warehouse has one process. `queue.ts` admits the calls,
 * `slot-table.ts` keeps the slots of this process, `shared-slots.ts` and `local-slots.ts` grant them, and `pacer.ts`
 * spaces the starts. `capped.ts` bounds the calls of one process further.
 */
import type { Limiter, LimiterEffects } from './slot.ts';
import type { ServiceSettings } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { openSharedSlots } from './shared-slots.ts';
import { tokenDigest } from '../token-digest.ts';
import { openLocalSlots } from './local-slots.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { LimiterQueue } from './queue.ts';

/** Opens the limiter of a service's token. `holder` is a unique name for this process. */
export async function openTokenLimiter(
  warehouse: Pick<Warehouse, 'kind' | 'db' | 'ops'>,
  service: Pick<ServiceSettings, 'url' | 'token' | 'inFlight' | 'requestsPerSecond'>,
  holder: string,
  effects: LimiterEffects,
): Promise<Limiter> {
  const bounds = { inFlight: service.inFlight, intervalMs: intervalMsOf(service.requestsPerSecond) };
  const source =
    warehouse.kind === 'embedded'
      ? openLocalSlots(bounds, effects.now)
      : await openSharedSlots(warehouse, {
          ...bounds,
          token: tokenDigest(service),
          holder,
        });
  return new LimiterQueue(source, bounds, effects);
}

/** Longer intervals lead to dates beyond any calendar. */
const LONGEST_INTERVAL_MS = 1e11;

/** Returns the milliseconds between two starts. Throws a UsageError unless the rate is above 0. */
export function intervalMsOf(perSecond: number): number {
  if (!(perSecond > 0)) throw new UsageError(`requests_per_second is ${perSecond}; it must be a number above 0.`);
  return Math.min(1000 / perSecond, LONGEST_INTERVAL_MS);
}
