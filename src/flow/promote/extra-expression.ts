/** SQL that reads a field from `extra` with a type, for warehouses whose declarations cannot be changed. */
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import { literal } from '../../warehouse/sql/identifiers.ts';
import type { FieldType } from './field-type.ts';

const PLAIN = /^(?!null$)[a-z0-9_]+$/i;

/** The names of a path as an SQL literal for `#>` and `#>>`. */
export const pathLiteral = (path: readonly string[]): string =>
  literal(path.every((name) => PLAIN.test(name)) ? `{${path.join(',')}}` : arrayLiteral(path));

const DAY = '(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])';
const OFFSET = '(Z|z|[+-](0[0-9]|1[0-5]):?[0-5][0-9])';
const INSTANT = `${DAY}[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?`;

/**
 * An expression that is null where the value has another type. Its conditions are nested, because the server may evaluate
 * both sides of `and`, and a cast must not fail.
 */
export function extraExpression(path: readonly string[], { kind, sql }: FieldType): string {
  const at = pathLiteral(path);
  const text = `extra #>> ${at}`;
  const cast = (type: string): string => `(${text})::${type}`;
  const when = (condition: string, value: string): string => `case when ${condition} then ${value} end`;
  const isType = (type: string): string => `jsonb_typeof(extra #> ${at}) = '${type}'`;
  const matches = (pattern: string, value: string): string => when(`${text} ~ ${literal(`^${pattern}$`)}`, value);
  // The last days of the month before the next one: the 30th of February has the right form, but does not exist.
  const onCalendar = (value: string): string =>
    when(
      `substr(${text}, 9, 2)::int <= extract(day from (substr(${text}, 1, 7) || '-01')::date + interval '1 month - 1 day')`,
      value,
    );
  switch (kind) {
    case 'text':
      return text;
    case 'json':
      return `nullif(extra #> ${at}, 'null')`;
    case 'flag':
      return when(isType('boolean'), cast('boolean'));
    case 'number':
      return when(
        isType('number'),
        when(`abs(${cast('numeric')}) < 1e308 and abs(${cast('numeric')}) not between 1e-1000 and 1e-307`, cast(sql)),
      );
    case 'integer':
    case 'epoch':
      return matches(
        '-?[0-9]{1,19}',
        when(`${cast('numeric')} between -9223372036854775808 and 9223372036854775807`, cast('bigint')),
      );
    case 'day':
      return matches(DAY, onCalendar(cast('date')));
    case 'moment':
      return matches(
        `${INSTANT}${OFFSET}?`,
        onCalendar(`(${text} || case when ${text} ~ '${OFFSET}$' then '' else 'Z' end)::timestamptz`),
      );
    case 'uuid':
      return when(`${text} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`, cast('uuid'));
  }
}
