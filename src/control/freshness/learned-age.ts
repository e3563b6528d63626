/** Learns how long an answer serves from how often earlier answers to the same request contained something new. Pure. */
import type { AgeBounds } from '../../config/values/max-age.ts';

/** The answers so far to one request. */
export interface AnswerHistory {
  readonly answers: number;
  /** Answers after the first that contained something new. */
  readonly changes: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/**
 * Returns half the mean time between two changes, within the bounds, in milliseconds. Without a change it returns the
 * time since the first answer, so each unchanged answer about doubles the age. A request with fewer than two answers
 * gets the least age.
 */
export function learnedAgeMs(history: AnswerHistory | undefined, { leastMs, mostMs }: AgeBounds): number {
  if (!history || history.answers < 2) return leastMs;
  const spanMs = history.lastAt.getTime() - history.firstAt.getTime();
  const ageMs = history.changes === 0 ? spanMs : spanMs / history.changes / 2;
  return Math.round(Math.min(mostMs, Math.max(leastMs, ageMs)));
}
