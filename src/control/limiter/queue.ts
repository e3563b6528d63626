/** Lets calls in at a limiter in the order of coming, with a slot and a turn each. */
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

/** How often, at the least, a slot is looked for that another process gave up; more often would only load the database. */
const POLL_MS = 50;
/** Long enough for everybody to look once. */
const REST_MS = 3 * POLL_MS;
/** Later than this a turn may collide with those of other processes, and a new one is taken. */
const LATE_MS = 150;
/** A machine that is always late shall get to its calls all the same. */
const MOST_TURNS = 4;

interface Waiter {
  readonly grant: (slot: Slot) => void;
  readonly refuse: (error: unknown) => void;
}

interface StartTime {
  /** By this process's clock, never before the instant that was given. */
  readonly atMs: number;
  /** Never after that instant: the answer that told it may have come late. */
  readonly earliestMs: number;
}

/**
 * A limiter over a source of slots. One loop asks the source for all who wait, so that they cost one statement. A slot that
 * is released goes to the next of this process in the instant, who asks for a turn when it is about to begin.
 */
export function openLimiter(
  source: SlotSource,
  bounds: LimiterBounds,
  { now, sleep, random }: LimiterEffects,
): Limiter {
  const starts = openPacer({ intervalMs: bounds.intervalMs, farthestMs: farthestMs(bounds), now, sleep });
  const { sharing } = source;
  const slotTable = openSlotTable(sharing, { restMs: REST_MS, onFree: () => stir() }, { now, sleep });
  const waiters = new Set<Waiter>();
  let letting: Promise<void> | undefined;
  let stirred = false;
  let isTaking = false;
  let wake = (): void => undefined;
  /** When the next turn will be given out, as far as this process knows. */
  let nextTurnMs = Number.NEGATIVE_INFINITY;

  const nowMs = (): number => now().getTime();
  const turnOf = (askedMs: number, waitMs: number): StartTime => {
    const atMs = nowMs() + waitMs;
    nextTurnMs = Math.max(nextTurnMs, atMs + bounds.intervalMs);
    return { atMs, earliestMs: askedMs + waitMs };
  };
  const turnsFrom = ({ takeStarts }: SlotSharing) =>
    batched(
      async (asked: readonly null[]): Promise<StartTime[]> => {
        const askedMs = nowMs();
        const { firstMs, isWanted } = await retryTransient(() => takeStarts(asked.length), { sleep, random });
        slotTable.setWanted(isWanted);
        return asked.map((_, index) => turnOf(askedMs, firstMs + index * bounds.intervalMs));
      },
      { maxItems: bounds.inFlight, failsWholeBatch: () => true },
    );
  const takeTurn = sharing && turnsFrom(sharing);

  const begin = async (number: number, given: StartTime | undefined, signal: AbortSignal): Promise<boolean> => {
    let turn = given ?? (await takeTurn?.(null)) ?? turnOf(nowMs(), 0);
    for (let turns = 1; ; ) {
      await starts.waitUntilReady(turn.atMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (signal.aborted) return false;
      if (takeTurn && turns < MOST_TURNS && nowMs() - turn.earliestMs > LATE_MS) {
        turns += 1;
        turn = await takeTurn(null);
      } else if (slotTable.isCertain(number)) {
        starts.recordStart();
        return true;
      } else if (!(await retryTransient(() => slotTable.confirm(number), { sleep, random }))) return false;
    }
  };

  const slotOf = (number: number, turn?: StartTime): Slot => {
    let released = false;
    return {
      begin: (signal) => begin(number, turn, signal),
      pendingCommit: (by) => slotTable.pendingCommit(number, by),
      release: (about) => {
        if (released) return;
        released = true;
        if (about) slotTable.addPendingCommit(number, about);
        if (passOn(number)) return;
        slotTable.release(number);
        stir();
      },
    };
  };

  /** Whether whoever has a slot by now would not wait for long for a turn, as far as this process knows. */
  const isOpen = (): boolean => sharing !== undefined && nextTurnMs - nowMs() <= START_AHEAD_MS;
  const passedOn = (number: number): Slot => {
    nextTurnMs = Math.max(nextTurnMs, nowMs()) + bounds.intervalMs;
    return slotOf(number);
  };

  /** Gives a slot to the first who waits here, unless it is due to others. */
  const passOn = (number: number): boolean => {
    const [waiter] = waiters;
    if (!waiter || !isOpen() || slotTable.isOverdue(number) || !slotTable.isCertain(number)) return false;
    waiters.delete(waiter);
    waiter.grant(passedOn(number));
    return true;
  };

  /** A slot that was released a moment ago. */
  const reused = (): Slot | undefined => {
    // A statement under way may give out the very same one.
    if (isTaking || waiters.size > 0 || !isOpen()) return undefined;
    const number = slotTable.reuse();
    return number === undefined ? undefined : passedOn(number);
  };

  const handOut = ({ numbers, firstMs, isWanted }: GrantedSlots, askedMs: number): void => {
    if (numbers.length > 0) slotTable.setWanted(isWanted);
    for (const [index, number] of numbers.entries()) {
      const [waiter] = waiters;
      if (!waiter) {
        slotTable.addSpare(number);
        continue;
      }
      waiters.delete(waiter);
      slotTable.use(number, askedMs);
      waiter.grant(slotOf(number, turnOf(askedMs, firstMs + index * bounds.intervalMs)));
    }
  };

  /** Waits for the time, or until something happens here. */
  const pause = async (ms?: number): Promise<void> => {
    if (stirred) return;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = new AbortController();
    const over = ms === undefined ? [] : [sleep(Math.min(Math.ceil(ms), LONGEST_SLEEP_MS), timer.signal)];
    await Promise.race([woken, ...over]).finally(() => timer.abort());
  };

  /** Takes slots for those who wait; undefined where all are in use here. */
  const takeForAll = async (): Promise<GrantedSlots | undefined> => {
    const most = Math.min(waiters.size, bounds.inFlight - slotTable.usedCount());
    if (most <= 0) return undefined;
    const askedMs = nowMs();
    isTaking = true;
    try {
      const taken = await retryTransient(() => source.take(most, slotTable.excluded()), { sleep, random });
      handOut(taken, askedMs);
      return taken;
    } finally {
      isTaking = false;
    }
  };

  const letIn = async (): Promise<void> => {
    while (waiters.size > 0 || slotTable.hasIdle()) {
      stirred = false;
      const taken = await takeForAll();
      await slotTable.giveBack();
      if (waiters.size === 0) continue;
      // Where every slot is in use here, only a release here can help.
      if (!taken) await pause();
      else if (taken.numbers.length === 0) await pause(taken.closedMs > 0 ? taken.closedMs : POLL_MS * (1 + random()));
    }
  };

  const stir = (): void => {
    stirred = true;
    wake();
    letting ??= Promise.resolve()
      .then(letIn)
      .catch((error: unknown) => {
        for (const waiter of waiters) waiter.refuse(error);
        waiters.clear();
      })
      .finally(() => {
        letting = undefined;
        // What happened while it ended would be left to the next who comes.
        if (waiters.size > 0 || slotTable.hasIdle()) stir();
      });
  };

  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      const again = reused();
      if (again) return again;
      const { promise, resolve, reject } = Promise.withResolvers<Slot>();
      const waiter: Waiter = { grant: resolve, refuse: reject };
      const onAbort = (): void => {
        waiters.delete(waiter);
        reject(signal.reason as Error);
        stir();
      };
      waiters.add(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
      stir();
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    close: async () => {
      await slotTable.end();
      await letting;
      await slotTable.giveBack();
    },
  };
}
