/** The `max_age` of a single input. It is written among the fields of its row and is not part of the request. */
import * as z from 'zod';
import { check } from '../check.ts';
import type { ReportProblem } from '../document/problem.ts';
import { duration } from './quantity.ts';
import type { MapEntry } from '../document/tree.ts';

/** The only key in a row of inputs that is not a request field. */
export const INPUT_AGE = 'max_age';

const schema = z.strictObject({
  [INPUT_AGE]: duration.refine((ms) => ms > 0, 'leave it empty to use the max_age of the sync'),
});

/** The age in milliseconds; undefined if that of the sync applies or if a problem was reported. */
export function inputAgeOf(entry: MapEntry, report: ReportProblem): number | undefined {
  const { value, keySpan } = entry;
  const isEmpty = value.kind === 'scalar' && (value.hasProblem || value.value === null || value.text.trim() === '');
  if (isEmpty) return undefined;
  return check(schema, { kind: 'map', entries: [entry], span: keySpan }, report)?.value[INPUT_AGE];
}
