/** Objects that are also observations of an entity with its own table. */
import type { Fields, ObjectField, ObservationSpec } from '../service/model.ts';
import { referenceColumns } from '../warehouse/schema/references.ts';
import { isKey } from './batch.ts';
import { type RowBuilder, isObject, type UnmappedFields, type JsonObject } from './scope.ts';

/** Adds what an object reports about the entity that it names. */
export function observeEntity(
  observation: ObservationSpec,
  fields: Fields,
  value: JsonObject,
  builder: RowBuilder,
): void {
  const urn = observation.bare ? value : value['urn'];
  const resource = observation.resourceOf(isObject(urn) && typeof urn['type'] === 'string' ? urn['type'] : '');
  builder.scope.addObservation({
    resource,
    detail: observation.detail,
    fields: observation.bare ? resource.fields : fields,
    value: observation.bare ? { urn: value } : value,
  });
}

/**
 * A function that removes invalid references: cells that cannot be a key have no row to refer to. It removes them from
 * the row of the object and returns their fields as sent.
 */
export function referenceReader(
  field: ObjectField,
  name: string,
): (value: JsonObject, builder: RowBuilder) => UnmappedFields | undefined {
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
