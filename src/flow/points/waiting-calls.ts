/** The calls that ended and whose cost the request log may still confirm, with the sums of what counts for them. */
import { countedPoints, type MeteredCall } from './metered-call.ts';

/** What a call adds to the sums. */
interface Part {
  readonly counted: number;
  readonly unconfirmed: number;
}

/** Each call asks for the sums, so they are kept instead of added up: a hundred thousand calls may wait. */
export class WaitingCalls {
  readonly #parts = new Map<MeteredCall, Part>();
  #counted = 0;
  #unconfirmed = 0;

  size(): number {
    return this.#parts.size;
  }

  calls(): MeteredCall[] {
    return [...this.#parts.keys()];
  }

  /** Points that count for the calls. */
  counted(): number {
    return rounded(this.#counted);
  }

  /** Like `counted`, with at least a point for each attempt that must have a row. */
  unconfirmed(): number {
    return rounded(this.#unconfirmed);
  }

  /** Counts a call as it is now. To be called after each change of a call. */
  update(call: MeteredCall, isWaiting: boolean): void {
    const { counted = 0, unconfirmed = 0 } = this.#parts.get(call) ?? {};
    this.#counted -= counted;
    this.#unconfirmed -= unconfirmed;
    if (!isWaiting) {
      this.#parts.delete(call);
      return;
    }
    const points = countedPoints(call);
    const part = { counted: points, unconfirmed: Math.max(points, call.due) };
    this.#parts.set(call, part);
    this.#counted += part.counted;
    this.#unconfirmed += part.unconfirmed;
  }
}

/** Without what changes of fractions of points leave in a sum, which would pass for points that are still to be confirmed. */
const rounded = (points: number): number => Math.round(points * 1e6) / 1e6;
