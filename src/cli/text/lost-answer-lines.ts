/** Formats the lost answers of a summary: one line each, with the outcome according to the request log. */
import type { LostAnswerSummary, SyncSummary } from '../../ledger/summary.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import { withNoun } from '../terminal/print.ts';

/** The greatest number of lines; the JSON form has all lost answers. */
const MOST_LINES = 20;
/** The greatest length of an input, which is enough to distinguish inputs. */
const MOST_CHARACTERS = 120;

/** A line for each lost answer of these syncs, at most 20. */
export function lostAnswerLines(syncs: readonly Pick<SyncSummary, 'sync' | 'lostAnswers'>[]): string[] {
  const lines = syncs.flatMap(({ sync, lostAnswers }) => lostAnswers.map((it) => `${lineOf(sync, it)}\n`));
  const more = lines.length - MOST_LINES;
  return more > 0 ? [...lines.slice(0, MOST_LINES), `and ${withNoun(more, 'more lost answer')}\n`] : lines;
}

function lineOf(sync: string, { input, attempt, sentAt, reason, verdict, points }: LostAnswerSummary): string {
  const text = JSON.stringify(input) ?? '';
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
  return escapeControls(
    `lost: ${sync} ${short}, attempt ${attempt} at ${sentAt} (${reason}): ${outcomeOf(verdict, points)}`,
  );
}

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
