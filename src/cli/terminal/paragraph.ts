/** Headings, and sentences that are wrapped to the width of the terminal. */
import type { Channel } from './channel.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { paint } from './print.ts';
import { widthOf } from './width.ts';

/** The text as lines of at most this width; a longer word has a line of its own. */
export function wrapped(text: string, columns: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer) > columns) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** The text, wrapped to the width of the terminal, if there is one. */
export const paragraph = (text: string, { columns = Infinity }: Channel): string =>
  wrapped(escapeControls(text), columns)
    .map((line) => `${line}\n`)
    .join('');

/** The title of a part of the output, after an empty line. */
export const heading = (text: string, channel: Channel): string => `\n${paint(channel, 'bold', text)}\n`;
