/** Asks the person at the terminal, a line at a time. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { UsageError } from '../../errors.ts';
import type { Channel } from './channel.ts';

/** Writes the question and gives the answer, without spaces around it. */
export type Ask = (question: string) => Promise<string>;

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Pick<Channel, 'isTerminal' | 'write'>;
  /** Ends the wait for an answer with its reason. */
  readonly signal: AbortSignal;
}

/**
 * How to ask, or undefined where nobody sits who could answer. Throws a UsageError when the input ends before the answer.
 * The terminal itself edits the line: so a key press that interrupts is a signal, as anywhere else.
 */
export function askerOf({ input, output, signal }: Terminal): Ask | undefined {
  if (input.isTTY !== true || !output.isTerminal) return undefined;
  let lines: AsyncIterator<string> | undefined;
  return async (question) => {
    signal.throwIfAborted();
    // One reader for all questions: another would lose what was typed ahead.
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
      next: 'Answer it, or say what you want by flags; --help lists them.',
    });
  };
}
