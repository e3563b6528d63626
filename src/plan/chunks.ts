/** Cuts a plan into chunks of about as many requests each, in the order planned; pure. */
import type { Task } from './task.ts';

export interface Chunks {
  /** By place among the tasks, the chunk that each belongs to. */
  readonly chunkOf: readonly number[];
  /** By chunk, how many requests it has to send. */
  readonly sizes: readonly number[];
}

/**
 * The chunks of a plan; undefined when it fits into one. Answers that are there already weigh nothing, and go with the
 * requests beside them.
 */
export function chunksOf(
  tasks: readonly Pick<Task, 'requestKey'>[],
  fresh: ReadonlyMap<string, unknown>,
  most: number,
): Chunks | undefined {
  const asked = tasks.filter(({ requestKey }) => !fresh.has(requestKey)).length;
  const count = Math.ceil(asked / most);
  if (count < 2) return undefined;
  // Even ones: a last chunk of a few requests would be a job for next to nothing.
  const each = Math.ceil(asked / count);
  const sizes = Array.from({ length: Math.ceil(asked / each) }, () => 0);
  let place = 0;
  const chunkOf = tasks.map(({ requestKey }) => {
    const chunk = Math.min(Math.floor(place / each), sizes.length - 1);
    if (!fresh.has(requestKey)) {
      sizes[chunk] = (sizes[chunk] ?? 0) + 1;
      place += 1;
    }
    return chunk;
  });
  return { chunkOf, sizes };
}
