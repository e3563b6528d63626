/**
 * The slots that this process holds of a shared limiter: kept alive, released, and left to other processes from time to
 * time.
 */
import { SLOT_EXPIRES_MS, type SlotSharing } from './slot-source.ts';
import type { PendingCommit } from './slot.ts';
import { type Heartbeat, type HeartbeatSleep, openHeartbeat } from '../lease/heartbeat.ts';

interface SlotTableEffects {
  readonly now: () => Date;
  readonly sleep: HeartbeatSleep;
}

/**
 * A process with more work than slots would reuse them forever; at this interval it leaves each to processes that want
 * one.
 */
const TENURE_MS = 2_000;

const LOST = Number.NEGATIVE_INFINITY;

/** A slot that this process has: used by a call, or idle after one. */
export interface HeldSlot {
  readonly number: number;
  /** Since when it is reused from call to call. */
  readonly keptSinceMs: number;
  isUsed: boolean;
  /** Until when it is surely held. */
  untilMs: number;
  /** The commits that ended calls still have to make, combined, with the committer of the last one. */
  pendingCommit: PendingCommit | undefined;
}

interface RestOptions {
  /** How long other processes take to notice a free slot. */
  readonly restMs: number;
  /** Called when a slot may be released. */
  readonly onFree: () => void;
}

/** The table of held slots. Without `sharing`, they are never lost. */
export class SlotTable {
  readonly #sharing: SlotSharing | undefined;
  readonly #rest: RestOptions;
  readonly #now: () => Date;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #slots = new Map<number, HeldSlot>();
  /** Until when overdue slots are left to other processes. */
  readonly #leftUntil = new Map<number, number>();
  #areWanted = false;

  constructor(sharing: SlotSharing | undefined, rest: RestOptions, { now, sleep }: SlotTableEffects) {
    this.#sharing = sharing;
    this.#rest = rest;
    this.#now = now;
    const renewAll = (): Promise<void> => this.#renew(this.#all().filter((slot) => !isFree(slot)));
    this.#heartbeat = sharing && openHeartbeat(renewAll, sleep);
  }

  /** Slots with a call, in flight or about to be, whether still held or lost meanwhile. */
  used(): readonly HeldSlot[] {
    return this.#all().filter(({ isUsed }) => isUsed);
  }

  /** Numbers of slots that must not be requested. */
  excluded(): number[] {
    for (const [number, untilMs] of this.#leftUntil) if (this.#nowMs() >= untilMs) this.#leftUntil.delete(number);
    return [...this.used().map(({ number }) => number), ...this.#leftUntil.keys()];
  }

  /** Adds a slot that the source granted at this instant or later; a slot that is in the table is held for longer. */
  add(number: number, sinceMs: number): HeldSlot {
    const untilMs = this.#sharing ? sinceMs + SLOT_EXPIRES_MS : Number.POSITIVE_INFINITY;
    const slot = this.#slots.get(number) ?? {
      number,
      keptSinceMs: this.#nowMs(),
      isUsed: false,
      untilMs,
      pendingCommit: undefined,
    };
    slot.untilMs = untilMs;
    this.#slots.set(number, slot);
    return slot;
  }

  /** Returns an idle slot that a call may reuse, or undefined. */
  reusable(): HeldSlot | undefined {
    return this.#all().find((slot) => !slot.isUsed && this.mayReuse(slot));
  }

  /** True for a slot that is surely held, and not due to other processes. */
  mayReuse(slot: HeldSlot): boolean {
    return this.isCertain(slot) && !this.#isOverdue(slot);
  }

  use(slot: HeldSlot): void {
    slot.isUsed = true;
  }

  /** Ends the use of a slot; this process holds it for its next call until `giveBack`. */
  release(slot: HeldSlot): void {
    slot.isUsed = false;
    if (this.#isOverdue(slot)) this.#leftUntil.set(slot.number, this.#nowMs() + this.#rest.restMs);
  }

  /** Makes other processes wait for the slot until this is recorded. */
  addPendingCommit(slot: HeldSlot, { recorded, committer }: PendingCommit): void {
    const all: PendingCommit = { recorded: Promise.allSettled([slot.pendingCommit?.recorded, recorded]), committer };
    slot.pendingCommit = all;
    void all.recorded.then(() => {
      if (slot.pendingCommit !== all) return;
      slot.pendingCommit = undefined;
      if (this.#sharing) this.#rest.onFree();
    });
  }

  /** Records whether other processes lack slots. */
  setWanted(isWanted: boolean): void {
    this.#areWanted = isWanted;
  }

  /** True while no other process can have the slot. */
  isCertain({ untilMs }: HeldSlot): boolean {
    return this.#nowMs() < untilMs;
  }

  /** Checks whether this process still holds the slot, and renews it if so. */
  async confirm(slot: HeldSlot): Promise<boolean> {
    await this.#renew([slot]);
    return slot.untilMs !== LOST;
  }

  hasFree(): boolean {
    return this.#free().length > 0;
  }

  /** Releases slots that are not in use. */
  async giveBack(): Promise<void> {
    const numbers = this.#free().map(({ number }) => number);
    if (numbers.length === 0) return;
    for (const number of numbers) this.#slots.delete(number);
    // A slot that cannot be released is granted to this process again, or expires by itself.
    await this.#sharing?.release(numbers).catch(() => undefined);
  }

  /** Stops the heartbeat. */
  async end(): Promise<void> {
    await Promise.all(this.#all().flatMap(({ pendingCommit }) => pendingCommit?.recorded ?? []));
    await this.#heartbeat?.end();
  }

  async #renew(slots: readonly HeldSlot[]): Promise<void> {
    if (!this.#sharing || slots.length === 0) return;
    const untilMs = this.#nowMs() + SLOT_EXPIRES_MS;
    const kept = await this.#sharing.renew(slots.map(({ number }) => number));
    for (const slot of slots) if (slot.isUsed) slot.untilMs = kept.includes(slot.number) ? untilMs : LOST;
  }

  /** True for a slot that this process has reused for too long while other processes want one. */
  #isOverdue({ keptSinceMs }: HeldSlot): boolean {
    return this.#areWanted && this.#nowMs() - keptSinceMs >= TENURE_MS;
  }

  /** The slots to release; none if there are no other processes. */
  #free(): readonly HeldSlot[] {
    return this.#sharing ? this.#all().filter(isFree) : [];
  }

  #all(): readonly HeldSlot[] {
    return [...this.#slots.values()];
  }

  #nowMs(): number {
    return this.#now().getTime();
  }
}

const isFree = ({ isUsed, pendingCommit }: HeldSlot): boolean => !isUsed && !pendingCommit;
