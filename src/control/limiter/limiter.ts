/**
 * The one gate for the token: no call is under way without a slot, and none starts before its turn. It holds over all
 * processes that share a server's warehouse; an embedded one has one process.
 */
import type { ServiceSettings } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { gateName, openSharedSlots } from './shared-slots.ts';
import { openOwnSlots } from './local-slots.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { openGate } from './queue.ts';

/** Leave to have one call under way. */
export interface Slot {
  /**
   * Waits for the turn to start, which is a moment away at most. False, and nothing may be sent, when the signal fired
   * or the slot was lost, as to a process that stood still for longer than a heartbeat may be late.
   */
  readonly begin: (signal: AbortSignal) => Promise<boolean>;
  /** What the call before left to record, where others do that: nothing of the next may be committed sooner. */
  readonly owed: (by: InOrder) => Promise<unknown> | undefined;
  /**
   * Says that the call is over, and what came of it recorded, or about to be: other processes wait for that. The next of
   * this process has the slot at once, and looks at what is owed.
   */
  readonly release: (about?: Recording) => void;
}

/** Whoever commits in the order of asking: what it is asked to commit later it never commits sooner. */
export type InOrder = object;

/** What came of a call is about to be recorded. */
export interface Recording {
  readonly recorded: Promise<unknown>;
  readonly by: InOrder;
}

export interface Gate {
  /** Waits for a slot. Rejects with the signal's reason when it fires first, or with the database's error. */
  readonly take: (signal: AbortSignal) => Promise<Slot>;
  /** Gives back what is held; to be called when every slot is released. */
  readonly close: () => Promise<void>;
}

export interface GateEffects {
  readonly now: () => Date;
  /** Rejects when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

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
