/** How a row refers to the rows of others: which columns, to which table. */
import type { Fields, ObjectField, ObservationSpec, Resource } from '../../service/model.ts';

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: 'cascade' | 'set null';
}

/** The names that a parent's key columns take in a table that refers to it. */
export const referenceColumnNames = (prefix: string, key: readonly string[]): string[] =>
  key.map((name) => (name.startsWith(`${prefix}_`) ? name : `${prefix}_${name}`));

/** Foreign keys to what is loaded in the same transaction: nested entities, and objects that are sightings of one table. */
export function referencesOf(fields: Fields, prefix: string, of: Resource | undefined): ForeignKey[] {
  return Object.entries(fields).flatMap(([name, field]): ForeignKey[] => {
    if (field.shape === 'nested') {
      const to = field.resource();
      return [
        {
          columns: to.key.map((key) => `${prefix}${name}_${key}`),
          table: to.table,
          references: to.key,
          onDelete: 'set null',
        },
      ];
    }
    if (field.shape !== 'object') return [];
    return [
      ...sightingReference(field, `${prefix}${name}_`, of),
      ...referencesOf(field.fields, `${prefix}${name}_`, of),
    ];
  });
}

function sightingReference(field: ObjectField, prefix: string, of: Resource | undefined): ForeignKey[] {
  const keys = observationKeys(field.observation, prefix);
  // A shared row is merged column by column, so a reference of two columns could mix two sightings and name nothing.
  return of?.shared ? keys.filter(({ columns }) => columns.length === 1) : keys;
}

/** The foreign key from what a sighting tells to the entity that it sees, if there is one. */
export function observationKeys(sighting: ObservationSpec | undefined, prefix: string): ForeignKey[] {
  const columns = referenceColumns(sighting, prefix);
  if (!sighting || columns.length === 0) return [];
  const to = sighting.resourceOf('');
  return [{ columns, table: to.table, references: to.key, onDelete: 'set null' }];
}

/**
 * The columns by which an object with this prefix refers to the entity that it sees; none when the URN's type decides
 * the table, because a column can't refer to two.
 */
export function referenceColumns(sighting: ObservationSpec | undefined, prefix: string): string[] {
  if (!sighting) return [];
  const to = sighting.resourceOf('');
  if (sighting.resourceOf('company') !== to) return [];
  return to.key.map((key) => prefix + (sighting.bare ? key.replace(/^urn_/, '') : key));
}
