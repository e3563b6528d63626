/**
 * Begins with the files that take longest: one that began last would run alone at the end. First come those that took more
 * than 22 s in a complete run, then the others that start processes, since these often wait. The files of one project come
 * together, because a worker that gets a file of another project is replaced by a new process.
 */
import { statSync } from 'node:fs';
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
  'load/history-views',
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

/** The place of a file in the order; of files with the same number, the largest comes first. */
function placeOf({ moduleId, project }: TestSpecification): number {
  if (project.name === 'pure') return LONGEST.length + 2;
  const among = LONGEST.findIndex((name) => moduleId.endsWith(name));
  if (among >= 0) return among;
  return LONGEST.length + (OF_PROCESSES.test(moduleId) ? 0 : 1);
}

const sizeOf = ({ moduleId }: TestSpecification): number => statSync(moduleId).size;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => {
      const byPlace = placeOf(a) - placeOf(b);
      return byPlace === 0 ? sizeOf(b) - sizeOf(a) : byPlace;
    });
  }
}
