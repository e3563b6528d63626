/** SQL that reads a field from `extra` with a type, for warehouses whose declarations cannot be changed. */
import { literal } from '../../warehouse/sql/identifiers.ts';
import type { FieldType } from './field-type.ts';

/** An expression that is null where the value has another type. */
export function extraExpression(path: readonly string[], { kind, sql }: FieldType): string {
  const at = literal(`{${path.join(',')}}`);
  const text = `extra #>> ${at}`;
  const cast = (type: string): string => `(${text})::${type}`;
  const when = (condition: string, value: string): string => `case when ${condition} then ${value} end`;
  const isType = (type: string): string => `jsonb_typeof(extra #> ${at}) = '${type}'`;
  switch (kind) {
    case 'text':
      return text;
    case 'json':
      return `extra #> ${at}`;
    case 'flag':
      return when(isType('boolean'), cast('boolean'));
    case 'number':
      return when(isType('number'), cast(sql));
    case 'integer':
    case 'epoch':
      return when(`${text} ~ '^-?[0-9]{1,18}$'`, cast('bigint'));
    case 'day':
    case 'moment':
      return when(`${text} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}'`, cast(sql));
    case 'uuid':
      return when(`${text} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`, cast('uuid'));
  }
}
