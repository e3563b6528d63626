/** Divides the requests of a plan into chunks, in the order of the plan; pure. */
import type { Task } from './task.ts';

/**
 * The chunks of a plan of unknown size. Tasks with a stored answer do not count, and belong to the chunk of their
 * neighbours.
 */
export class ChunkPlan {
  readonly #most: number;
  readonly #sizes: number[] = [0];

  /** `most` is the number of requests to send in a chunk; the last chunk has the rest. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The number of requests to send, by chunk; empty if the plan fits into one chunk. */
  get sizes(): readonly number[] {
    return this.#sizes.length === 1 ? [] : this.#sizes;
  }

  /** The chunk of each of the next tasks; null for the first chunk, which only exists if there is a second. */
  assign(
    tasks: readonly Pick<Task, 'requestKey'>[],
    isSettled: (requestKey: string) => boolean,
  ): readonly (number | null)[] {
    return tasks.map(({ requestKey }) => {
      if (!isSettled(requestKey)) {
        if (this.#sizes.at(-1) === this.#most) this.#sizes.push(0);
        this.#sizes.push((this.#sizes.pop() ?? 0) + 1);
      }
      return this.#sizes.length === 1 ? null : this.#sizes.length - 1;
    });
  }
}
