/** Objects that say something of an entity with a table of its own. */
import type { Fields, ObjectField, ObservationSpec } from '../service/model.ts';
import { referenceColumns } from '../warehouse/schema/references.ts';
import { isKey } from './key.ts';
import { type RowBuilder, isObject, type UnmappedFields, type JsonObject } from './scope.ts';

/** Takes what an object says of the entity that it names. */
export function observeEntity(sighting: ObservationSpec, fields: Fields, value: JsonObject, draft: RowBuilder): void {
  const urn = sighting.bare ? value : value['urn'];
  const resource = sighting.resourceOf(isObject(urn) && typeof urn['type'] === 'string' ? urn['type'] : '');
  draft.scope.addObservation({
    resource,
    detail: sighting.detail,
    fields: sighting.bare ? resource.fields : fields,
    value: sighting.bare ? { urn: value } : value,
  });
}

/**
 * A reader of what refers to nothing: a reference that can't be a key has no row to refer to. It takes such cells out of
 * a row that was read from the object and returns them as they were sent.
 */
export function referenceReader(
  field: ObjectField,
  name: string,
): (value: JsonObject, draft: RowBuilder) => UnmappedFields | undefined {
  const columns = referenceColumns(field.observation, `${name}_`);
  const names = Object.keys(field.fields).filter((it) =>
    columns.some((column) => column === `${name}_${it}` || column.startsWith(`${name}_${it}_`)),
  );
  return (value, { cells, full }) => {
    if (columns.every((column) => (cells[column] ?? null) === null || isKey(cells[column]))) return undefined;
    for (const column of columns) {
      if (full) cells[column] = null;
      else Reflect.deleteProperty(cells, column);
    }
    return Object.fromEntries(names.map((it) => [it, value[it] ?? null]));
  };
}
