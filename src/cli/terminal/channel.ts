/** Channels to which commands write, made from the streams of the process. */
import type { WriteStream } from 'node:tty';

export interface ProcessChannel extends Channel {
  readonly flush: NonNullable<Channel['flush']>;
}

/** The part of a stream that a channel uses; only a terminal has a width. */
type Stream = Pick<WriteStream, 'write' | 'on'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** The stream as a channel. A terminal has colour, unless NO_COLOR is set (https://no-color.org) or it is a dumb terminal. */
export function channelOf(stream: Stream, env: Readonly<Record<string, string | undefined>>): ProcessChannel {
  const isTerminal = stream.isTTY === true;
  let failure: Error | undefined;
  let isGone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // A reader such as `| head` closed the pipe: the work continues without output.
    isGone = true;
    if (error.code !== 'EPIPE') failure ??= error;
  });
  return {
    isTerminal,
    isOpen: () => !isGone,
    color: isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    get columns() {
      // A terminal without a window reports 0 columns.
      return isTerminal && stream.columns !== undefined && stream.columns > 0 ? stream.columns : undefined;
    },
    write: (text) => {
      if (!isGone) stream.write(text);
    },
    flush: () =>
      new Promise((resolve) => {
        if (isGone) resolve(failure);
        else stream.write('', () => setImmediate(() => resolve(failure)));
      }),
  };
}

/** One of the two streams that a command writes to. */
export interface Channel {
  /** Writes the text unchanged. A reader that closed the stream is not an error. */
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** False once the reader closed the stream or it failed; absent for a channel that stays open. */
  readonly isOpen?: () => boolean;
  /** Waits until all output is written, and returns the error that prevented it, if any; absent if nothing is to wait for. */
  readonly flush?: () => Promise<Error | undefined>;
  /** The width of the terminal; undefined without a terminal, where no text is cut. */
  readonly columns: number | undefined;
  /** True if the output may have colour. */
  readonly color: boolean;
}
