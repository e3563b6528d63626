/** Quotes texts for commands that users copy to a shell. */
import { escapeControls } from '../../text/terminal-safe.ts';

/** The text as one word of a POSIX shell, without control characters. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+-]+$/.test(text) ? text : `'${escapeControls(text).replaceAll("'", String.raw`'\''`)}'`;
