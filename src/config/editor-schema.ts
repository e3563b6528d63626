/** The JSON Schema that editors use to complete and check a sync file. */
import { catalog } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { INPUT_AGE } from './values/input-age.ts';
import { takesCount } from './values/raise-count.ts';
import { fieldShape, settable } from './request-fields.ts';
import { fileSchema, INHERITED, syncSchema } from './settings.ts';
import { isUrn, type JsonSchema, jsonSchemaOf, withoutNull } from './json-schema.ts';
import { NAME_PATTERN } from './sync.ts';
import { DEFAULTS } from './defaults.ts';
import { windowSchema } from './window.ts';

type Json = Readonly<Record<string, unknown>>;

/** The schema of a sync file (draft 2020-12). Every call returns the same text. */
export function editorSchema(): object {
  const complete = withOptionalDefaults(loosened(jsonSchemaOf(fileSchema)) as Json & { readonly properties: Json });
  const { $schema: _, properties, ...file } = complete;
  const prices = properties['prices'] as Json;
  const price = Object.values(prices['properties'] as Json)[0] as Json;
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Sluice sync file',
    ...file,
    properties: {
      ...properties,
      prices: { ...prices, properties: Object.fromEntries(catalog.map(({ name }) => [name, ref('price')])) },
      syncs: syncs(),
    },
    $defs: {
      variable: { description: 'Filled in from the environment.', type: 'string', pattern: '\\$\\{' },
      price: { ...price, description: 'Points for a call, or points for each started number of results.' },
      query: only({ query: text(QUERY) }, ['query']),
      file: only({ file: text(FILE), column: text('The column that holds the value.') }, ['file']),
      'input-age': {
        description: 'max_age of this input, instead of that of the sync.',
        anyOf: [ref('sync:max_age'), { type: 'null' }],
      },
      ...prefixed('sync', syncKeys()),
      ...Object.fromEntries(catalog.flatMap((endpoint) => Object.entries(fieldDefinitions(endpoint)))),
      ...Object.fromEntries(catalog.map((endpoint) => [endpoint.name, sync(endpoint)])),
    },
  };
}

/** The schema of the file in which the keys that have a default are optional. */
function withOptionalDefaults(file: Json & { readonly properties: Json }): Json & { readonly properties: Json } {
  const without = (schema: Json, keys: readonly string[]): Json => ({
    ...schema,
    required: ((schema['required'] ?? []) as readonly string[]).filter((key) => !keys.includes(key)),
  });
  const parts: Json = Object.fromEntries(
    Object.entries(DEFAULTS).map(([key, defaults]) => [
      key,
      without(file.properties[key] as Json, Object.keys(defaults)),
    ]),
  );
  return {
    ...without(file, Object.keys(DEFAULTS)),
    anyOf: [{ required: ['syncs'] }, { required: ['include'] }],
    properties: { ...file.properties, ...parts },
  };
}

/** Computed keys, because a literal key `then` would make the object look like a promise. */
const [IF, THEN] = ['if', 'then'] as const;
const conditional = (condition: Json, consequence: Json): Json => ({ [IF]: condition, [THEN]: consequence });
const ref = (name: string): Json => ({ $ref: `#/$defs/${name}` });
const VARIABLE = ref('variable');
const prefixed = (prefix: string, definitions: Json): Json =>
  Object.fromEntries(Object.entries(definitions).map(([key, it]) => [`${prefix}:${key}`, it]));

const fieldDefinitions = (endpoint: Endpoint): Json =>
  prefixed(
    endpoint.name,
    fields(endpoint, (field) => loosened(fieldShape(endpoint, field))),
  );

/** The keys of a sync that do not depend on its endpoint, including those of the request log. */
function syncKeys(): Json {
  const { properties = {} } = loosened(jsonSchemaOf(syncSchema)) as { readonly properties?: Json };
  const { endpoint: _, request: __, for_each: ___, window: ____, split_by: _____, ...plain } = properties;
  return plain;
}

const syncs = (): Json => ({
  description: 'Syncs by name: what to request.',
  type: 'object',
  minProperties: 1,
  propertyNames: { pattern: NAME_PATTERN },
  additionalProperties: {
    type: 'object',
    required: ['endpoint'],
    properties: {
      endpoint: {
        description: 'Endpoint to request: its path with dots, without /api.',
        type: 'string',
        enum: catalog.map(({ name }) => name),
      },
    },
    // Once the endpoint is written, an editor shows the keys of that endpoint alone.
    allOf: catalog.map(({ name }) =>
      conditional({ properties: { endpoint: { const: name } }, required: ['endpoint'] }, ref(name)),
    ),
  },
});

function sync(endpoint: Endpoint): Json {
  const { by } = endpoint.paging;
  const plain = Object.keys(syncKeys()).filter(
    (key) => (by === 'cursor' || !LOG_KEYS.includes(key)) && (takesCount(endpoint) || key !== RAISE_COUNT),
  );
  const needed = (jsonSchemaOf(endpoint.request).required ?? []).filter((field) => settable(endpoint).includes(field));
  return {
    description: endpoint.about,
    type: 'object',
    additionalProperties: false,
    required: ['endpoint'],
    properties: {
      endpoint: { const: endpoint.name, description: endpoint.about },
      request: {
        description: 'Fields of the request that are the same for every input.',
        // A request whose fields are all comments is null.
        type: ['object', 'null'],
        additionalProperties: false,
        properties: fields(endpoint, (field) => fieldRef(endpoint, field)),
      },
      for_each: forEach(endpoint),
      ...(by === 'window' && { window: loosened(jsonSchemaOf(windowSchema)) }),
      ...(endpoint.facets.length > 0 && { split_by: splitBy(endpoint) }),
      ...Object.fromEntries(plain.map((key) => [key, INHERITED.includes(key) ? orNull(key) : ref(`sync:${key}`)])),
    },
    // Inputs may provide any field. Without inputs, the request must be complete.
    ...(needed.length > 0 && {
      anyOf: [{ required: ['for_each'] }, { required: ['request'], properties: { request: { required: needed } } }],
    }),
  };
}

