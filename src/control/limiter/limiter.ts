/**
 * The one limiter for the token: no call is under way without a slot, and none starts before its turn. It holds over all
 * processes that share a server's warehouse; an embedded one has one process.
 */
import type { Limiter, LimiterEffects } from './slot.ts';
import type { ServiceSettings } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { limiterName, openSharedSlots } from './shared-slots.ts';
import { openLocalSlots } from './local-slots.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { openLimiter } from './queue.ts';

/** The limiter of a service's token. `holder` names this process and nothing else that opens the limiter. */
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
          name: limiterName(service.url, service.token?.reveal() ?? ''),
          holder,
        });
  return openLimiter(source, bounds, effects);
}

/** Longer ones lead to instants that no calendar has. */
const LONGEST_INTERVAL_MS = 1e11;

/** Milliseconds between two starts. */
export function intervalMsOf(perSecond: number): number {
  if (!(perSecond > 0)) throw new UsageError(`requests_per_second is ${perSecond}; it must be a number above 0.`);
  return Math.min(1000 / perSecond, LONGEST_INTERVAL_MS);
}
