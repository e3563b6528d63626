/** The declared fields whose values can move from `extra` to new columns, by table. */
import { memoizeByObject } from '../../async/memoize.ts';
import type { Fields, Kind, ListField, Resource } from '../../service/model.ts';
import { scalarColumns } from '../../warehouse/schema/columns.ts';
import { childTableName } from '../../warehouse/schema/tables.ts';

/** A scalar field of a table. */
export interface FillableField {
  /** The names from the item, or from the element of the list, down to the field. */
  readonly path: readonly string[];
  readonly kind: Kind;
  /** One column; two for an epoch. */
  readonly columns: readonly string[];
}

/** The scalar fields of a resource's table and of its lists of objects, by table. */
export const fillableFields: (resource: Resource) => ReadonlyMap<string, readonly FillableField[]> = memoizeByObject(
  (resource) =>
    new Map([
      [resource.table, scalarsIn(resource.fields, [])],
      ...listsIn(resource.fields, []).flatMap(({ path, list: { element, named } }) =>
        element.of === 'object'
          ? [[childTableName(resource, path, named), scalarsIn(element.fields, [])] as const]
          : [],
      ),
    ]),
);

function scalarsIn(fields: Fields, outer: readonly string[]): FillableField[] {
  return Object.entries(fields).flatMap(([name, field]): FillableField[] => {
    const path = [...outer, name];
    if (field.shape === 'object') return scalarsIn(field.fields, path);
    if (field.shape !== 'scalar') return [];
    const columns = scalarColumns(path.join('_'), field.kind, '', {}).map((it) => it.name);
    return [{ path, kind: field.kind, columns }];
  });
}

function listsIn(
  fields: Fields,
  outer: readonly string[],
): { readonly path: readonly string[]; readonly list: ListField }[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...outer, name];
    if (field.shape === 'list') return [{ path, list: field }];
    return field.shape === 'object' ? listsIn(field.fields, path) : [];
  });
}
