/** Which resources the answers of a catalog speak of. */
import type { Endpoint } from '../../service/endpoint.ts';
import type { Field, Resource } from '../../service/model.ts';

/** Every resource that these endpoints return or that is seen inside one, each after those that it sees. */
export function resourcesOf(endpoints: readonly Endpoint[]): readonly Resource[] {
  const found = new Set<Resource>();
  for (const { returns } of endpoints) reachable(returns, found);
  return [...found];
}

function reachable(resource: Resource, into: Set<Resource>): void {
  if (into.has(resource)) return;
  for (const field of Object.values(resource.fields)) visit(field, into);
  into.add(resource);
}

function visit(field: Field, into: Set<Resource>): void {
  if (field.shape === 'object') {
    if (field.observation) for (const type of ['', 'company']) reachable(field.observation.resourceOf(type), into);
    for (const inner of Object.values(field.fields)) visit(inner, into);
  } else if (field.shape === 'list' && field.element.of === 'object') {
    const { observation, fields } = field.element;
    if (observation) for (const type of ['', 'company']) reachable(observation.resourceOf(type), into);
    for (const inner of Object.values(fields)) visit(inner, into);
  }
}
