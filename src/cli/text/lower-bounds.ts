/** Formats lower bounds, and requests whose answer could not be read: one line each. */
import { filtersText } from '../../text/filters.ts';
import type { Gap, LowerBound } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withNoun, withThousands } from '../terminal/print.ts';

/** The greatest number of lines; the JSON form has up to 20 slices, and the coverage in the warehouse all. */
const MOST_LINES = 5;
/** The greatest length of filters, which is enough to distinguish slices. */
const MOST_CHARACTERS = 120;

/** A line for each of these slices, at most 5, and the number of further ones among `all`. */
export function lowerBoundLines(bounds: readonly (LowerBound & { readonly sync: string })[], all: number): string[] {
  const shown = bounds.slice(0, MOST_LINES);
  const more = all - shown.length;
  return [...shown.map(lineOf), ...(more > 0 ? [`and ${withNoun(more, 'more lower bound')}\n`] : [])];
}

/** A line for each request whose answer could not be read, at most 5, and the number of further ones among `all`. */
export function gapLines(gaps: readonly (Gap & { readonly sync: string })[], all: number): string[] {
  const shown = gaps.slice(0, MOST_LINES).map(({ sync, filters, reason, failing, answerId }) => {
    const then = failing ? '; not requested again without --refresh' : '';
    return `${escapeControls(`unreadable: ${sync} ${shortened(filters)}: ${reason} (answer ${answerId}${then})`)}\n`;
  });
  const more = all - shown.length;
  return [...shown, ...(more > 0 ? [`and ${withNoun(more, 'more request')} whose answer could not be read\n`] : [])];
}

const lineOf = ({ sync, filters, returned, reason, unreadable }: LowerBound & { readonly sync: string }): string =>
  `${escapeControls(
    unreadable
      ? `unreadable: ${sync} ${shortened(filters)}: ${reason}`
      : `lower bound: ${sync} ${shortened(filters)}: ${withThousands(returned)} returned, ${reason}`,
  )}\n`;

function shortened(filters: unknown): string {
  const text = filtersText(filters);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}
