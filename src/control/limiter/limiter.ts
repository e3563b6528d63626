/**
 * The one gate for the token: no call is under way without a slot, and none starts before its turn. It holds over all
 * processes that share a server's warehouse; an embedded one has one process.
 */
import type { Gate, GateEffects } from './slot.ts';
import type { ServiceSettings } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { gateName, openSharedSlots } from './shared-slots.ts';
import { openOwnSlots } from './local-slots.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { openGate } from './queue.ts';

/** The gate of a service's token. `holder` names this process and nothing else that opens the gate. */
export async function openTokenGate(
  warehouse: Pick<Warehouse, 'kind' | 'db' | 'ops'>,
  service: Pick<ServiceSettings, 'url' | 'token' | 'inFlight' | 'requestsPerSecond'>,
  holder: string,
  effects: GateEffects,
): Promise<Gate> {
  const bounds = { inFlight: service.inFlight, intervalMs: intervalMsOf(service.requestsPerSecond) };
  const source =
    warehouse.kind === 'embedded'
      ? openOwnSlots(bounds, effects.now)
      : await openSharedSlots(warehouse, {
          ...bounds,
          name: gateName(service.url, service.token?.reveal() ?? ''),
          holder,
        });
  return openGate(source, bounds, effects);
}

/** Longer ones lead to instants that no calendar has. */
const LONGEST_INTERVAL_MS = 1e11;

/** Milliseconds between two starts. */
export function intervalMsOf(perSecond: number): number {
  if (!(perSecond > 0)) throw new UsageError(`requests_per_second is ${perSecond}; it must be a number above 0.`);
  return Math.min(1000 / perSecond, LONGEST_INTERVAL_MS);
}
