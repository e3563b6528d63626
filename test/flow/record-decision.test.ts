/** Reserved points after an attempt: given back only when it surely cost nothing, settled only when the cost is known. */
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/extract/retry.ts';
import { pointsSettlement } from '../../src/flow/request/record-decision.ts';

const because = 'a reason';
const next = 'a step';

const CASES: readonly (readonly [string, Decision, { readonly pointsBack: number; readonly isKnown: boolean }])[] = [
  ['stored waits for its load', { do: 'keep' }, { pointsBack: 0, isKnown: false }],
  ['of a missing entity waits for its load', { do: 'missing', because }, { pointsBack: 0, isKnown: false }],
  [
    'refused for the account costs nothing',
    { do: 'stop', reason: 'points-reached', because, next },
    { pointsBack: 9, isKnown: true },
  ],
  [
    'refused before any work costs nothing',
    { do: 'retry', afterMs: 1, paid: false, because },
    { pointsBack: 9, isKnown: true },
  ],
  [
    'answered with an error may be charged',
    { do: 'retry', afterMs: 1, paid: true, because },
    { pointsBack: 0, isKnown: true },
  ],
  [
    'failed for good may be charged',
    { do: 'fail', class: 'rejected', scope: 'input', because, next },
    { pointsBack: 0, isKnown: true },
  ],
  [
    'refused once more than it is repeated costs nothing',
    { do: 'fail', class: 'unavailable', scope: 'input', unpaid: true, because, next },
    { pointsBack: 9, isKnown: true },
  ],
  [
    'lost and made again is settled after a look at the log',
    { do: 'lost', because, againAfterMs: 0 },
    { pointsBack: 0, isKnown: false },
  ],
  [
    'lost and left alone counts as the most',
    { do: 'lost', because, againAfterMs: undefined },
    { pointsBack: 0, isKnown: true },
  ],
];

describe('an attempt', () => {
  it.each(CASES)('that is %s', (_, decision, settlement) => {
    expect(pointsSettlement(decision, 9)).toEqual(settlement);
  });
});
