/** Admits calls to a limiter in order of arrival, each with a slot and a start time. */
import {
  START_AHEAD_MS,
  farthestMs,
  type LimiterBounds,
  type SlotSharing,
  type SlotSource,
  type GrantedSlots,
} from './slot-source.ts';
import { batched } from '../../async/batcher.ts';
import type { Limiter, LimiterEffects, PendingCommit, Slot } from './slot.ts';
import { type HeldSlot, SlotTable } from './slot-table.ts';
import { LONGEST_SLEEP_MS, openPacer, type Pacer } from './pacer.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/**
 * The interval at which the loop looks for slots that another process released; a shorter one would only load the
 * database.
 */
const POLL_MS = 50;
/** How long a released slot is left to other processes: long enough for each to look once. */
const REST_MS = 3 * POLL_MS;
/** A call that is later than this may collide with other processes, so it gets a new start time. */
const LATE_MS = 150;
/** A machine that is always late must still make its calls. */
const MOST_START_TIMES = 4;

interface Waiter {
  readonly grant: (slot: Slot) => void;
  readonly refuse: (error: unknown) => void;
}

interface StartTime {
  /** By this process's clock, never before the granted time. */
  readonly atMs: number;
  /** Never after the granted time: the statement's result may have arrived late. */
  readonly earliestMs: number;
}

/**
 * A limiter over a source of slots. One loop requests slots for all waiting calls, so that they share a statement. A
 * released slot passes to the next call of this process immediately, which gets its start time when it begins.
 */
export class LimiterQueue implements Limiter {
  readonly #source: SlotSource;
  readonly #bounds: LimiterBounds;
  readonly #effects: LimiterEffects;
  readonly #pacer: Pacer;
  readonly #slotTable: SlotTable;
  readonly #waiters = new Set<Waiter>();
  /** Requests a start time in the shared order; absent when the limiter is of this process alone. */
  readonly #takeStart: ((one: null) => Promise<StartTime>) | undefined;
  #loop: Promise<void> | undefined;
  #hasChanged = false;
  #isTaking = false;
  #wake = (): void => undefined;
  /** The next start time that will be granted, as far as this process knows. */
  #nextStartMs = Number.NEGATIVE_INFINITY;

  constructor(source: SlotSource, bounds: LimiterBounds, effects: LimiterEffects) {
    const { now, sleep } = effects;
    this.#source = source;
    this.#bounds = bounds;
    this.#effects = effects;
    this.#pacer = openPacer({ intervalMs: bounds.intervalMs, farthestMs: farthestMs(bounds), now, sleep });
    const onFree = (): void => this.#notify();
    this.#slotTable = new SlotTable(source.sharing, { restMs: REST_MS, onFree }, { now, sleep });
    this.#takeStart = source.sharing && this.#startsFrom(source.sharing);
  }

  async acquire(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const again = this.#takeReleased();
    if (again) return again;
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    const waiter: Waiter = { grant: resolve, refuse: reject };
    const onAbort = (): void => {
      this.#waiters.delete(waiter);
      reject(signal.reason as Error);
      this.#notify();
    };
    this.#waiters.add(waiter);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#notify();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    await this.#slotTable.end();
    await this.#loop;
    await this.#slotTable.giveBack();
  }

