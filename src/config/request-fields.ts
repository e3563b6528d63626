/** Checks the request fields, inputs and split values of a sync against the endpoint's contract. */
import * as z from 'zod';
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { microsOf } from '../service/instant.ts';
import type { SplitBy } from '../service/window/facet-splits.ts';
import { check, foundIn } from './check.ts';
import { elementwise } from './values/coerce.ts';
import { insteadOf } from './document/nearest.ts';
import type { ReportProblem } from './document/problem.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import type { Span } from './document/source.ts';
import type { MapEntry, Tree } from './document/tree.ts';

const fieldSchema = (endpoint: Endpoint, field: string): z.ZodType | undefined =>
  Object.hasOwn(endpoint.request.shape, field) ? (endpoint.request.shape[field] as z.ZodType) : undefined;

/** The JSON Schema of one request field. */
export const fieldShape = (endpoint: Endpoint, field: string): JsonSchema => {
  const schema = fieldSchema(endpoint, field);
  return schema ? jsonSchemaOf(schema) : {};
};

/** The request's schema, in which the fields that inputs provide are optional. */
export function requestSchema(endpoint: Endpoint, isBrought: (field: string) => boolean): z.ZodObject {
  const fields = Object.entries<z.ZodType>(endpoint.request.shape);
  return z.strictObject(
    Object.fromEntries(fields.map(([name, schema]) => [name, isBrought(name) ? schema.optional() : schema])),
  );
}

/** A mapping's fields without nulls. An unset optional field is not sent. */
export const setFields = (given: unknown): RequestBody =>
  Object.fromEntries(
    Object.entries(given as Record<string, unknown>).filter(([, value]) => value !== null && value !== undefined),
  );

/**
 * One value of a request field, or undefined if a problem was reported. A list field takes a single value as one
 * element.
 */
export function fieldValue(endpoint: Endpoint, { key, keySpan, value }: MapEntry, report: ReportProblem): unknown {
  const schema = fieldSchema(endpoint, key);
  if (!schema) {
    report(keySpan, unknownField(endpoint, key));
    return undefined;
  }
  const tree = elementwise(jsonSchemaOf(schema), value);
  const entry: MapEntry = { key, keySpan, value: tree };
  const checked = check(aloneOf(endpoint, key, schema), { kind: 'map', entries: [entry], span: keySpan }, report);
  return checked && (checked.written as Record<string, unknown>)[key];
}

const alone = new Map<string, z.ZodObject>();

/** A schema that checks one field as a mapping, because a message needs the name of the field. */
function aloneOf(endpoint: Endpoint, field: string, schema: z.ZodType): z.ZodObject {
  const key = `${endpoint.name} ${field}`;
  const found = alone.get(key) ?? z.strictObject({ [field]: schema });
  alone.set(key, found);
  return found;
}

/** The message about a field that an endpoint doesn't have. */
export const unknownField = (endpoint: Endpoint, field: string): string =>
  `${endpoint.name} has no field ${JSON.stringify(field)}${insteadOf(field, settable(endpoint))}`;

/** The message about a field that the paging sets; undefined for other fields. */
export function ownField({ paging }: Endpoint, field: string): string | undefined {
  return Object.hasOwn(paging.ownFields, field)
    ? `${field} is filled in by paging, because ${paging.ownFields[field] ?? ''}`
    : undefined;
}

/** The fields that a sync may set. */
export const settable = ({ request, paging }: Endpoint): string[] =>
  Object.keys(request.shape).filter((field) => !Object.hasOwn(paging.ownFields, field));

/** The fields that a sync's window fills in. */
export const dayFields = ({ paging }: Endpoint): string[] => (paging.days ? [paging.days.from, paging.days.to] : []);

/** A range of days or instants that ends before it begins: its last field, and a message. Undefined if there is none. */
export function reversedRange(
  { paging }: Endpoint,
  fields: RequestBody,
): { readonly field: string; readonly message: string } | undefined {
  const range = paging.days ?? paging.times;
  const [first, last] = range ? [fields[range.from], fields[range.to]] : [];
  if (!range || typeof first !== 'string' || typeof last !== 'string' || edgeOf(last) >= edgeOf(first))
    return undefined;
  const message = `${range.from} is ${first}, after ${range.to}, ${last}; allowed is a first one on or before the last`;
  return { field: range.to, message };
}

/** The microseconds of a day or an instant that the contract allows. */
const edgeOf = (text: string): bigint => microsOf(text) ?? BigInt(Date.parse(text)) * 1000n;

/** The values to split by, in the order in which they are tried. Problems go to `report`. */
export function splitByOf(endpoint: Endpoint, tree: Tree, keySpan: Span, report: ReportProblem): SplitBy {
  if (endpoint.facets.length === 0) {
    report(keySpan, `${endpoint.name} has no list field, so its full answers can't be split; remove split_by`);
    return {};
  }
  const allowed = `allowed is a mapping of ${endpoint.facets.join(', ')} to lists of values`;
  if (tree.kind !== 'map' || tree.entries.length === 0) {
    report(tree.span, `split_by is ${foundIn(tree)}; ${allowed}`);
    return {};
  }
  return Object.fromEntries(tree.entries.flatMap((entry) => facetOf(endpoint, entry, report)));
}

function facetOf(
  endpoint: Endpoint,
  { key, keySpan, value }: MapEntry,
  report: ReportProblem,
): [string, readonly unknown[]][] {
  if (!endpoint.facets.includes(key)) {
    report(keySpan, `${JSON.stringify(key)} can't be split by${insteadOf(key, endpoint.facets)}`);
    return [];
  }
  const shorthand = endpoint.shorthands[key];
  if (shorthand && value.kind === 'scalar' && value.text === shorthand.word) return [[key, shorthand.values]];
  const words = shorthand ? `a list of values, or ${shorthand.word} for ${shorthand.about}` : 'a list of values';
  if (value.kind !== 'list' || value.items.length === 0) {
    if (!(value.kind === 'scalar' && value.hasProblem))
      report(value.span, `${key} is ${foundIn(value)}; allowed is ${words}`);
    return [];
  }
  if (key === endpoint.paging.remainder) reportExclusions(key, value.items, report);
  const checked = fieldValue(endpoint, { key, keySpan, value }, report);
  return Array.isArray(checked) ? [[key, checked as readonly unknown[]]] : [];
}

/** The last part of a split excludes every value, and an exclusion cannot be excluded. */
function reportExclusions(field: string, items: readonly Tree[], report: ReportProblem): void {
  for (const item of items) {
    if (item.kind === 'scalar' && item.text.startsWith('-'))
      report(
        item.span,
        `${field} is ${foundIn(item)}, which excludes; allowed in split_by are values without a leading -`,
      );
  }
}
