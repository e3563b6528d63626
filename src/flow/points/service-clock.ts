/** The difference between the clock of the service, which dates the rows of the log, and that of the warehouse. */
import { onlyStart } from '../../ledger/log-costs.ts';
import { readLogIdentifiers, toleranceMs } from '../../ledger/match-log.ts';
import { retryTransient } from '../../warehouse/connect/retry-transient.ts';
import type { LogReadContext } from '../run/read-request-log.ts';
import { MARGIN_MS } from './log-position.ts';

export class ServiceClock {
  readonly #context: LogReadContext;
  /** How far the service's clock was ahead of the last call that was compared. */
  #aheadMs: number | undefined;

  constructor(context: LogReadContext) {
    this.#context = context;
  }

  /** How far the service's clock is ahead; undefined within the tolerance of matching, where that does not matter. */
  offsetMs(): number | undefined {
    const isApart = Math.abs(this.#aheadMs ?? 0) > toleranceMs({ offsetMs: undefined });
    return isApart ? this.#aheadMs : undefined;
  }

  /** Compares the clocks by the only call that may be in the log since then. */
  async measure(sentMs: number, from: Date | undefined): Promise<void> {
    const { warehouse, definition } = this.#context;
    const only = await retryTransient(() => onlyStart(warehouse, definition.endpoint.name, from), this.#context);
    // A row up to there was the newest one before the call.
    const isNew = only && !(from && only.getTime() <= from.getTime() + MARGIN_MS);
    if (isNew) this.#aheadMs = only.getTime() - sentMs;
  }

  /** The time of the warehouse's clock at an instant of the service's clock, as far as their difference is known. */
  async atHere(at: Date): Promise<Date> {
    return new Date(at.getTime() - (await this.#offset()));
  }

  /** The latest time that a row can have by the service's clock, as far as the difference is known. */
  async present(): Promise<Date> {
    return new Date(this.#context.now().getTime() + (await this.#offset()) + MARGIN_MS);
  }

  async #offset(): Promise<number> {
    const found = await retryTransient(() => readLogIdentifiers(this.#context.warehouse), this.#context);
    return found.offsetMs ?? this.#aheadMs ?? 0;
  }
}
