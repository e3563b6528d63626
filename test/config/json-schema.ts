/** Checks a value against the part of JSON Schema that the editor's schema uses; any other keyword is an error. */

type Schema = Readonly<Record<string, unknown>>;
type Check = (value: unknown, schema: Schema, root: Schema) => boolean;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const typeOf = (value: unknown): string[] => {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
};
const all = (schemas: unknown): readonly Schema[] => schemas as readonly Schema[];

/** Keywords that require nothing by themselves. */
const SILENT: readonly string[] = ['$schema', '$defs', 'title', 'description', 'default', 'then'];

/** The requirement of each keyword. */
const KEYWORDS: Readonly<Record<string, Check>> = {
  $ref: (value, { $ref }, root) =>
    isValid(
      value,
      (root['$defs'] as Record<string, Schema>)[String($ref).replace('#/$defs/', '')] ?? { never: true },
      root,
    ),
  type: (value, { type }) => [type].flat().some((it) => typeOf(value).includes(String(it))),
  const: (value, schema) => value === schema['const'],
  enum: (value, schema) => all(schema['enum']).includes(value as never),
  anyOf: (value, { anyOf }, root) => all(anyOf).some((it) => isValid(value, it, root)),
  allOf: (value, { allOf }, root) => all(allOf).every((it) => isValid(value, it, root)),
  if: (value, schema, root) =>
    !isValid(value, schema['if'] as Schema, root) || isValid(value, schema['then'] as Schema, root),
  pattern: (value, { pattern }) => typeof value !== 'string' || new RegExp(String(pattern), 'u').test(value),
  minLength: (value, { minLength }) => typeof value !== 'string' || value.length >= Number(minLength),
  maxLength: (value, { maxLength }) => typeof value !== 'string' || value.length <= Number(maxLength),
  minimum: (value, { minimum }) => typeof value !== 'number' || value >= Number(minimum),
  maximum: (value, { maximum }) => typeof value !== 'number' || value <= Number(maximum),
  exclusiveMinimum: (value, { exclusiveMinimum }) => typeof value !== 'number' || value > Number(exclusiveMinimum),
  minItems: (value, { minItems }) => !Array.isArray(value) || value.length >= Number(minItems),
  maxItems: (value, { maxItems }) => !Array.isArray(value) || value.length <= Number(maxItems),
  items: (value, { items }, root) => !Array.isArray(value) || value.every((it) => isValid(it, items as Schema, root)),
  minProperties: (value, { minProperties }) => !isObject(value) || Object.keys(value).length >= Number(minProperties),
  required: (value, { required }) => !isObject(value) || (required as readonly string[]).every((key) => key in value),
  propertyNames: (value, { propertyNames }, root) =>
    !isObject(value) || Object.keys(value).every((it) => isValid(it, propertyNames as Schema, root)),
  properties: (value, { properties }, root) =>
    !isObject(value) ||
    Object.entries(properties as Record<string, Schema>).every(
      ([key, it]) => !(key in value) || isValid(value[key], it, root),
    ),
  additionalProperties: (value, { additionalProperties, properties = {} }, root) =>
    !isObject(value) ||
    Object.keys(value).every(
      (key) =>
        key in (properties as object) ||
        (additionalProperties !== false && isValid(value[key], additionalProperties as Schema, root)),
    ),
};

/** True of a value that the schema allows; `root` holds the definitions. */
export function isValid(value: unknown, schema: Schema, root: Schema = schema): boolean {
  return Object.keys(schema).every((keyword) => {
    if (SILENT.includes(keyword)) return true;
    const check = KEYWORDS[keyword];
    if (!check) throw new Error(`unknown keyword ${keyword}`);
    return check(value, schema, root);
  });
}
