/** Formats what a summary lists with one line each: lower bounds, answers that could not be read, and lost answers. */
import { filtersText } from '../../text/filters.ts';
import type { Gap, LostAnswerSummary, LowerBound, SyncSummary } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withNoun, withThousands } from '../terminal/print.ts';

/** The greatest number of slices; the JSON form has up to 20, and the coverage in the warehouse all. */
const MOST_SLICES = 5;
/** The greatest number of lost answers; the JSON form has all. */
const MOST_LOST = 20;
/** The greatest length of filters and inputs, which is enough to distinguish them. */
const MOST_CHARACTERS = 120;

/** A line for each of these slices, at most 5, and the number of further ones among `all`. */
export function lowerBoundLines(bounds: readonly (LowerBound & { readonly sync: string })[], all: number): string[] {
  const lines = bounds
    .slice(0, MOST_SLICES)
    .map(({ sync, filters, returned, reason, unreadable }) =>
      unreadable
        ? `unreadable: ${sync} ${shortened(filtersText(filters))}: ${reason}`
        : `lower bound: ${sync} ${shortened(filtersText(filters))}: ${withThousands(returned)} returned, ${reason}`,
    );
  return listed(lines, all, (more) => withNoun(more, 'more lower bound'));
}

/** A line for each request whose answer could not be read, at most 5, and the number of further ones among `all`. */
export function gapLines(gaps: readonly (Gap & { readonly sync: string })[], all: number): string[] {
  const lines = gaps.slice(0, MOST_SLICES).map(({ sync, filters, reason, failing, answerId }) => {
    const then = failing ? '; not requested again without --refresh' : '';
    return `unreadable: ${sync} ${shortened(filtersText(filters))}: ${reason} (answer ${answerId}${then})`;
  });
  return listed(lines, all, (more) => `${withNoun(more, 'more request')} whose answer could not be read`);
}

/** A line for each lost answer of these syncs, at most 20. */
export function lostAnswerLines(syncs: readonly Pick<SyncSummary, 'sync' | 'lostAnswers'>[]): string[] {
  const all = syncs.flatMap(({ sync, lostAnswers }) => lostAnswers.map((it) => ({ sync, ...it })));
  const lines = all.slice(0, MOST_LOST).map(({ sync, input, attempt, sentAt, reason, verdict, points }) => {
    const of = shortened(JSON.stringify(input) ?? '');
    return `lost: ${sync} ${of}, attempt ${attempt} at ${sentAt} (${reason}): ${outcomeOf(verdict, points)}`;
  });
  return listed(lines, all.length, (more) => withNoun(more, 'more lost answer'));
}

function listed(lines: readonly string[], all: number, restOf: (more: number) => string): string[] {
  const more = all - lines.length;
  return [...lines.map((it) => `${escapeControls(it)}\n`), ...(more > 0 ? [`and ${restOf(more)}\n`] : [])];
}

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;

function outcomeOf(verdict: LostAnswerSummary['verdict'], points: number | null): string {
  switch (verdict) {
    case 'paid_and_lost':
      return `paid, ${withNoun(points ?? 0, 'point')}`;
    case 'not_charged':
      return 'not charged';
    case 'not_sent':
      return 'never reached the service';
    case 'unknown':
      return 'the request log does not show whether it was paid';
    case null:
      return 'may have been paid; the request log was not checked';
  }
}
