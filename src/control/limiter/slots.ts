/**
 * The slots that this process holds of a shared limiter: kept alive, released, and left to other processes from time to
 * time.
 */
import { SLOT_EXPIRES_MS, type SlotSharing } from './shared-slots.ts';
import type { Committer, PendingCommit } from './slot.ts';
import { type HeartbeatSleep, openHeartbeat } from '../lease/heartbeat.ts';

export interface SlotTable {
  /** Number of slots with a call, in flight or about to be, whether still held or lost meanwhile. */
  readonly usedCount: () => number;
  /** Numbers of slots that must not be requested. */
  readonly excluded: () => number[];
  /** Reuses an idle slot that is still held and not due to other processes; returns its number, or undefined. */
  readonly reuse: () => number | undefined;
  /** Marks a slot as used that the source granted at this instant or later. */
  readonly use: (number: number, sinceMs: number) => void;
  /** Ends the use of a slot; this process holds it for its next call until `giveBack`. */
  readonly release: (number: number) => void;
  /** Makes other processes wait for the slot until this is recorded. */
  readonly addPendingCommit: (number: number, recording: PendingCommit) => void;
  /** Returns what another committer must record before the slot is used again; undefined if nothing. */
  readonly pendingCommit: (number: number, by: Committer) => Promise<unknown> | undefined;
  /** Records whether other processes lack slots. */
  readonly setWanted: (isWanted: boolean) => void;
  /** True for a slot that this process has reused for too long while other processes want one. */
  readonly isOverdue: (number: number) => boolean;
  /** Records a granted slot without a use. */
  readonly addSpare: (number: number) => void;
  /** True while no other process can have the slot. */
  readonly isCertain: (number: number) => boolean;
  /** Checks whether this process still holds the slot, and renews it if so. */
  readonly confirm: (number: number) => Promise<boolean>;
  readonly hasIdle: () => boolean;
  /** Releases slots that are not in use. */
  readonly giveBack: () => Promise<void>;
  /** Stops the heartbeat. */
  readonly end: () => Promise<void>;
}

export interface SlotTableEffects {
  readonly now: () => Date;
  readonly sleep: HeartbeatSleep;
}

/**
 * A process with more work than slots would reuse them forever; at this interval it leaves each to processes that want
 * one.
 */
const TENURE_MS = 2_000;

const LOST = Number.NEGATIVE_INFINITY;

/**
 * Creates the table of held slots; without `sharing`, they are never lost. `restMs` is how long other processes take to
 * notice a free slot. `onFree` is called when a slot may be released.
 */
export function openSlotTable(
  sharing: SlotSharing | undefined,
  { restMs, onFree }: { readonly restMs: number; readonly onFree: () => void },
  { now, sleep }: SlotTableEffects,
): SlotTable {
  /** Until when each used slot is surely held. */
  const used = new Map<number, number>();
  /** Until when each idle slot is surely held. */
  const idle = new Map<number, number>();
  /** The commits that ended calls still have to make, combined for each slot, with the committer of the last one. */
  const pendingCommits = new Map<number, PendingCommit>();
  /** Since when each slot is reused from call to call. */
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
  const heartbeat =
    sharing && openHeartbeat(() => renew([...new Set([...used.keys(), ...pendingCommits.keys()])]), sleep);

  const free = (): number[] => [...idle.keys()].filter((number) => !pendingCommits.has(number));
  const isOverdue = (number: number): boolean => areWanted && nowMs() - (keptSince.get(number) ?? nowMs()) >= TENURE_MS;
  const addPendingCommit = (number: number, { recorded, committer }: PendingCommit): void => {
    const all: PendingCommit = {
      recorded: Promise.allSettled([pendingCommits.get(number)?.recorded, recorded]),
      committer,
    };
    pendingCommits.set(number, all);
    void all.recorded.then(() => {
      if (pendingCommits.get(number) !== all) return;
      pendingCommits.delete(number);
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
      const left = pendingCommits.get(number);
      // A call that took over the slot waited for other committers, so everything left is from the last one.
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
      // A slot that cannot be released is granted to this process again, or expires by itself.
      await sharing.release(numbers).catch(() => undefined);
    },
    end: async () => {
      await Promise.all([...pendingCommits.values()].map(({ recorded }) => recorded));
      await heartbeat?.end();
    },
  };
}
