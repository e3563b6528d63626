/** Compares outputs with their published schemas. A key that a schema lacks is a problem here, though readers ignore it. */
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';

const FOLDER = 'docs/schemas';
const ajv = new Ajv2020({ allErrors: true, formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ } });

/** The names of all outputs. */
export const outputNames = readdirSync(FOLDER).map((name) => name.replace('.json', ''));

/** What differs between a value and the schema of the output; empty if nothing does. */
export function problemsOf(output: string, value: unknown): readonly string[] {
  const schema = JSON.parse(readFileSync(`${FOLDER}/${output}.json`, 'utf8')) as { readonly $id: string };
  const validate = ajv.getSchema(schema.$id) ?? ajv.compile(strict(schema) as object);
  void validate(value);
  return (validate.errors ?? []).map((it) => `${it.instancePath} ${it.message} ${JSON.stringify(it.params)}`);
}

/** The schema without keys that it does not declare. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, strict(value)]));
  return inner['type'] === 'object' && 'properties' in inner ? { additionalProperties: false, ...inner } : inner;
}
