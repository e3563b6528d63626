/**
 * Holds items against the contract's fields: names, types, tags and what is always present. It folds over the declared
 * fields and shares nothing with the code that validates or normalizes answers.
 */
import type { Field, Fields, Resource } from '../../src/service/model.ts';

/** Where the contract says `T | null`: dotted paths by resource, without those below it. */
export type Nullable = ReadonlySet<string>;

/** What is wrong with an item, each with its path; and the paths at which there was something. */
export interface Findings {
  readonly wrong: string[];
  readonly filled: Set<string>;
}

export function checkItem(resource: Resource, item: unknown, at: string, nullable: Nullable, findings: Findings): void {
  checkObject(resource.fields, resource.tag, item, at, nullable, findings);
}

function checkObject(
  fields: Fields,
  tag: string | undefined,
  value: unknown,
  at: string,
  nullable: Nullable,
  findings: Findings,
): void {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    findings.wrong.push(`${at} is no object`);
    return;
  }
  const object = value as Record<string, unknown>;
  // The variant for companies has no documented tag.
  const tagged = object['@type'] === tag || (at.endsWith('.mentioned[]') && !('@type' in object));
  if (!tagged) findings.wrong.push(`${at} has the tag ${String(object['@type'])}`);
  for (const name of Object.keys(object)) {
    if (name !== '@type' && (fields[name] === undefined || fields[name].shape === 'given'))
      findings.wrong.push(`${at}.${name} is unknown`);
  }
  for (const [name, field] of Object.entries(fields)) {
    if (field.shape === 'given') continue;
    const path = `${at}.${name}`;
    if (!Object.hasOwn(object, name)) {
      if (field.required) findings.wrong.push(`${path} is missing`);
    } else if (object[name] === null) {
      if (!nullable.has(path)) findings.wrong.push(`${path} is null`);
    } else {
      checkField(field, object[name], path, nullable, findings);
    }
  }
}

function checkField(
  field: Exclude<Field, { shape: 'given' }>,
  value: unknown,
  at: string,
  nullable: Nullable,
  findings: Findings,
): void {
  if (value === '' || (Array.isArray(value) && value.length === 0)) {
    if (field.shape === 'list' || field.shape === 'nested-list' || (field.shape === 'scalar' && field.kind === 'text'))
      return;
  }
  findings.filled.add(at);
  switch (field.shape) {
    case 'scalar':
      if (!SCALARS[field.kind](value)) findings.wrong.push(`${at} is no ${field.kind}: ${JSON.stringify(value)}`);
      return;
    case 'object':
      return checkObject(field.fields, field.tag, value, at, nullable, findings);
    case 'nested':
      return checkItem(field.resource(), value, at, nullable, findings);
    case 'nested-list':
    case 'list':
      if (!Array.isArray(value)) {
        findings.wrong.push(`${at} is no list`);
        return;
      }
      for (const element of value) checkElement(field, element, `${at}[]`, nullable, findings);
  }
}

function checkElement(
  field: Extract<Field, { shape: 'list' | 'nested-list' }>,
  element: unknown,
  at: string,
  nullable: Nullable,
  findings: Findings,
): void {
  if (field.shape === 'nested-list') checkItem(field.resource(), element, at, nullable, findings);
  else if (field.element.of === 'object')
    checkObject(field.element.fields, field.element.tag, element, at, nullable, findings);
  else if (field.element.of === 'scalar' && typeof element !== 'string') findings.wrong.push(`${at} is no text`);
  else if (field.element.of === 'json' && (element === null || typeof element !== 'object'))
    findings.wrong.push(`${at} is no object`);
}

const isInteger = (value: unknown): boolean => Number.isSafeInteger(value);
const SCALARS: Record<Extract<Field, { shape: 'scalar' }>['kind'], (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  integer: isInteger,
  epoch: isInteger,
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean',
  moment: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(value),
  day: (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  uuid: (value) => typeof value === 'string' && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value),
  json: (value) => value !== null && typeof value === 'object',
};

/** Every path at which the contract has a field, of a resource and, once, of what is nested in it. */
export function pathsOf(resource: Resource, at: string): string[] {
  return fieldPaths(resource.fields, at, true);
}

function fieldPaths(fields: Fields, at: string, deep: boolean): string[] {
  return Object.entries(fields).flatMap(([name, field]) => pathsOfField(field, `${at}.${name}`, deep));
}

function pathsOfField(field: Field, path: string, deep: boolean): string[] {
  switch (field.shape) {
    case 'given':
      return [];
    case 'scalar':
      return [path];
    case 'object':
      return [path, ...fieldPaths(field.fields, path, deep)];
    case 'list':
      return [path, ...(field.element.of === 'object' ? fieldPaths(field.element.fields, `${path}[]`, deep) : [])];
    case 'nested':
      return [path, ...(deep ? fieldPaths(field.resource().fields, path, false) : [])];
    case 'nested-list':
      return [path, ...(deep ? fieldPaths(field.resource().fields, `${path}[]`, false) : [])];
  }
}
