/** Finds the resources that the answers of a catalog contain. */
import type { Endpoint } from '../../service/endpoint.ts';
import type { Field, Resource } from '../../service/model.ts';

/**
 * Every resource that these endpoints return or that occurs inside one, sorted so that contained resources come first,
 * and the entities of a list after their owner.
 */
export function resourcesOf(endpoints: readonly Endpoint[]): readonly Resource[] {
  const found = new Set<Resource>();
  for (const { returns } of endpoints) reachable(returns, found);
  return [...found];
}

function reachable(resource: Resource, found: Set<Resource>): void {
  if (found.has(resource)) return;
  for (const field of Object.values(resource.fields)) visit(field, found);
  found.add(resource);
  // The entities of a list refer to their owner, as the posts of a profile do.
  for (const field of Object.values(resource.fields))
    if (field.shape === 'nested-list') reachable(field.resource(), found);
}

function visit(field: Field, found: Set<Resource>): void {
  if (field.shape === 'object') {
    for (const observed of field.observation?.resources() ?? []) reachable(observed, found);
    for (const inner of Object.values(field.fields)) visit(inner, found);
  } else if (field.shape === 'list' && field.element.of === 'object') {
    const { observation, fields } = field.element;
    for (const observed of observation?.resources() ?? []) reachable(observed, found);
    for (const inner of Object.values(fields)) visit(inner, found);
  }
}
