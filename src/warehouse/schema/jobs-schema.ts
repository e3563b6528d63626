/** The name of the schema with the queues of the engine. */
import { hash } from 'node:crypto';

/** The longest schema name that the library of the queues accepts, minus the suffix. */
const LONGEST = 50 - '_jobs'.length;

/** The schema of the queues, next to that of the analysts. A long name is truncated and made unique by a digest. */
export function jobsSchema(schema: string): string {
  if (schema.length <= LONGEST) return `${schema}_jobs`;
  const digest = hash('sha256', schema).slice(0, 8);
  return `${schema.slice(0, LONGEST - 9)}_${digest}_jobs`;
}
