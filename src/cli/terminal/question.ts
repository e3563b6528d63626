/** Asks the user at the terminal questions with answers of one line. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { UsageError } from '../../errors.ts';
import type { Channel } from './channel.ts';

/** Writes the question and returns the answer, trimmed. */
export type Ask = (question: string) => Promise<string>;

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Pick<Channel, 'isTerminal' | 'write'>;
  /** Aborts the wait for an answer with its reason. */
  readonly signal: AbortSignal;
}

/**
 * A function that asks the user; undefined without a terminal. The function throws a UsageError if the input ends before
 * the answer. The terminal handles line editing, so that Ctrl-C is a signal as usual.
 */
export function askerOf({ input, output, signal }: Terminal): Ask | undefined {
  if (input.isTTY !== true || !output.isTerminal) return undefined;
  let lines: AsyncIterator<string> | undefined;
  return async (question) => {
    signal.throwIfAborted();
    // One reader for all questions: a second one would lose lines that were typed ahead.
    lines ??= createInterface({ input, terminal: false })[Symbol.asyncIterator]();
    output.write(question);
    const ended = new AbortController();
    const interrupted = once(signal, 'abort', { signal: ended.signal }).then(() => signal.throwIfAborted());
    interrupted.catch(() => undefined);
    try {
      const next = await Promise.race([lines.next(), interrupted]);
      if (next !== undefined && next.done !== true) return next.value.trim();
    } finally {
      ended.abort();
    }
    throw new UsageError('the input ended before the question was answered; nothing was written', {
      next: 'Answer the question, or use flags; --help lists them.',
    });
  };
}
