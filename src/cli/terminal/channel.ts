/** A stream of the process as a channel. */
import type { WriteStream } from 'node:tty';

export interface ProcessChannel extends Channel {
  /** Waits until everything is written; gives the error that kept it from being written, if any. */
  readonly flush: () => Promise<Error | undefined>;
}

/** What a stream says of itself; only a terminal has a width. */
type Stream = Pick<WriteStream, 'write' | 'on'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/** Colour is for terminals, unless NO_COLOR is set (https://no-color.org) or the terminal has none. */
export function channelOf(stream: Stream, env: Readonly<Record<string, string | undefined>>): ProcessChannel {
  const isTerminal = stream.isTTY === true;
  let failure: Error | undefined;
  let isGone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` took what it wanted and left: the work goes on, unheard.
    isGone = true;
    if (error.code !== 'EPIPE') failure ??= error;
  });
  return {
    isTerminal,
    color: isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    get columns() {
      // A terminal without a window tells 0.
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
  /** Writes text as it is; a reader that went away is no error. */
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined off one, where nothing is cut. */
  readonly columns: number | undefined;
  /** Whether colour is wanted there. */
  readonly color: boolean;
}
