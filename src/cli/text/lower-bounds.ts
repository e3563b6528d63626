/** Slices of which more may exist than was returned, and requests that could not be read, as people see them: a line each. */
import { filtersText } from '../../text/filters.ts';
import type { Gap, LowerBound } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withNoun, withThousands } from '../terminal/print.ts';

/** More say no more; the JSON form has up to 20, and the coverage in the warehouse all. */
const MOST_LINES = 5;
/** Enough to tell one slice from another. */
const MOST_CHARACTERS = 120;

/** A line for each of these slices, at most 5, and how many more there are of them all. */
export function lowerBoundLines(bounds: readonly (LowerBound & { readonly sync: string })[], all: number): string[] {
  const shown = bounds.slice(0, MOST_LINES);
  const more = all - shown.length;
  return [...shown.map(lineOf), ...(more > 0 ? [`and ${withNoun(more, 'more lower bound')}\n`] : [])];
}

/** A line for each of these requests whose answer could not be read, at most 5, and how many more there are of them all. */
export function gapLines(gaps: readonly (Gap & { readonly sync: string })[], all: number): string[] {
  const shown = gaps.slice(0, MOST_LINES).map(({ sync, filters, reason, failing, answerId }) => {
    const then = failing ? '; not asked again without --refresh' : '';
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
  const asked = filtersText(filters);
  return asked.length > MOST_CHARACTERS ? `${asked.slice(0, MOST_CHARACTERS - 1)}…` : asked;
}
