/**
 * Begins with the files that take longest: one that began last would run alone at the end. First come the files that
 * take half a minute or more by themselves, then the others that start processes, since these often wait.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'reliability/kills',
  'engine/processes',
  'journeys/clocks',
  'flow/any-statement',
  'docs/tutorial',
  'reliability/faults',
  'flow/forget',
  'docs/readme',
  'flow/hostile-service',
  'flow/capped',
  'journeys/first-errors',
  'flow/replay',
  'cli/secrets',
  'reliability/odd-services',
  'cli/beside-schedule',
  'journeys/rebuild',
  'control/freshness-by-name',
  'engine/jobs',
  'reliability/starts',
  'journeys/died-runs',
  'journeys/true-points',
].map((name) => `/test/${name}.test.ts`);

const OF_PROCESSES = /\/test\/(?:reliability|engine|docs|journeys|deploy|cli)\//;

/** The place of a file in the order; files with the same number keep the order that vitest gives them. */
function placeOf({ moduleId }: TestSpecification): number {
  const among = LONGEST.findIndex((name) => moduleId.endsWith(name));
  if (among >= 0) return among;
  return LONGEST.length + (OF_PROCESSES.test(moduleId) ? 0 : 1);
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's, not an array's
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
