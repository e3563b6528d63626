/** Describes the types of request fields in words, from their schemas. */
import * as z from 'zod';
import { instant, isoDay } from '../../service/request.ts';

type Schema = z.core.JSONSchema.BaseSchema;

/** Types that are recognized by their pattern and shown by name, because the pattern is hard to read. */
const NAMED = new Map([
  [patternOf(instant), 'date-time (RFC 3339)'],
  [patternOf(isoDay), 'day (YYYY-MM-DD)'],
]);

function patternOf(schema: z.ZodType): string | undefined {
  return z.toJSONSchema(schema, { io: 'input' }).pattern;
}

/** A field of a request. */
export interface RequestField {
  readonly name: string;
  /** The type in words, with its bounds. */
  readonly type: string;
  readonly required: boolean;
  /** The value if the field is not set; absent if there is none. */
  readonly default?: unknown;
  /** The least number, or the least number of characters of a text; absent without a bound. */
  readonly min?: number;
  /** The greatest number, or the greatest number of characters of a text; absent without a bound. */
  readonly max?: number;
  readonly about: string;
}

/** The fields of an endpoint's request, in the order of their declaration. */
export function requestFields(request: z.ZodObject): RequestField[] {
  const { properties = {}, required = [] } = z.toJSONSchema(request, { io: 'input' });
  return Object.entries(properties).map(([name, it]) => {
    const schema = typeof it === 'object' ? it : {};
    const { default: fallback, minimum, maximum, minLength, maxLength, description = '' } = schema;
    const [min, max] = [minimum ?? minLength, finite(maximum ?? maxLength)];
    return {
      name,
      type: typeInWords(schema),
      required: required.includes(name),
      ...(fallback !== undefined && { default: fallback }),
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      about: description,
    };
  });
}

/** The bound; undefined for the greatest exact integer, which means no bound. */
const finite = (max: number | undefined): number | undefined =>
  max === undefined || max >= Number.MAX_SAFE_INTEGER ? undefined : max;

function typeInWords(schema: Schema): string {
  const { anyOf, type, properties, items, pattern } = schema;
  if (anyOf) {
    const kinds = anyOf.filter((it) => it.type !== 'null').map(typeInWords);
    return [...new Set(kinds)].join(' or ');
  }
  const named = pattern === undefined ? undefined : NAMED.get(pattern);
  if (named !== undefined) return named;
  if (properties) return urnInWords(properties);
  if (type === 'array')
    return `list of ${typeof items === 'object' && !Array.isArray(items) ? typeInWords(items) : 'anything'}`;
  if (type === 'integer') return `whole number${bounds(schema.minimum, schema.maximum)}`;
  if (type === 'boolean') return 'true or false';
  return `text${schema.maxLength === undefined ? '' : `${bounds(schema.minLength, schema.maxLength)} characters`}`;
}

function urnInWords(properties: NonNullable<Schema['properties']>): string {
  const type = properties['type'];
  const only = typeof type === 'object' ? type.const : undefined;
  return typeof only === 'string' ? `URN of type ${only}` : 'URN';
}

function bounds(least: number | undefined, most: number | undefined): string {
  const top = finite(most);
  if (top !== undefined) return `, ${least === undefined ? 'at most' : `${least} to`} ${top}`;
  return least === undefined ? '' : `, ${least} or more`;
}
