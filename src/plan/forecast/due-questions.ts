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

/** The due questions of each firing, in order. An answer is received just after its firing. */
export function dueQuestions(firings: readonly Date[], groups: readonly QuestionGroup[]): readonly DueQuestions[] {
  const answered = groups.map(({ answeredMs }) => answeredMs);
  return firings.map((at) => {
    let [first, again] = [0, 0];
    for (const [index, { questions, maxAgeMs }] of groups.entries()) {
      const before = answered[index];
      // At exactly the age limit, the answer is still younger than the firing that brought it.
      if (before !== undefined && maxAgeMs !== undefined && at.getTime() - before <= maxAgeMs) continue;
      if (before === undefined) first += questions;
      else again += questions;
      answered[index] = at.getTime();
    }
    return { at, first, again };
  });
}
