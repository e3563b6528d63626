/** The labels of the metric of points by tag. */
import { expect, it } from 'vitest';
import { pointsByTag } from '../../src/monitor/points-by-tag.ts';

it('points of a tag are those of all runs with it, and a run without tags counts nowhere', () => {
  const rows = [
    { tags: { team: 'growth', purpose: 'leads' }, points: 3 },
    { tags: { team: 'growth' }, points: 4 },
    { tags: null, points: 9 },
  ];
  const declared = [
    { tag: 'team', value: 'growth' },
    { tag: 'purpose', value: 'leads' },
  ];
  expect(pointsByTag(rows, declared)).toEqual([
    { labels: ['team', 'growth'], value: 7 },
    { labels: ['purpose', 'leads'], value: 3 },
  ]);
});

it('the labels are bounded, and no point of a tag is lost', () => {
  const declared = Array.from({ length: 700 }, (_, at) => ({ tag: `tag_${at % 7}`, value: `v${at}` }));
  const old = Array.from({ length: 2000 }, (_, at) => ({ tag: `old_${at}`, value: 'v' }));
  const rows = [...declared, ...old].map(({ tag, value }, at) => ({ tags: { [tag]: value }, points: at }));
  const samples = pointsByTag(rows, declared);
  expect(samples.length).toBeLessThanOrEqual(500 + 7 + 1);
  expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(rows.reduce((sum, { points }) => sum + points, 0));
  // The tags with the most points have labels of their own.
  expect(samples).toContainEqual({ labels: ['tag_6', 'v699'], value: 699 });
  expect(samples.some(({ labels }) => labels[1] === 'v199')).toBe(false);
});
