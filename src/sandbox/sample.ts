/** Generates plausible items of a resource, for an endpoint that the world does not support yet. */
import type { RequestBody } from '../service/request-body.ts';
import type { ListElement, Field, Fields, Kind, Resource } from '../service/model.ts';
import { canonicalJson } from '../service/canonical-json.ts';
import { digestOf } from './world/draw.ts';
import type { Wire } from './wire.ts';

/** The number of items for a request without `count`. */
const FEW = 1;
const MOST = 25;

/** Items for a request with all fields set, equal for equal requests. */
export function sampledItems(resource: Resource, request: RequestBody): Wire[] {
  const { count } = request;
  const many = typeof count === 'number' ? Math.min(count, MOST) : FEW;
  const seed = digestOf(canonicalJson([resource.name, request])) % 1_000_000;
  return Array.from({ length: many }, (_, at) => itemOf(resource, `${seed}-${at}`));
}

const itemOf = (resource: Resource, suffix: string): Wire => ({
  '@type': resource.tag,
  ...objectOf(resource.fields, suffix),
});

const objectOf = (fields: Fields, suffix: string): Wire =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = valueOf(field, name, suffix);
      return value === undefined ? [] : [[name, value]];
    }),
  );

function valueOf(field: Field, name: string, suffix: string): unknown {
  switch (field.shape) {
    case 'scalar':
      return scalarOf(field.kind, name, suffix);
    case 'object':
      return { ...(field.tag !== undefined && { '@type': field.tag }), ...objectOf(field.fields, suffix) };
    case 'list':
      return [0, 1].map((at) => elementOf(field.element, name, `${suffix}-${at}`));
    case 'nested':
    case 'nested-list':
    case 'given':
      // A nested entity may contain entities of its own kind without end.
      return undefined;
  }
}

function elementOf(element: ListElement, name: string, suffix: string): unknown {
  switch (element.of) {
    case 'scalar':
      return `${name}-${suffix}`;
    case 'json':
      return { name: `${name}-${suffix}` };
    case 'object':
      return { ...(element.tag !== undefined && { '@type': element.tag }), ...objectOf(element.fields, suffix) };
  }
}

function scalarOf(kind: Kind, name: string, suffix: string): unknown {
  const drawn = digestOf(`${name} ${suffix}`);
  switch (kind) {
    case 'text':
      return `${name}-${suffix}`;
    case 'integer':
      return drawn % 10_000;
    case 'number':
      return (drawn % 10_000) / 8;
    case 'flag':
      return drawn % 2 === 0;
    case 'moment':
      return new Date(1_700_000_000_000 + (drawn % 1_000_000) * 1000).toISOString();
    case 'day':
      return new Date(1_700_000_000_000 + (drawn % 365) * 86_400_000).toISOString().slice(0, 10);
    case 'uuid':
      return `00000000-0000-4000-8000-${drawn.toString(16).padStart(12, '0')}`;
    case 'epoch':
      return 1_700_000_000 + (drawn % 1_000_000);
    case 'json':
      return { [name]: drawn % 100 };
  }
}
