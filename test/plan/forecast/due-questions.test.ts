/** When questions are due, and what a change of the config costs. */
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/day.ts';
import { costChange, type MonthlyCost } from '../../../src/plan/forecast/cost-change.ts';
import { dueQuestions, type QuestionGroup } from '../../../src/plan/forecast/due-questions.ts';

const DAYS = Array.from({ length: 10 }, (_, at) => new Date(Date.parse('2026-03-01T06:00:00Z') + at * DAY_MS));
const group = (more: Partial<QuestionGroup>): QuestionGroup => ({
  questions: 3,
  maxAgeMs: undefined,
  answeredMs: undefined,
  ...more,
});
const sentOn = (groups: readonly QuestionGroup[]): number[] =>
  dueQuestions(DAYS, groups).map(({ first, again }) => first + again);

describe('the due questions of a schedule', () => {
  it('without a max_age are all of them, at each firing, the first time as new', () => {
    expect(sentOn([group({})])).toEqual(DAYS.map(() => 3));
    expect(dueQuestions(DAYS, [group({})]).map(({ first }) => first)).toEqual([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('with a max_age wait until the answer is older, and an answer of exactly that age still serves', () => {
    expect(sentOn([group({ maxAgeMs: 3 * DAY_MS })])).toEqual([3, 0, 0, 0, 3, 0, 0, 0, 3, 0]);
    expect(sentOn([group({ maxAgeMs: 3 * DAY_MS - 1 })])).toEqual([3, 0, 0, 3, 0, 0, 3, 0, 0, 3]);
  });

  it('are due again when an answer serves no longer, whatever its age', () => {
    const untilSecondNight = (answeredMs: number): number => answeredMs + 1.5 * DAY_MS;
    const sent = (maxAgeMs?: number): number[] =>
      dueQuestions(DAYS, [group({ maxAgeMs })], untilSecondNight).map(({ first, again }) => first + again);
    expect(sent(30 * DAY_MS)).toEqual([3, 0, 3, 0, 3, 0, 3, 0, 3, 0]);
    expect(sent(DAY_MS - 1)).toEqual(DAYS.map(() => 3));
    expect(sent()).toEqual(DAYS.map(() => 3));
  });

  it('start from the answers that are stored', () => {
    const yesterday = (DAYS[0]?.getTime() ?? 0) - DAY_MS;
    const due = dueQuestions(DAYS, [
      group({ maxAgeMs: 3 * DAY_MS, answeredMs: yesterday }),
      group({ questions: 1, maxAgeMs: DAY_MS }),
    ]);
    expect(due.map(({ first, again }) => [first, again])).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 3],
      [0, 1],
      [0, 0],
      [0, 1],
      [0, 3],
      [0, 1],
      [0, 0],
    ]);
  });
});

describe('the change of a cost', () => {
  const cost = (sync: string, likely: number): MonthlyCost => ({
    sync,
    endpoint: 'pronet.group',
    firings: 30,
    questions: likely,
    low: likely,
    likely,
    high: likely,
    confidence: 'good',
  });

  it('counts syncs that were added, removed and changed', () => {
    const { syncs, total } = costChange([cost('a', 10), cost('gone', 5.5)], [cost('a', 12), cost('new', 1)]);
    expect(syncs.map(({ sync, change }) => [sync, change])).toEqual([
      ['a', 2],
      ['new', 1],
      ['gone', -5.5],
    ]);
    expect(total).toEqual({ before: 15.5, after: 13, change: -2.5 });
  });
});
