/** The types that a promoted field can have, and the type that values suggest. */
import { coerceCell, coerceEpoch } from '../../normalize/coerce.ts';
import type { Kind } from '../../service/model.ts';

/** A type by its SQL name, with its constructor in `src/service/field.ts`. */
export interface FieldType {
  readonly kind: Kind;
  readonly sql: string;
  readonly constructor: string;
}

const TYPES: readonly FieldType[] = [
  { kind: 'flag', sql: 'boolean', constructor: 'boolean' },
  { kind: 'integer', sql: 'bigint', constructor: 'integer' },
  { kind: 'number', sql: 'double precision', constructor: 'number' },
  { kind: 'uuid', sql: 'uuid', constructor: 'uuid' },
  { kind: 'day', sql: 'date', constructor: 'day' },
  { kind: 'moment', sql: 'timestamptz', constructor: 'timestamp' },
  { kind: 'text', sql: 'text', constructor: 'text' },
  { kind: 'json', sql: 'jsonb', constructor: 'json' },
];

/** An instant as a number. Values never suggest it, because any integer could be one. */
const EPOCH: FieldType = { kind: 'epoch', sql: 'epoch', constructor: 'epoch' };

/** The names that are accepted, and what they mean: SQL types, and the constructors of the declarations. */
export const fieldTypes: ReadonlyMap<string, FieldType> = new Map([
  ...TYPES.map((it) => [it.sql, it] as const),
  ...TYPES.map((it) => [it.constructor, it] as const),
  ['epoch', EPOCH],
]);

/** The types of one word that the error for an unknown one lists. */
export const TYPE_NAMES: readonly string[] = [
  'text',
  'bigint',
  'double precision',
  'boolean',
  'timestamptz',
  'date',
  'uuid',
  'jsonb',
  'epoch',
];

/** The types of unknown fields by the JSON type that drift recorded, if no value is at hand. */
const BY_SAMPLE: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'bigint',
  boolean: 'boolean',
  object: 'jsonb',
  array: 'jsonb',
};

/** The narrowest type that has all of these values as they were sent; without values, that of the sampled JSON type. */
export function suggestedType(values: readonly unknown[], sampleType: string): FieldType {
  const fitting = TYPES.find(({ kind }) => values.every((value) => fits(kind, value) === 'as sent'));
  const name = values.length === 0 || !fitting ? (BY_SAMPLE[sampleType] ?? 'text') : fitting.sql;
  return fieldTypes.get(name) ?? EPOCH;
}

/** Whether a value other than null fits the column of this type. */
export function fits(kind: Kind, value: unknown): 'as sent' | 'converted' | 'not' {
  const found = kind === 'epoch' ? coerceEpoch(value)?.sent : coerceCell(kind, value);
  if (!found) return 'not';
  // Raw JSON is a number whose digits a double would round.
  if (kind === 'number' && JSON.isRawJSON(value)) return 'converted';
  return found.coerced ? 'converted' : 'as sent';
}
