/** The dates of a full answer. */
import { expect, it } from 'vitest';
import { orderOf } from '../../src/service/window/full-answer.ts';

it('the order of more dates than a call can take arguments is known', () => {
  const days = Array.from({ length: 200_000 }, (_, at) => Math.floor(at / 10_000));
  expect(orderOf(days, { from: 0, to: 100 })).toBe('rising');
});
