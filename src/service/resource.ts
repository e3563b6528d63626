/** A resource is a kind of object that the service returns: tag, table, key and fields. */
import type { Resource, ValueOf } from './model.ts';
import { type EntityName, shownName } from './names/entity-name.ts';
import { holdsPseudonym } from './names/forgotten.ts';
import type { RequestBody } from './request-body.ts';

export const resource = (it: Omit<Resource, 'shared'> & { readonly shared?: boolean }): Resource => ({
  shared: false,
  ...it,
});

/**
 * True if the key of the resource's rows contains values of the request, so that the rows belong to the entity in the
 * request.
 */
export const isKeyedByQuestion = ({ key, fields }: Resource): boolean =>
  key.some((name) => fields[name]?.shape === 'given');

/** True if the key of the resource's rows depends on this field of the request. */
export function isInKey({ key, fields }: Resource, request: RequestBody, name: string): boolean {
  const keyFrom = (body: RequestBody): readonly unknown[] =>
    key.map((part) => {
      const field = fields[part];
      return field?.shape === 'given' && field.from({ sync: '', requestKey: '', request: body }, 0);
    });
  return JSON.stringify(keyFrom(request)) !== JSON.stringify(keyFrom({ ...request, [name]: null }));
}

/** True if the key of the resource's rows depends on a pseudonym in the request: they belong to a forgotten entity. */
export const isKeyedByPseudonym = (resource: Resource, request: RequestBody): boolean =>
  Object.entries(request).some(([name, value]) => holdsPseudonym(value) && isInKey(resource, request, name));

/** The names of the entity that its row contains. */
export function namesShown({ names = {} }: Resource, valueOf: ValueOf): EntityName[] {
  return Object.entries(names).flatMap(([field, kind]) => {
    const texts = kind === 'urn' ? [valueOf(`${field}_type`), valueOf(`${field}_value`)] : [valueOf(field)];
    const name = texts.every((it) => typeof it === 'string') ? shownName(kind, texts.join(':')) : undefined;
    return name ? [name] : [];
  });
}
