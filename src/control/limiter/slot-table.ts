/**
 * The slots that this process holds of a shared limiter: kept alive, released, and left to other processes from time to
 * time.
 */
import { SLOT_EXPIRES_MS, type SlotSharing } from './shared-slots.ts';
import type { Committer, PendingCommit } from './slot.ts';
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

  /** Number of slots with a call, in flight or about to be, whether still held or lost meanwhile. */
  usedCount(): number {
    return this.#used.size;
  }

  /** Numbers of slots that must not be requested. */
  excluded(): number[] {
    for (const [number, untilMs] of this.#leftUntil) if (this.#nowMs() >= untilMs) this.#leftUntil.delete(number);
    return [...this.#used.keys(), ...this.#leftUntil.keys()];
  }

  /** Reuses an idle slot that is still held and not due to other processes; returns its number, or undefined. */
  reuse(): number | undefined {
    const found = [...this.#idle].find(([number, untilMs]) => this.#nowMs() < untilMs && !this.isOverdue(number));
    if (!found) return undefined;
    const [number, untilMs] = found;
    this.#idle.delete(number);
    this.#used.set(number, untilMs);
    return number;
  }

  /** Marks a slot as used that the source granted at this instant or later. */
  use(number: number, sinceMs: number): void {
    this.#idle.delete(number);
    this.#used.set(number, this.#sharing ? sinceMs + SLOT_EXPIRES_MS : Number.POSITIVE_INFINITY);
    if (!this.#keptSince.has(number)) this.#keptSince.set(number, this.#nowMs());
  }

  /** Ends the use of a slot; this process holds it for its next call until `giveBack`. */
  release(number: number): void {
    const untilMs = this.#used.get(number) ?? LOST;
    this.#used.delete(number);
    if (!this.#sharing) return;
    this.#idle.set(number, untilMs);
    if (this.isOverdue(number)) this.#leftUntil.set(number, this.#nowMs() + this.#rest.restMs);
  }

  /** Makes other processes wait for the slot until this is recorded. */
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

  /** Returns what another committer must record before the slot is used again; undefined if nothing. */
  pendingCommit(number: number, by: Committer): Promise<unknown> | undefined {
    const left = this.#pendingCommits.get(number);
    // A call that took over the slot waited for other committers, so everything left is from the last one.
    return left === undefined || left.committer === by ? undefined : left.recorded;
  }

  /** Records whether other processes lack slots. */
  setWanted(isWanted: boolean): void {
    this.#areWanted = isWanted;
  }

  /** True for a slot that this process has reused for too long while other processes want one. */
  isOverdue(number: number): boolean {
    const nowMs = this.#nowMs();
    return this.#areWanted && nowMs - (this.#keptSince.get(number) ?? nowMs) >= TENURE_MS;
  }

  /** Records a granted slot without a use. */
  addSpare(number: number): void {
    if (this.#sharing) this.#idle.set(number, LOST);
  }

  /** True while no other process can have the slot. */
  isCertain(number: number): boolean {
    return this.#nowMs() < (this.#used.get(number) ?? LOST);
  }

  /** Checks whether this process still holds the slot, and renews it if so. */
  async confirm(number: number): Promise<boolean> {
    await this.#renew([number]);
    return (this.#used.get(number) ?? LOST) !== LOST;
  }

  hasIdle(): boolean {
    return this.#free().length > 0;
  }

  /** Releases slots that are not in use. */
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

  /** Stops the heartbeat. */
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
