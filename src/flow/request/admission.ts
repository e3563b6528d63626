/** Lets one call in: a slot of the token's gate, and the most points that the call can cost. */
import type { Limit } from '../../control/budget/local-budget.ts';
import type { Gate, Slot } from '../../control/limiter/slot.ts';
import type { Aside, Purse } from '../../control/budget/reservations.ts';

/** What a call needs before it is sent. */
export interface Entry {
  readonly slot: Slot;
  readonly aside: Aside;
}

/** A limit that does not allow the points that a call can cost. */
export interface LimitReached extends Limit {
  readonly needed: number;
}

/**
 * Waits for a slot and sets the points aside; else gives the limit that does not allow them. Points are set aside with
 * the slot in hand, so that what waits keeps none from others; and no slot is held while points are waited for. Rejects
 * when the signal fires.
 */
export async function admit(
  gate: Gate,
  purse: Purse,
  most: () => number,
  signal: AbortSignal,
): Promise<Entry | LimitReached> {
  for (;;) {
    // What is learned of prices meanwhile counts.
    const points = most();
    const reached = await purse.room(points);
    if (reached) return { ...reached, needed: points };
    const slot = await gate.take(signal);
    let aside: Aside | undefined;
    try {
      signal.throwIfAborted();
      aside = await purse.setAside(points);
    } finally {
      if (!aside) slot.release();
    }
    if (aside) return { slot, aside };
  }
}
