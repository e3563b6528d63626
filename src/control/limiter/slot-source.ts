/** What grants the slots and start times of a limiter, and the bounds that hold for both kinds of it. */
import { HEARTBEAT_MS } from '../../ledger/lease.ts';

/** The bounds on concurrency and on the distance of starts. */
export interface LimiterBounds {
  readonly inFlight: number;
  readonly intervalMs: number;
}

/** Start times that were granted. */
export interface GrantedStarts {
  /** Time until the first start; each further one follows an interval later. */
  readonly firstMs: number;
  /** Another process recently lacked slots. */
  readonly isWanted: boolean;
}

/** Slots that were granted, each with a start time. */
export interface GrantedSlots extends GrantedStarts {
  readonly numbers: readonly number[];
  /** How long the rate allows no start; 0 if only a slot is missing. */
  readonly closedMs: number;
}

/** The source of slots and start times. */
export interface SlotSource {
  /**
   * Grants at most `most` free slots, excluding the given ones: the caller holds them, or leaves them to other
   * processes.
   */
  readonly take: (most: number, except: readonly number[]) => Promise<GrantedSlots>;
  /** Operations for sharing with other processes; undefined if there can be none. */
  readonly sharing: SlotSharing | undefined;
}

export interface SlotSharing {
  /** Keeps slots for `SLOT_EXPIRES_MS` from now; returns those that this process still holds. */
  readonly renew: (numbers: readonly number[]) => Promise<readonly number[]>;
  /** Releases the slots that this process still holds. */
  readonly release: (numbers: readonly number[]) => Promise<void>;
  /** Grants start times without slots. */
  readonly takeStarts: (count: number) => Promise<GrantedStarts>;
}

/** A holder that is silent this long is considered dead: as with a lease, three heartbeats may be missed. */
export const SLOT_EXPIRES_MS = 4 * HEARTBEAT_MS;

/**
 * How far ahead start times are granted: time to commit that the call is sent. Start times of a process that dies are
 * lost.
 */
export const START_AHEAD_MS = 100;

/**
 * The farthest that a start time can be ahead: each slot has one, or a few if its call is late. One beyond was granted
 * before a clock was set back, and is ignored.
 */
export const farthestMs = ({ inFlight, intervalMs }: LimiterBounds): number => 60_000 + 4 * (inFlight + 1) * intervalMs;

/** The number of start times that may be granted together if the next one is `aheadMs` ahead. */
export const startsWithin = (aheadMs: number, intervalMs: number): number =>
  aheadMs > START_AHEAD_MS ? 0 : 1 + Math.floor((START_AHEAD_MS - aheadMs) / Math.max(intervalMs, SHORTEST_MS));

/** The resolution of the database's clock is a microsecond. */
export const SHORTEST_MS = 1e-3;
