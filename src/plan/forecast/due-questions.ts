/** When the questions of a sync are due at the firings of its schedule. Pure. */

/** Questions of a sync with the same age limit and the same age. */
export interface QuestionGroup {
  readonly questions: number;
  /** An answer of at most this age serves; undefined if each firing asks anew. */
  readonly maxAgeMs: number | undefined;
  /** Receipt of the answer that serves now; undefined if none does. */
  readonly answeredMs: number | undefined;
}

/** The questions that a firing sends. */
export interface DueQuestions {
  readonly at: Date;
  /** Questions that no answer served before. */
  readonly first: number;
  /** Questions that an earlier firing or a stored answer served. */
  readonly again: number;
}

/** The instant, in milliseconds, from which an answer received at this instant no longer serves, whatever its age. */
export type ServesUntil = (answeredMs: number) => number;

/** The due questions of each firing, in order. An answer is received just after its firing. */
export function dueQuestions(
  firings: readonly Date[],
  groups: readonly QuestionGroup[],
  servesUntil: ServesUntil = () => Number.POSITIVE_INFINITY,
): readonly DueQuestions[] {
  const answers = groups.map(({ answeredMs }) => answerOf(answeredMs, servesUntil));
  return firings.map((at) => {
    let [first, again] = [0, 0];
    for (const [index, { questions, maxAgeMs }] of groups.entries()) {
      const before = answers[index];
      if (before && maxAgeMs !== undefined && serves(before, maxAgeMs, at)) continue;
      if (before) again += questions;
      else first += questions;
      answers[index] = answerOf(at.getTime(), servesUntil);
    }
    return { at, first, again };
  });
}

interface Answer {
  readonly answeredMs: number;
  readonly untilMs: number;
}

/** The end of an answer is computed once, because it needs a time zone. */
const answerOf = (answeredMs: number | undefined, servesUntil: ServesUntil): Answer | undefined =>
  answeredMs === undefined ? undefined : { answeredMs, untilMs: servesUntil(answeredMs) };

/** At exactly the age limit, the answer is still younger than the firing that brought it. */
const serves = ({ answeredMs, untilMs }: Answer, maxAgeMs: number, at: Date): boolean =>
  at.getTime() - answeredMs <= maxAgeMs && at.getTime() < untilMs;
