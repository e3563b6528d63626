/** What follows a job, from the exit code of its run. */
import { describe, expect, it } from 'vitest';
import { decideAfter } from '../../src/engine/job-decision.ts';

describe('what follows from an exit code', () => {
  const step = (exitCode: number, tries = 0, state = 'interrupted') =>
    decideAfter({ exitCode, state }, tries, () => 0.5);

  it('is the children, a rest, another try or a person', () => {
    expect([0, 4].map((code) => step(code).do)).toEqual(['follow', 'follow']);
    expect(step(6)).toEqual({ do: 'rest' });
    expect(step(7, 3)).toEqual({ do: 'again', afterSeconds: 15, tries: 3 });
    expect([1, 2, 3, 8].map((code) => step(code).do)).toEqual(Array(4).fill('give up'));
  });

  it('is a rest after lost answers that the run only lists, however often it was tried', () => {
    expect([0, 12].map((tries) => step(5, tries, 'partial'))).toEqual([{ do: 'rest' }, { do: 'rest' }]);
  });

  it('waits longer after each transient error, and gives up at last', () => {
    const waits = Array.from({ length: 12 }, (_, tries) => step(5, tries));
    const seconds = waits.map((it) => ('afterSeconds' in it ? it.afterSeconds : -1));
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect([seconds[0], seconds.at(-1)]).toEqual([12, 1350]);
    expect(step(5, 12)).toEqual({ do: 'give up' });
  });
});
