/** Formats the watermarks of syncs for people. */
import type { Mark, MarkRange, SyncMarks } from '../../flow/marks/read-marks.ts';
import { inputText } from '../../text/filters.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Channel } from '../terminal/channel.ts';
import { column, tableOf, withNoun } from '../terminal/print.ts';

/** The most inputs of one sync that the text lists; JSON lists all. */
const LISTED = 20;

/** A table with one line for each input, and notes about what it leaves out. */
export function marksText(syncs: readonly SyncMarks[], out: Channel): string {
  if (syncs.length === 0) return 'no sync has watermarks: none has a window or reads the request log\n';
  const rows = syncs.flatMap(({ sync, marks }) => marks.slice(0, LISTED).map((mark) => ({ sync, ...mark })));
  const table = tableOf(rows, out, [
    column('sync', (it) => it.sync),
    column('input', (it) => inputText(it.input)),
    column('known', (it) => (it.known ? rangeText(it.known) : 'nothing')),
    column('as of', (it) => it.asOf ?? ''),
    column('unreadable', (it) => it.unreadable),
    column('next request', (it) => nextText(it)),
    column('reset', (it) => it.resetAt ?? ''),
  ]);
  const notes = syncs.flatMap(({ sync, marks, unused, problem }) => [
    ...(marks.length > LISTED
      ? [`${sync}: and ${withNoun(marks.length - LISTED, 'more input')}; --json lists all`]
      : []),
    ...(unused > 0
      ? [`${sync}: ${withNoun(unused, 'watermark')} of inputs or requests that the config no longer has`]
      : []),
    ...(problem === null ? [] : [`${sync}: its inputs could not be read: ${problem}`]),
  ]);
  return [table, ...notes.map((it) => `${escapeControls(it)}\n`)].join('');
}

const rangeText = ({ from, to }: MarkRange): string => `${from ?? 'the beginning'} to ${to ?? 'now'}`;

const nextText = ({ next, unreadable }: Mark): string =>
  next ? rangeText(next) : unreadable > 0 ? 'unread slices only' : 'nothing';
