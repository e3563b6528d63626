/** The one line of a terminal that is rewritten while a command works, and that gives way to whatever else is written. */
import type { Channel } from './channel.ts';
import { paint } from './print.ts';
import { cutTo } from './width.ts';

export interface StatusLine {
  /** Shows the text in place of what was shown. */
  readonly show: (text: string) => void;
  /** Takes the line away, writes, and puts the line back. */
  readonly around: (write: () => void) => void;
  /** Takes the line away. */
  readonly clear: () => void;
}

/** To the beginning of the line, and everything after it away. */
const ERASE = '\r\u001b[K';

/** Assumed of a terminal that does not tell its width. */
const USUAL_COLUMNS = 80;

export function createStatusLine(channel: Channel): StatusLine {
  let shown = '';
  const show = (text: string): void => {
    shown = text;
    // A line that fills the last column wraps on some terminals, and only its second half would be taken away.
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
