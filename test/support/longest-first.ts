/** Begins with the files that start processes: they last longest, and one that began last would run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const OF_PROCESSES = /\/test\/(?:reliability|engine|docs|journeys|deploy|cli)\//;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's, not an array's
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => OF_PROCESSES.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
