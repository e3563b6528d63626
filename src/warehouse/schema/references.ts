/** Derives foreign keys: which columns of a row refer to which table. */
import type { Fields, ObjectField, ObservationSpec, Resource } from '../../service/model.ts';

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: 'cascade' | 'set null';
}

/** The singular of the name of a table. */
export const singular = (table: string): string => table.replace(/ies$/, 'y').replace(/s$/, '');

/** The names of a parent's key columns in a table that refers to it. */
export const referenceColumnNames = (prefix: string, key: readonly string[]): string[] =>
  key.map((name) => (name.startsWith(`${prefix}_`) ? name : `${prefix}_${name}`));

/**
 * The foreign keys to rows of the same transaction: nested entities, and objects that observe an entity of one table.
 */
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
      ...observationReference(field, `${prefix}${name}_`, of),
      ...referencesOf(field.fields, `${prefix}${name}_`, of),
    ];
  });
}

function observationReference(field: ObjectField, prefix: string, of: Resource | undefined): ForeignKey[] {
  const keys = observationKeys(field.observation, prefix);
  // A shared row is merged by column, so a reference of two columns could mix two observations and match no row.
  return of?.shared ? keys.filter(({ columns }) => columns.length === 1) : keys;
}

/** The foreign key from the columns of an observation to the observed entity, or none. */
export function observationKeys(observation: ObservationSpec | undefined, prefix: string): ForeignKey[] {
  const columns = referenceColumns(observation, prefix);
  const [to] = observation?.resources() ?? [];
  if (!to || columns.length === 0) return [];
  return [{ columns, table: to.table, references: to.key, onDelete: 'set null' }];
}

/**
 * The columns of an object with this prefix that refer to the observed entity. Empty if the URN's type decides the
 * table, because a column can't refer to two tables.
 */
export function referenceColumns(observation: ObservationSpec | undefined, prefix: string): string[] {
  if (!observation) return [];
  const [to, ...others] = observation.resources();
  if (!to || others.length > 0) return [];
  return to.key.map((key) => prefix + (observation.bare ? key.replace(/^urn_/, '') : key));
}
