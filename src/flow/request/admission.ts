/** Admits one call: takes a slot of the token's limiter, and reserves the most points that the call can cost. */
import type { Limit } from '../../control/budget/local-budget.ts';
import type { Limiter, Slot } from '../../control/limiter/slot.ts';
import type { Reservation, Reservations } from '../../control/budget/reservations.ts';

/** The slot and the points that a call needs before it is sent. */
export interface Admission {
  readonly slot: Slot;
  readonly reservation: Reservation;
}

/** A limit that does not allow the points that a call can cost. */
export interface LimitReached extends Limit {
  readonly needed: number;
}

/**
 * Waits for a slot and reserves the points, or returns the limit that does not allow them. Points are reserved only
 * while a slot is held, so a waiting call blocks no points. No slot is held during a wait for points. Rejects when the
 * signal fires.
 */
export async function admitRequest(
  limiter: Limiter,
  reservations: Reservations,
  most: () => number,
  signal: AbortSignal,
): Promise<Admission | LimitReached> {
  for (;;) {
    // Prices may have changed during the wait.
    const points = most();
    const reached = await reservations.waitForBudget(points);
    if (reached) return { ...reached, needed: points };
    const slot = await limiter.acquire(signal);
    let reservation: Reservation | undefined;
    try {
      signal.throwIfAborted();
      reservation = await reservations.reserve(points);
    } finally {
      if (!reservation) slot.release();
    }
    if (reservation) return { slot, reservation };
  }
}