/** A key whose null means that the default of the config does not apply. */
const orNull = (key: string): Json => ({ anyOf: [ref(`sync:${key}`), { type: 'null' }] });

/** The key of a sync that only endpoints with a `count` accept. */
const RAISE_COUNT = 'raise_count_to';
/** Keys of a sync that only the request log accepts. */
const LOG_KEYS: readonly string[] = ['from', 'lookback'];

const fields = (endpoint: Endpoint, schemaOf: (field: string) => unknown): Json =>
  Object.fromEntries(settable(endpoint).map((field) => [field, schemaOf(field)]));
const fieldRef = (endpoint: Endpoint, field: string): Json => ref(`${endpoint.name}:${field}`);

const text = (description: string): Json => ({ description, type: textTypes(), minLength: 1 });
const only = (properties: Json, required: readonly string[]): Json => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const FILE = 'Path of a CSV, JSONL or text file, relative to the folder of this file.';
const QUERY = 'Read-only SQL on the warehouse. Its columns are request fields, or type and value of a URN.';

function forEach(endpoint: Endpoint): Json {
  const ofField = (field: string): Json => ({
    anyOf: [{ type: 'array', minItems: 1, items: inputOf(endpoint, field) }, ref('file'), ref('query')],
  });
  const row = {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: { ...fields(endpoint, (field) => inputOf(endpoint, field)), [INPUT_AGE]: ref('input-age') },
  };
  return {
    description: 'Inputs: one request for each. Several keys make their cross product.',
    anyOf: [
      { type: 'object', minProperties: 1, additionalProperties: false, properties: fields(endpoint, ofField) },
      { type: 'array', minItems: 1, items: row },
      only({ file: text(FILE) }, ['file']),
      ref('query'),
    ],
  };
}

/** The schema of one input. An input of a list field may be one element. */
function inputOf(endpoint: Endpoint, field: string): Json {
  const { items } = withoutNull(fieldShape(endpoint, field));
  return items ? { anyOf: [loosened(items), fieldRef(endpoint, field)] } : fieldRef(endpoint, field);
}

const splitBy = (endpoint: Endpoint): Json => ({
  description: 'Values by list field. A full answer is split by these values.',
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: Object.fromEntries(
    endpoint.facets.map((field) => {
      const { description, items = {} } = withoutNull(fieldShape(endpoint, field));
      const values = { type: 'array', minItems: 1, items: loosened(items) };
      const shorthand = endpoint.shorthands[field];
      return [
        field,
        shorthand ? { description, anyOf: [{ const: shorthand.word }, values] } : { description, ...values },
      ];
    }),
  ),
});

/** A schema for what users may write: variables for any scalar, URNs as text, numbers where text is expected. */
function loosened(shape: JsonSchema): Json {
  const { description, default: fallback, ...rest } = shape;
  const metadata = {
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
  };
  if (rest.anyOf) return { ...metadata, anyOf: rest.anyOf.map(loosened) };
  if (isUrn(shape)) return { ...metadata, anyOf: [object(rest), urnText(shape)] };
  if (rest.type === 'object') return { ...metadata, ...object(rest) };
  if (rest.type === 'array') return { ...metadata, ...rest, items: loosened(rest.items ?? {}) };
  if (rest.type === 'null' || Object.keys(rest).length === 0) return { ...metadata, ...rest };
  const bounded = withoutSafe(rest);
  if (rest.type !== 'string' || rest.const !== undefined || rest.enum !== undefined)
    return { ...metadata, anyOf: [bounded, VARIABLE] };
  const type = textTypes(rest.pattern);
  return rest.pattern === undefined
    ? { ...metadata, ...rest, type }
    : { ...metadata, anyOf: [{ ...bounded, type }, VARIABLE] };
}

/** The types that may be written where text is due: a number or a boolean is taken as its text if the pattern allows it. */
function textTypes(pattern = ''): string | readonly string[] {
  const allowed = new RegExp(pattern, 'u');
  const more = [...(allowed.test('1') ? ['number'] : []), ...(allowed.test('true') ? ['boolean'] : [])];
  return more.length === 0 ? 'string' : ['string', ...more];
}

/** The schema without the bounds of JavaScript's safe integers, which mean nothing to a user. */
function withoutSafe({ minimum, maximum, ...rest }: JsonSchema): Json {
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
}

function object(shape: JsonSchema): Json {
  const { properties, additionalProperties, ...rest } = shape;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, it]) => [key, loosened(it)])),
    }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? loosened(additionalProperties) : additionalProperties,
    }),
  };
}

function urnText(shape: JsonSchema): Json {
  const type = shape.properties?.['type']?.const;
  const pattern =
    typeof type === 'string' ? `^(urn:li:)?${type}:\\S+$|\\$\\{` : '^urn:li:[A-Za-z][A-Za-z0-9_]*:\\S+$|\\$\\{';
  return { type: 'string', pattern };
}
