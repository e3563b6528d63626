/** Admits calls to a limiter in order of arrival, each with a slot and a start time. */
import {
  START_AHEAD_MS,
  farthestMs,
  type LimiterBounds,
  type SlotSharing,
  type SlotSource,
  type GrantedSlots,
} from './shared-slots.ts';
import { batched } from '../../async/batcher.ts';
import type { Limiter, LimiterEffects, Slot } from './slot.ts';
import { openSlotTable } from './slots.ts';
import { LONGEST_SLEEP_MS, openPacer } from './pacer.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';

/**
 * The interval at which the loop looks for slots that another process released; a shorter one would only load the
 * database.
 */
const POLL_MS = 50;
/** Long enough for every process to look once. */
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
 * Creates a limiter over a source of slots. One loop requests slots for all waiting calls, so that they share a
 * statement. A released slot passes to the next call of this process immediately, which gets its start time when it
 * begins.
 */
export function openLimiter(
  source: SlotSource,
  bounds: LimiterBounds,
  { now, sleep, random }: LimiterEffects,
): Limiter {
  const starts = openPacer({ intervalMs: bounds.intervalMs, farthestMs: farthestMs(bounds), now, sleep });
  const { sharing } = source;
  const slotTable = openSlotTable(sharing, { restMs: REST_MS, onFree: () => notify() }, { now, sleep });
  const waiters = new Set<Waiter>();
  let loop: Promise<void> | undefined;
  let hasChanged = false;
  let isTaking = false;
  let wake = (): void => undefined;
  /** The next start time that will be granted, as far as this process knows. */
  let nextStartMs = Number.NEGATIVE_INFINITY;

  const nowMs = (): number => now().getTime();
  const startTimeOf = (requestedMs: number, waitMs: number): StartTime => {
    const atMs = nowMs() + waitMs;
    nextStartMs = Math.max(nextStartMs, atMs + bounds.intervalMs);
    return { atMs, earliestMs: requestedMs + waitMs };
  };
  const startsFrom = ({ takeStarts }: SlotSharing) =>
    batched(
      async (asked: readonly null[]): Promise<StartTime[]> => {
        const requestedMs = nowMs();
        const { firstMs, isWanted } = await retryTransient(() => takeStarts(asked.length), { sleep, random });
        slotTable.setWanted(isWanted);
        return asked.map((_, index) => startTimeOf(requestedMs, firstMs + index * bounds.intervalMs));
      },
      { maxItems: bounds.inFlight, failsWholeBatch: () => true },
    );
  const takeStart = sharing && startsFrom(sharing);

  const begin = async (number: number, given: StartTime | undefined, signal: AbortSignal): Promise<boolean> => {
    let start = given ?? (await takeStart?.(null)) ?? startTimeOf(nowMs(), 0);
    for (let attempts = 1; ; ) {
      await starts.waitUntilReady(start.atMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (signal.aborted) return false;
      if (takeStart && attempts < MOST_START_TIMES && nowMs() - start.earliestMs > LATE_MS) {
        attempts += 1;
        start = await takeStart(null);
      } else if (slotTable.isCertain(number)) {
        starts.recordStart();
        return true;
      } else if (!(await retryTransient(() => slotTable.confirm(number), { sleep, random }))) return false;
    }
  };

  const slotOf = (number: number, start?: StartTime): Slot => {
    let released = false;
    return {
      begin: (signal) => begin(number, start, signal),
      pendingCommit: (by) => slotTable.pendingCommit(number, by),
      release: (about) => {
        if (released) return;
        released = true;
        if (about) slotTable.addPendingCommit(number, about);
        if (passToNext(number)) return;
        slotTable.release(number);
        notify();
      },
    };
  };

  /** True if a call with a slot would get an early start time, as far as this process knows. */
  const isOpen = (): boolean => sharing !== undefined && nextStartMs - nowMs() <= START_AHEAD_MS;
  const grantReused = (number: number): Slot => {
    nextStartMs = Math.max(nextStartMs, nowMs()) + bounds.intervalMs;
    return slotOf(number);
  };

  /** Passes a slot to the first waiting call of this process, unless it is due to other processes. */
  const passToNext = (number: number): boolean => {
    const [waiter] = waiters;
    if (!waiter || !isOpen() || slotTable.isOverdue(number) || !slotTable.isCertain(number)) return false;
    waiters.delete(waiter);
    waiter.grant(grantReused(number));
    return true;
  };

  /** Returns a slot that was released a moment ago. */
  const takeReleased = (): Slot | undefined => {
    // A running statement may grant the same slot.
    if (isTaking || waiters.size > 0 || !isOpen()) return undefined;
    const number = slotTable.reuse();
    return number === undefined ? undefined : grantReused(number);
  };

  const handOut = ({ numbers, firstMs, isWanted }: GrantedSlots, requestedMs: number): void => {
    if (numbers.length > 0) slotTable.setWanted(isWanted);
    for (const [index, number] of numbers.entries()) {
      const [waiter] = waiters;
      if (!waiter) {
        slotTable.addSpare(number);
        continue;
      }
      waiters.delete(waiter);
      slotTable.use(number, requestedMs);
      waiter.grant(slotOf(number, startTimeOf(requestedMs, firstMs + index * bounds.intervalMs)));
    }
  };

  /** Waits for the time, or until something changes in this process. */
  const pause = async (ms?: number): Promise<void> => {
    if (hasChanged) return;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = new AbortController();
    const over = ms === undefined ? [] : [sleep(Math.min(Math.ceil(ms), LONGEST_SLEEP_MS), timer.signal)];
    await Promise.race([woken, ...over]).finally(() => timer.abort());
  };

  /** Takes slots for the waiting calls; undefined if this process uses all slots. */
  const takeForAll = async (): Promise<GrantedSlots | undefined> => {
    const most = Math.min(waiters.size, bounds.inFlight - slotTable.usedCount());
    if (most <= 0) return undefined;
    const requestedMs = nowMs();
    isTaking = true;
    try {
      const taken = await retryTransient(() => source.take(most, slotTable.excluded()), { sleep, random });
      handOut(taken, requestedMs);
      return taken;
    } finally {
      isTaking = false;
    }
  };

  const admitAll = async (): Promise<void> => {
    while (waiters.size > 0 || slotTable.hasIdle()) {
      hasChanged = false;
      const taken = await takeForAll();
      await slotTable.giveBack();
      if (waiters.size === 0) continue;
      // If this process uses every slot, only a release in this process can help.
      if (!taken) await pause();
      else if (taken.numbers.length === 0) await pause(taken.closedMs > 0 ? taken.closedMs : POLL_MS * (1 + random()));
    }
  };

  const notify = (): void => {
    hasChanged = true;
    wake();
    loop ??= Promise.resolve()
      .then(admitAll)
      .catch((error: unknown) => {
        for (const waiter of waiters) waiter.refuse(error);
        waiters.clear();
      })
      .finally(() => {
        loop = undefined;
        // Handles changes during the end of the loop, which the next call would otherwise have to notice.
        if (waiters.size > 0 || slotTable.hasIdle()) notify();
      });
  };

  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      const again = takeReleased();
      if (again) return again;
      const { promise, resolve, reject } = Promise.withResolvers<Slot>();
      const waiter: Waiter = { grant: resolve, refuse: reject };
      const onAbort = (): void => {
        waiters.delete(waiter);
        reject(signal.reason as Error);
        notify();
      };
      waiters.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
      notify();
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    close: async () => {
      await slotTable.end();
      await loop;
      await slotTable.giveBack();
    },
  };
}
