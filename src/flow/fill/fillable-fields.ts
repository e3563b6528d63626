/** The declared fields whose values can move from `extra` to new columns, by table. */
import { memoize } from '../../async/memoize.ts';
import type { Fields, Kind } from '../../service/model.ts';
import { scalarColumns } from '../../warehouse/schema/columns.ts';
import { fieldTables } from '../promote/field-place.ts';

/** A scalar field of a table. */
export interface FillableField {
  /** The names from the item, or from the element of the list, down to the field. */
  readonly path: readonly string[];
  readonly kind: Kind;
  /** One column; two for an epoch. */
  readonly columns: readonly string[];
}

/** The scalar fields of each table that keeps unknown fields in `extra`, by the name of the table. */
export const fillableFields: () => ReadonlyMap<string, readonly FillableField[]> = memoize(
  () => new Map(fieldTables.map(({ table, fields }) => [table.name, scalarsIn(fields, [])])),
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
