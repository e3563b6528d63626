/** A resource is a kind of thing that the service returns: its tag, its table, its key, its fields. */
import type { Resource } from './model.ts';
import { type EntityName, shownName } from './names/entity-name.ts';

export const resource = (it: Omit<Resource, 'shared'> & { readonly shared?: boolean }): Resource => ({
  shared: false,
  ...it,
});

/** True of a resource whose rows are keyed by what was asked, so that they belong to whom the question is about. */
export const isKeyedByQuestion = ({ key, fields }: Resource): boolean =>
  key.some((name) => fields[name]?.shape === 'given');

/** The names that a row of the resource shows, by its columns. */
export function namesShown({ names = {} }: Resource, cells: Readonly<Record<string, unknown>>): EntityName[] {
  return Object.entries(names).flatMap(([field, kind]) => {
    const texts = kind === 'urn' ? [cells[`${field}_type`], cells[`${field}_value`]] : [cells[field]];
    const name = texts.every((it) => typeof it === 'string') ? shownName(kind, texts.join(':')) : undefined;
    return name ? [name] : [];
  });
}
