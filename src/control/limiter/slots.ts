/**
 * The slots that this process holds of a shared limiter: kept alive, released, and left to other processes from time to
 * time.
 */
import { SLOT_EXPIRES_MS, type SlotSharing } from './shared-slots.ts';
import type { Committer, PendingCommit } from './slot.ts';
import { type Heartbeat, type HeartbeatSleep, openHeartbeat } from '../lease/heartbeat.ts';

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
export const openSlotTable = (
  sharing: SlotSharing | undefined,
  rest: RestOptions,
  effects: SlotTableEffects,
): SlotTable => new HeldSlots(sharing, rest, effects);

interface RestOptions {
  readonly restMs: number;
  readonly onFree: () => void;
}

class HeldSlots implements SlotTable {
  readonly #sharing: SlotSharing | undefined;
  readonly #rest: RestOptions;
  readonly #now: () => Date;
  readonly #heartbeat: Heartbeat | undefined;
  /** Until when each used slot is surely held. */
  readonly #used = new Map<number, number>();
  /** Until when each idle slot is surely held. */
  readonly #idle = new Map<number, number>();
  /** The commits that ended calls still have to make, combined for each slot, with the committer of the last one. */
  readonly #pendingCommits = new Map<number, PendingCommit>();
  /** Since when each slot is reused from call to call. */
  readonly #keptSince = new Map<number, number>();
  readonly #leftUntil = new Map<number, number>();
  #areWanted = false;

  constructor(sharing: SlotSharing | undefined, rest: RestOptions, { now, sleep }: SlotTableEffects) {
    this.#sharing = sharing;
    this.#rest = rest;
    this.#now = now;
    const renewAll = (): Promise<void> =>
      this.#renew([...new Set([...this.#used.keys(), ...this.#pendingCommits.keys()])]);
    this.#heartbeat = sharing && openHeartbeat(renewAll, sleep);
  }

  usedCount(): number {
    return this.#used.size;
  }

  excluded(): number[] {
    for (const [number, untilMs] of this.#leftUntil) if (this.#nowMs() >= untilMs) this.#leftUntil.delete(number);
    return [...this.#used.keys(), ...this.#leftUntil.keys()];
  }

  reuse(): number | undefined {
    const found = [...this.#idle].find(([number, untilMs]) => this.#nowMs() < untilMs && !this.isOverdue(number));
    if (!found) return undefined;
    const [number, untilMs] = found;
    this.#idle.delete(number);
    this.#used.set(number, untilMs);
    return number;
  }

  use(number: number, sinceMs: number): void {
    this.#idle.delete(number);
    this.#used.set(number, this.#sharing ? sinceMs + SLOT_EXPIRES_MS : Number.POSITIVE_INFINITY);
    if (!this.#keptSince.has(number)) this.#keptSince.set(number, this.#nowMs());
  }

  release(number: number): void {
    const untilMs = this.#used.get(number) ?? LOST;
    this.#used.delete(number);
    if (!this.#sharing) return;
    this.#idle.set(number, untilMs);
    if (this.isOverdue(number)) this.#leftUntil.set(number, this.#nowMs() + this.#rest.restMs);
  }

  addPendingCommit(number: number, { recorded, committer }: PendingCommit): void {
    const earlier = this.#pendingCommits.get(number)?.recorded;
    const all: PendingCommit = { recorded: Promise.allSettled([earlier, recorded]), committer };
    this.#pendingCommits.set(number, all);
    void all.recorded.then(() => {
      if (this.#pendingCommits.get(number) !== all) return;
      this.#pendingCommits.delete(number);
      if (this.#sharing) this.#rest.onFree();
    });
  }

  pendingCommit(number: number, by: Committer): Promise<unknown> | undefined {
    const left = this.#pendingCommits.get(number);
    // A call that took over the slot waited for other committers, so everything left is from the last one.
    return left === undefined || left.committer === by ? undefined : left.recorded;
  }

  setWanted(isWanted: boolean): void {
    this.#areWanted = isWanted;
  }

  isOverdue(number: number): boolean {
    const nowMs = this.#nowMs();
    return this.#areWanted && nowMs - (this.#keptSince.get(number) ?? nowMs) >= TENURE_MS;
  }

  addSpare(number: number): void {
    if (this.#sharing) this.#idle.set(number, LOST);
  }

  isCertain(number: number): boolean {
    return this.#nowMs() < (this.#used.get(number) ?? LOST);
  }

  async confirm(number: number): Promise<boolean> {
    await this.#renew([number]);
    return (this.#used.get(number) ?? LOST) !== LOST;
  }

  hasIdle(): boolean {
    return this.#free().length > 0;
  }

  async giveBack(): Promise<void> {
    const numbers = this.#free();
    if (!this.#sharing || numbers.length === 0) return;
    for (const number of numbers) {
      this.#idle.delete(number);
      this.#keptSince.delete(number);
    }
    // A slot that cannot be released is granted to this process again, or expires by itself.
    await this.#sharing.release(numbers).catch(() => undefined);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#pendingCommits.values()].map(({ recorded }) => recorded));
    await this.#heartbeat?.end();
  }

  async #renew(numbers: readonly number[]): Promise<void> {
    if (!this.#sharing || numbers.length === 0) return;
    const untilMs = this.#nowMs() + SLOT_EXPIRES_MS;
    const kept = await this.#sharing.renew(numbers);
    for (const number of numbers)
      if (this.#used.has(number)) this.#used.set(number, kept.includes(number) ? untilMs : LOST);
  }

  #free(): number[] {
    return [...this.#idle.keys()].filter((number) => !this.#pendingCommits.has(number));
  }

  #nowMs(): number {
    return this.#now().getTime();
  }
}
