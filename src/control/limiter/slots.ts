/** The slots that this process has of a limiter that it shares: kept alive, given back, and left to others from time to time. */
import { SLOT_EXPIRES_MS, type SlotSharing } from './shared-slots.ts';
import type { Committer, PendingCommit } from './slot.ts';
import { type HeartbeatSleep, openHeartbeat } from '../lease/heartbeat.ts';

export interface SlotTable {
  /** Slots with a call under way, or about to be, whether still ours or lost meanwhile. */
  readonly usedCount: () => number;
  /** Numbers that are not to be asked for. */
  readonly excluded: () => number[];
  /** Takes a slot into use again that was not given back yet, unless it is due to others; undefined without one. */
  readonly reuse: () => number | undefined;
  /** Takes a slot into use that the source gave out at the earliest at this instant. */
  readonly use: (number: number, sinceMs: number) => void;
  /** Ends its use; it stays ours for the next one here, until given back. */
  readonly release: (number: number) => void;
  /** Has others wait for the slot until this is recorded. */
  readonly addPendingCommit: (number: number, recording: PendingCommit) => void;
  /** What is to be recorded by others than this one before the slot is used again; undefined where there is nothing. */
  readonly pendingCommit: (number: number, by: Committer) => Promise<unknown> | undefined;
  /** Says whether others have found too few slots. */
  readonly setWanted: (isWanted: boolean) => void;
  /** True of a slot that was passed on here for long while others want one. */
  readonly isOverdue: (number: number) => boolean;
  /** Takes note of a slot for which there is no use. */
  readonly addSpare: (number: number) => void;
  /** True while nobody else can have the slot. */
  readonly isCertain: (number: number) => boolean;
  /** Asks whether the slot is still ours; keeps it if so. */
  readonly confirm: (number: number) => Promise<boolean>;
  readonly hasIdle: () => boolean;
  /** Gives back what is not in use. */
  readonly giveBack: () => Promise<void>;
  /** Stops the heartbeat. */
  readonly end: () => Promise<void>;
}

export interface SlotTableEffects {
  readonly now: () => Date;
  readonly sleep: HeartbeatSleep;
}

/** A process with more work than slots would pass them on for ever; so often it leaves each to others who want one. */
const TENURE_MS = 2_000;

const LOST = Number.NEGATIVE_INFINITY;

/**
 * Holds slots; those of a limiter that is not shared are never lost. `restMs` is how long others take to notice a free one.
 * `onFree` is told of one that may be given back now.
 */
export function openSlotTable(
  sharing: SlotSharing | undefined,
  { restMs, onFree }: { readonly restMs: number; readonly onFree: () => void },
  { now, sleep }: SlotTableEffects,
): SlotTable {
  /** Until when each slot in use is surely ours. */
  const used = new Map<number, number>();
  /** Until when each of the others is surely ours. */
  const idle = new Map<number, number>();
  /** What calls that are over left to record, all of each slot together, and by whom the last of it. */
  const owing = new Map<number, PendingCommit>();
  /** Since when each is passed on here from call to call. */
  const keptSince = new Map<number, number>();
  const leftUntil = new Map<number, number>();
  let areWanted = false;
  const nowMs = (): number => now().getTime();

  const renew = async (numbers: readonly number[]): Promise<void> => {
    if (!sharing || numbers.length === 0) return;
    const untilMs = nowMs() + SLOT_EXPIRES_MS;
    const kept = await sharing.renew(numbers);
    for (const number of numbers) if (used.has(number)) used.set(number, kept.includes(number) ? untilMs : LOST);
  };
  const heartbeat = sharing && openHeartbeat(() => renew([...new Set([...used.keys(), ...owing.keys()])]), sleep);

  const free = (): number[] => [...idle.keys()].filter((number) => !owing.has(number));
  const isOverdue = (number: number): boolean => areWanted && nowMs() - (keptSince.get(number) ?? nowMs()) >= TENURE_MS;
  const addPendingCommit = (number: number, { recorded, committer }: PendingCommit): void => {
    const all: PendingCommit = { recorded: Promise.allSettled([owing.get(number)?.recorded, recorded]), committer };
    owing.set(number, all);
    void all.recorded.then(() => {
      if (owing.get(number) !== all) return;
      owing.delete(number);
      if (sharing) onFree();
    });
  };

  return {
    usedCount: () => used.size,
    excluded: () => {
      for (const [number, untilMs] of leftUntil) if (nowMs() >= untilMs) leftUntil.delete(number);
      return [...used.keys(), ...leftUntil.keys()];
    },
    reuse: () => {
      const found = [...idle].find(([number, untilMs]) => nowMs() < untilMs && !isOverdue(number));
      if (!found) return undefined;
      const [number, untilMs] = found;
      idle.delete(number);
      used.set(number, untilMs);
      return number;
    },
    use: (number, sinceMs) => {
      idle.delete(number);
      used.set(number, sharing ? sinceMs + SLOT_EXPIRES_MS : Number.POSITIVE_INFINITY);
      if (!keptSince.has(number)) keptSince.set(number, nowMs());
    },
    release: (number) => {
      const untilMs = used.get(number) ?? LOST;
      used.delete(number);
      if (!sharing) return;
      idle.set(number, untilMs);
      if (isOverdue(number)) leftUntil.set(number, nowMs() + restMs);
    },
    addPendingCommit,
    pendingCommit: (number, by) => {
      const left = owing.get(number);
      // Whoever took the slot after others waited for them, so all that is left is of the last.
      return left === undefined || left.committer === by ? undefined : left.recorded;
    },
    setWanted: (isWanted) => {
      areWanted = isWanted;
    },
    isOverdue,
    addSpare: (number) => {
      if (sharing) idle.set(number, LOST);
    },
    isCertain: (number) => nowMs() < (used.get(number) ?? LOST),
    confirm: async (number) => {
      await renew([number]);
      return (used.get(number) ?? LOST) !== LOST;
    },
    hasIdle: () => free().length > 0,
    giveBack: async () => {
      const numbers = free();
      if (!sharing || numbers.length === 0) return;
      for (const number of numbers) {
        idle.delete(number);
        keptSince.delete(number);
      }
      // What can't be given back is taken again as ours, or runs out by itself.
      await sharing.release(numbers).catch(() => undefined);
    },
    end: async () => {
      await Promise.all([...owing.values()].map(({ recorded }) => recorded));
      await heartbeat?.end();
    },
  };
}