  #nowMs(): number {
    return this.#effects.now().getTime();
  }

  #startTimeOf(requestedMs: number, waitMs: number): StartTime {
    const atMs = this.#nowMs() + waitMs;
    this.#nextStartMs = Math.max(this.#nextStartMs, atMs + this.#bounds.intervalMs);
    return { atMs, earliestMs: requestedMs + waitMs };
  }

  #startsFrom({ takeStarts }: SlotSharing): (one: null) => Promise<StartTime> {
    const { inFlight, intervalMs } = this.#bounds;
    return batched(
      async (asked: readonly null[]): Promise<StartTime[]> => {
        const requestedMs = this.#nowMs();
        const { firstMs, isWanted } = await retryTransient(() => takeStarts(asked.length), this.#effects);
        this.#slotTable.setWanted(isWanted);
        return asked.map((_, index) => this.#startTimeOf(requestedMs, firstMs + index * intervalMs));
      },
      { maxItems: inFlight, failsWholeBatch: () => true },
    );
  }

  /** Waits for the start time of a call; false when the signal aborts first, or the slot was lost. */
  async #begin(slot: HeldSlot, given: StartTime | undefined, signal: AbortSignal): Promise<boolean> {
    const takeStart = this.#takeStart;
    let start = given ?? (await takeStart?.(null)) ?? this.#startTimeOf(this.#nowMs(), 0);
    for (let attempts = 1; ; ) {
      await this.#pacer.waitUntilReady(start.atMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (signal.aborted) return false;
      if (takeStart && attempts < MOST_START_TIMES && this.#nowMs() - start.earliestMs > LATE_MS) {
        attempts += 1;
        start = await takeStart(null);
      } else if (this.#slotTable.isCertain(slot)) {
        if (this.#pacer.start()) return true;
      } else if (!(await retryTransient(() => this.#slotTable.confirm(slot), this.#effects))) return false;
    }
  }

  /** Uses a slot for a call. Without a start time, the call requests one when it begins. */
  #use(slot: HeldSlot, start?: StartTime): Slot {
    this.#slotTable.use(slot);
    let released = false;
    return {
      begin: (signal) => this.#begin(slot, start, signal),
      // A call that took over the slot waited for other committers, so everything left is from the last one.
      pendingCommit: (by) => (slot.pendingCommit?.committer === by ? undefined : slot.pendingCommit?.recorded),
      release: (pending) => {
        if (released) return;
        released = true;
        this.#release(slot, pending);
      },
    };
  }

  /** Uses a slot of an ended call for the next one. */
  #useAgain(slot: HeldSlot): Slot {
    this.#nextStartMs = Math.max(this.#nextStartMs, this.#nowMs()) + this.#bounds.intervalMs;
    return this.#use(slot);
  }

  /** Passes a slot to the first waiting call of this process, unless it is due to other processes. */
  #release(slot: HeldSlot, pending: PendingCommit | undefined): void {
    if (pending) this.#slotTable.addPendingCommit(slot, pending);
    const [waiter] = this.#waiters;
    if (waiter && this.#isOpen() && this.#slotTable.mayReuse(slot)) return this.#grant(waiter, this.#useAgain(slot));
    this.#slotTable.release(slot);
    this.#notify();
  }

  #grant(waiter: Waiter, slot: Slot): void {
    this.#waiters.delete(waiter);
    waiter.grant(slot);
  }

  /** True if a call with a slot would get an early start time, as far as this process knows. */
  #isOpen(): boolean {
    return this.#source.sharing !== undefined && this.#nextStartMs - this.#nowMs() <= START_AHEAD_MS;
  }

  /** Returns a slot that was released a moment ago. */
  #takeReleased(): Slot | undefined {
    // A running statement may grant the same slot.
    if (this.#isTaking || this.#waiters.size > 0 || !this.#isOpen()) return undefined;
    const slot = this.#slotTable.reusable();
    return slot && this.#useAgain(slot);
  }

  #handOut({ numbers, firstMs, isWanted }: GrantedSlots, requestedMs: number): void {
    if (numbers.length > 0) this.#slotTable.setWanted(isWanted);
    for (const [index, number] of numbers.entries()) {
      const slot = this.#slotTable.add(number, requestedMs);
      const [waiter] = this.#waiters;
      const startMs = firstMs + index * this.#bounds.intervalMs;
      if (waiter) this.#grant(waiter, this.#use(slot, this.#startTimeOf(requestedMs, startMs)));
    }
  }

  /** Waits for the time, or until something changes in this process. */
  async #pause(ms?: number): Promise<void> {
    if (this.#hasChanged) return;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = new AbortController();
    const over = ms === undefined ? [] : [this.#effects.sleep(Math.min(Math.ceil(ms), LONGEST_SLEEP_MS), timer.signal)];
    await Promise.race([woken, ...over]).finally(() => timer.abort());
  }

  /** Takes slots for the waiting calls; undefined if this process uses all slots. */
  async #takeForAll(): Promise<GrantedSlots | undefined> {
    const most = Math.min(this.#waiters.size, this.#bounds.inFlight - this.#slotTable.used().length);
    if (most <= 0) return undefined;
    const requestedMs = this.#nowMs();
    this.#isTaking = true;
    try {
      const excluded = (): number[] => this.#slotTable.excluded();
      const taken = await retryTransient(() => this.#source.take(most, excluded()), this.#effects);
      this.#handOut(taken, requestedMs);
      return taken;
    } finally {
      this.#isTaking = false;
    }
  }

  async #admitAll(): Promise<void> {
    while (this.#waiters.size > 0 || this.#slotTable.hasFree()) {
      this.#hasChanged = false;
      const taken = await this.#takeForAll();
      await this.#slotTable.giveBack();
      if (this.#waiters.size === 0) continue;
      // If this process uses every slot, only a release in this process can help.
      if (!taken) await this.#pause();
      else if (taken.numbers.length === 0)
        await this.#pause(taken.closedMs > 0 ? taken.closedMs : POLL_MS * (1 + this.#effects.random()));
    }
  }

  /** Starts the loop if it does not run, and wakes it if it waits. */
  #notify(): void {
    this.#hasChanged = true;
    this.#wake();
    this.#loop ??= Promise.resolve()
      .then(() => this.#admitAll())
      .catch((error: unknown) => {
        for (const waiter of this.#waiters) waiter.refuse(error);
        this.#waiters.clear();
      })
      .finally(() => {
        this.#loop = undefined;
        // Handles changes during the end of the loop, which the next call would otherwise have to notice.
        if (this.#waiters.size > 0 || this.#slotTable.hasFree()) this.#notify();
      });
  }
}
