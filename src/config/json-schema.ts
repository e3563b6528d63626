/**
 * The input of a zod schema as plain data (JSON Schema). Zod alone decides what is valid. Its issues name only the violated
 * bound, so messages read the allowed values here, such as `a whole number from 1 to 100`; and values from variables and
 * cells, which are texts, get the type that the schema declares here before zod parses them.
 */
import * as z from 'zod';
import { memoizeByObject } from '../async/memoize.ts';
import { isoDay } from '../service/request.ts';

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
}

/** The JSON Schema of a schema's input. */
export const jsonSchemaOf = memoizeByObject(
  (schema: z.ZodType) =>
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as JsonSchema,
);

/** The shape without its choice null. */
export function withoutNull(shape: JsonSchema): JsonSchema {
  const choices = shape.anyOf?.filter((it) => it.type !== 'null');
  if (!choices || choices.length === shape.anyOf?.length) return shape;
  const { anyOf: _, ...rest } = shape;
  return choices.length === 1 ? { ...rest, ...choices[0] } : { ...rest, anyOf: choices };
}

/** True if null is one choice of the shape. */
export const takesNull = (shape: JsonSchema): boolean => shape.anyOf?.some((it) => it.type === 'null') ?? false;

/** True for an identifier of the professional network, `{type, value}`. */
export const isUrn = ({ properties }: JsonSchema): boolean =>
  properties !== undefined && Object.keys(properties).toSorted().join() === 'type,value';

/** The URN among a shape's choices, such as those of a field that takes URNs or names. */
export const urnChoice = (shape: JsonSchema): JsonSchema | undefined =>
  isUrn(shape) ? shape : shape.anyOf?.find(isUrn);

/** The shape at a path of keys and positions; undefined if the schema has none there. */
export function jsonSchemaAt(shape: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let current: JsonSchema | undefined = withoutNull(shape);
  for (const step of path) {
    current = [current, ...(current.anyOf ?? [])].map((it) => within(it, step)).find((it) => it !== undefined);
    if (!current) return undefined;
    current = withoutNull(current);
  }
  return current;
}

function within({ items, properties, additionalProperties: more }: JsonSchema, step: PropertyKey) {
  if (typeof step === 'number') return items;
  return properties?.[String(step)] ?? (typeof more === 'object' ? more : undefined);
}

const SAFE = Number.MAX_SAFE_INTEGER;

/** A description of the allowed values, as the end of a sentence. */
export function allowedBy(shape: JsonSchema): string {
  const plain = withoutNull(shape);
  const urn = urnChoice(plain);
  if (urn) return urnWords(urn, plain !== urn);
  const choices = plain.anyOf ?? plain.oneOf;
  if (choices) return choices.map(allowedBy).join(' or ');
  if (plain.const !== undefined) return JSON.stringify(plain.const);
  if (plain.enum) return `one of ${plain.enum.map(String).join(', ')}`;
  switch (plain.type) {
    case 'integer':
    case 'number':
      return numberWords(plain);
    case 'string':
      return textWords(plain);
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${plain.items && Object.keys(plain.items).length > 0 ? `, each element ${allowedBy(plain.items)}` : ''}`;
    case 'object':
      return plain.properties ? `a mapping with the keys ${Object.keys(plain.properties).join(', ')}` : 'a mapping';
    default:
      return 'another value';
  }
}

function urnWords(urn: JsonSchema, orName: boolean): string {
  const type = urn.properties?.['type']?.const;
  if (orName) return 'a name or a URN, written urn:li:TYPE:VALUE or { type: TYPE, value: VALUE }';
  const prefix = typeof type === 'string' ? type : 'TYPE';
  const only = typeof type === 'string' ? ` of type ${type}` : '';
  return `a URN${only}, written ${prefix}:VALUE, urn:li:${prefix}:VALUE or { type: ${prefix}, value: VALUE }`;
}

function numberWords({ type, minimum, exclusiveMinimum, maximum }: JsonSchema): string {
  const noun = type === 'integer' ? 'a whole number' : 'a number';
  const [low, high] = [minimum === -SAFE ? undefined : minimum, maximum === SAFE ? undefined : maximum];
  if (exclusiveMinimum !== undefined)
    return `${noun} above ${exclusiveMinimum}${high === undefined ? '' : `, at most ${high}`}`;
  if (low !== undefined && high !== undefined) return `${noun} from ${low} to ${high}`;
  if (low !== undefined) return `${noun} of at least ${low}`;
  return high === undefined ? noun : `${noun} of at most ${high}`;
}

const DAY_PATTERN = jsonSchemaOf(isoDay).pattern;

function textWords({ pattern, minLength, maxLength }: JsonSchema): string {
  if (pattern !== undefined && pattern === DAY_PATTERN) return 'a day written YYYY-MM-DD';
  if (maxLength !== undefined) return `text of ${minLength ?? 0} to ${maxLength} characters`;
  return (minLength ?? 0) > 0 ? 'text that is not empty' : 'text';
}
