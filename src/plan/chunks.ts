/** Splits a plan into chunks of about the same number of requests, in the order of the plan; pure. */
import type { Task } from './task.ts';

export interface Chunks {
  /** The chunk of each task, by the task's index. */
  readonly chunkOf: readonly number[];
  /** The number of requests to send, by chunk. */
  readonly sizes: readonly number[];
}

/**
 * The chunks of a plan; undefined if the plan fits into one. Tasks with a fresh answer do not count, and belong to the
 * chunk of their neighbours.
 */
export function chunksOf(
  tasks: readonly Pick<Task, 'requestKey'>[],
  fresh: ReadonlyMap<string, unknown>,
  most: number,
): Chunks | undefined {
  const toSend = tasks.filter(({ requestKey }) => !fresh.has(requestKey)).length;
  const count = Math.ceil(toSend / most);
  if (count < 2) return undefined;
  // All chunks have about the same size, so that no job is created for a few requests only.
  const each = Math.ceil(toSend / count);
  const sizes = Array.from({ length: Math.ceil(toSend / each) }, () => 0);
  let sendIndex = 0;
  const chunkOf = tasks.map(({ requestKey }) => {
    const chunk = Math.min(Math.floor(sendIndex / each), sizes.length - 1);
    if (!fresh.has(requestKey)) {
      sizes[chunk] = (sizes[chunk] ?? 0) + 1;
      sendIndex += 1;
    }
    return chunk;
  });
  return { chunkOf, sizes };
}
