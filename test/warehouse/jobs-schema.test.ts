/** The name of the schema of the job queue. */
import { expect, it } from 'vitest';
import { jobsSchema } from '../../src/warehouse/schema/jobs-schema.ts';

it('the schema of the queues fits, and differs where the warehouse’s does', () => {
  expect(jobsSchema('sluice')).toBe('sluice_jobs');
  const long = ['a', 'b'].map((end) => jobsSchema('x'.repeat(58) + end));
  expect(long[0]).not.toBe(long[1]);
  expect(long.map(({ length }) => length)).toEqual([50, 50]);
});
