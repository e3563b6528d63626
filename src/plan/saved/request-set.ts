/**
 * Describes a set of requests of any size in constant memory: its count, a digest that does not depend on the order, and
 * a sample that shows what differs from another set. Pure.
 */

/** The description of a set of requests. */
export interface RequestSetSummary {
  readonly count: number;
  /** The sum of the request keys as numbers, modulo 2^256, in hex. */
  readonly digest: string;
  /**
   * The requests with the lowest keys, each with the first half of its key and a text for people. All requests of a small
   * set are among them.
   */
  readonly sample: readonly SampledRequest[];
}

/** A request of the sample: the first half of its key, and the fields that distinguish it from others of its sync. */
export type SampledRequest = readonly [key: string, text: string];

/** Requests in a sample. */
export const SAMPLE = 1000;

/** Adds up requests. Each request is added once. */
export class RequestSet {
  #count = 0;
  #sum = 0n;
  #sample: SampledRequest[] = [];
  /** No request above this key belongs to the sample. */
  #bound = '~';

  /** Adds the request with this SHA-256 in hex; `text` is only called for requests that may be in the sample. */
  add(requestKey: string, text: () => string): void {
    this.#count += 1;
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${requestKey}`));
    const key = requestKey.slice(0, 32);
    if (key >= this.#bound) return;
    this.#sample.push([key, text()]);
    // Sorted only after as many additions as the sample has requests.
    if (this.#sample.length >= 2 * SAMPLE) this.#cut();
  }

  summary(): RequestSetSummary {
    this.#cut();
    return { count: this.#count, digest: this.#sum.toString(16).padStart(64, '0'), sample: [...this.#sample] };
  }

  #cut(): void {
    this.#sample = this.#sample.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, SAMPLE);
    if (this.#sample.length === SAMPLE) this.#bound = this.#sample.at(-1)?.[0] ?? this.#bound;
  }
}

/** True if two sets have the same requests. */
export const isSameSet = (one: RequestSetSummary, other: RequestSetSummary): boolean =>
  one.count === other.count && one.digest === other.digest;

/** Texts of requests that are only in the first set, as far as the samples show them. */
export function onlyIn(one: RequestSetSummary, other: RequestSetSummary): readonly string[] {
  const keys = new Set(other.sample.map(([key]) => key));
  // A key above the sample of a larger set may be in that set.
  const bound = other.count > other.sample.length ? (other.sample.at(-1)?.[0] ?? '') : '~';
  return one.sample.filter(([key]) => key <= bound && !keys.has(key)).map(([, text]) => text);
}
