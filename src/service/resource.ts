/** A resource is a kind of object that the service returns: tag, table, key and fields. */
import type { Resource, ValueOf } from './model.ts';
import { type EntityName, shownName } from './names/entity-name.ts';

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

/** The names of the entity that its row contains. */
export function namesShown({ names = {} }: Resource, valueOf: ValueOf): EntityName[] {
  return Object.entries(names).flatMap(([field, kind]) => {
    const texts = kind === 'urn' ? [valueOf(`${field}_type`), valueOf(`${field}_value`)] : [valueOf(field)];
    const name = texts.every((it) => typeof it === 'string') ? shownName(kind, texts.join(':')) : undefined;
    return name ? [name] : [];
  });
}
