/** Answers in the groups in which they are loaded if all are available. */
import { type LoadLimits, openGroup, type SizedBatch } from '../../src/load/group.ts';

export function groupsOf<T extends SizedBatch>(answers: Iterable<T>, most: LoadLimits): (readonly T[])[] {
  let group = openGroup<T>(most);
  const groups = [group];
  for (const answer of answers) {
    if (group.admit(answer)) continue;
    group = openGroup(most);
    group.admit(answer);
    groups.push(group);
  }
  return groups.map((it) => it.answers).filter(({ length }) => length > 0);
}
