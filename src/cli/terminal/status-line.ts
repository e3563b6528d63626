/** The status line of a terminal, which is rewritten while a command works. Other output goes above it. */
import type { Channel } from './channel.ts';
import { paint } from './print.ts';
import { cutTo } from './width.ts';

export interface StatusLine {
  /** Replaces the text of the line. */
  readonly show: (text: string) => void;
  /** Removes the line, calls `write`, and shows the line again. */
  readonly around: (write: () => void) => void;
  readonly clear: () => void;
}

/** Moves to the start of the line and clears it. */
const ERASE = '\r\u001b[K';

/** The width of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

export function createStatusLine(channel: Channel): StatusLine {
  let shown = '';
  const show = (text: string): void => {
    shown = text;
    // On some terminals, a line that fills the last column wraps, and only its second half would be cleared.
    channel.write(ERASE + paint(channel, 'dim', cutTo(text, (channel.columns ?? USUAL_COLUMNS) - 1)));
  };
  const clear = (): void => {
    if (shown !== '') channel.write(ERASE);
    shown = '';
  };
  return {
    show,
    clear,
    around: (write) => {
      const line = shown;
      clear();
      write();
      if (line !== '') show(line);
    },
  };
}
