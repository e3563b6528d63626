/** Objects that are also observations of an entity with its own table. */
import type { Fields, ObjectField, ObservationSpec, Resource } from '../service/model.ts';
import { referenceColumns } from '../warehouse/schema/references.ts';
import { isKey } from './batch.ts';
import { slotsOf } from './coerce.ts';
import { type RowBuilder, type RowTarget, isObject, type UnmappedFields, type JsonObject } from './scope.ts';

/** The resource of the entity that an object observes, by the type of its URN. */
export function observedResource({ bare, resourceOf }: ObservationSpec, value: JsonObject): Resource {
  const urn = bare ? value : value['urn'];
  return resourceOf(isObject(urn) && typeof urn['type'] === 'string' ? urn['type'] : '');
}

/** A function that adds what an object with these fields reports about the entity that it names. */
export function observeEntity(
  observation: ObservationSpec,
  fields: Fields,
): (value: JsonObject, builder: RowBuilder) => void {
  const { bare, detail } = observation;
  return (value, { scope }) => {
    const resource = observedResource(observation, value);
    scope.addObservation({
      resource,
      detail,
      fields: bare ? resource.fields : fields,
      value: bare ? { urn: value } : value,
    });
  };
}

/**
 * A function that removes invalid references: cells that cannot be a key have no row to refer to. It removes them from
 * the row of the object and returns their fields as sent.
 */
export function referenceReader(
  field: ObjectField,
  prefix: string,
  { slotOf }: RowTarget,
): (value: JsonObject, builder: RowBuilder) => UnmappedFields | undefined {
  const columns = referenceColumns(field.observation, prefix);
  const slots = slotsOf(columns, slotOf);
  const names = Object.keys(field.fields).filter((it) =>
    columns.some((column) => column === prefix + it || column.startsWith(`${prefix}${it}_`)),
  );
  return (value, { values, full }) => {
    if (slots.every((slot) => (values[slot] ?? null) === null || isKey(values[slot]))) return undefined;
    for (const slot of slots) values[slot] = full ? null : undefined;
    return Object.fromEntries(names.map((it) => [it, value[it] ?? null]));
  };
}
