/**
 * Begins with the files that take longest: one that began last would run alone at the end. First come those that took more
 * than 22 s in a complete run, then the others that start processes, since these often wait.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'engine/processes',
  'journeys/clocks',
  'cli/beside-schedule',
  'reliability/kills',
  'cli/secrets',
  'deploy/package',
  'engine/jobs',
  'warehouse/migrate',
  'flow/odd-log',
  'warehouse/views',
  'warehouse/masking',
  'reliability/odd-services',
  'load/groups',
  'flow/fill',
  'load/versions',
  'flow/hostile-service',
  'flow/crash',
  'journeys/rebuild',
  'docs/readme',
  'reliability/full-disk',
  'flow/lost-answers',
  'reliability/starts',
  'flow/any-statement',
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
