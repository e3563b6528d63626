/** The columns of other tables that refer to an entity, derived from the declared fields. */
import { catalog } from '../../service/catalog.ts';
import type { ListElement, Fields, ObservationSpec, Resource } from '../../service/model.ts';
import { resourcesOf } from '../../warehouse/schema/resources.ts';
import { NAME_FIELDS } from '../../normalize/erasure/identifying-fields.ts';
import { childTableName, rootTables } from '../../warehouse/schema/tables.ts';
import type { ChildTable, RootTable } from '../../warehouse/schema/table-types.ts';

/** Columns of a table that describe an entity of another table. */
export interface Reference {
  readonly table: RootTable | ChildTable;
  /** The columns that name the entity, in the order of its key. */
  readonly key: readonly string[];
  /** All columns about the entity, including the key. */
  readonly columns: readonly string[];
  /** The fields from the row to the object about the entity. `extra` keeps fields without a column at this path. */
  readonly path: readonly string[];
  /** The complete row is one list element about the entity. */
  readonly isElement: boolean;
  /** The columns with names of the entity, which identify it where the key is missing. */
  readonly names: readonly string[];
  /** True if an object with this type of URN, empty without one, refers to the entity's table. */
  readonly isOfType: (urnType: string) => boolean;
}

/** Returns every reference to entities of this table in the root and child tables. */
export function referencesTo({ resource: to }: RootTable): readonly Reference[] {
  return resourcesOf(catalog).flatMap((from) => referencesIn(from, to));
}

function referencesIn(from: Resource, to: Resource): Reference[] {
  const found: Reference[] = [];
  const visit = (fields: Fields, prefix: string, path: readonly string[]): void => {
    for (const [name, field] of Object.entries(fields)) {
      const under = `${prefix}${name}_`;
      if (field.shape === 'nested' && field.resource() === to)
        found.push(
          referenceIn({
            table: tableNamed(from.table),
            prefix: under,
            key: to.key.map((key) => under + key),
            path: [...path, name],
            isElement: false,
            isOfType: () => true,
          }),
        );
      if (field.shape === 'object') {
        const inner = [...path, name];
        if (observes(field.observation, to))
          found.push(observedIn(field.observation, to, { table: tableNamed(from.table), prefix: under, path: inner }));
        visit(field.fields, under, inner);
      }
      if (field.shape === 'list' && field.element.of === 'object') {
        const table = tableNamed(childTableName(from, [...path, name], field.named));
        found.push(...elementReferences(table, field.element, to));
      }
    }
  };
  visit(from.fields, '', []);
  return found;
}

function elementReferences(
  table: Reference['table'],
  element: Extract<ListElement, { of: 'object' }>,
  to: Resource,
): Reference[] {
  const own = observes(element.observation, to)
    ? [{ ...observedIn(element.observation, to, { table, prefix: '', path: [] }), isElement: true }]
    : [];
  const inner = Object.entries(element.fields).flatMap(([name, field]) => {
    if (field.shape !== 'object' || !observes(field.observation, to)) return [];
    const reference = observedIn(field.observation, to, { table, prefix: `${name}_`, path: [name] });
    return [{ ...reference, isElement: reference.key.every((column) => element.key.includes(column)) }];
  });
  return [...own, ...inner];
}

const observes = (observation: ObservationSpec | undefined, to: Resource): observation is ObservationSpec =>
  observation?.resources().includes(to) === true;

/** An object that observes an entity of the resource. */
const observedIn = (
  { bare, resourceOf }: ObservationSpec,
  to: Resource,
  place: Pick<Place, 'table' | 'prefix' | 'path'>,
): Reference => {
  const key = to.key.map((name) => place.prefix + (bare ? name.replace(/^urn_/, '') : name));
  const reference = referenceIn({ ...place, key, isElement: false, isOfType: (type) => resourceOf(type) === to });
  // Columns of another object can begin with the same words.
  return bare ? { ...reference, columns: key } : reference;
};

/** A reference without what follows from the columns of its table. */
interface Place extends Omit<Reference, 'columns' | 'names'> {
  readonly prefix: string;
}

function referenceIn({ prefix, ...reference }: Place): Reference {
  const columns = reference.table.columns.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  const ofNames = NAME_FIELDS.flatMap((field) => [`${prefix}${field}`, `${prefix}${field}_value`]);
  const isKey = (name: string): boolean => reference.key.includes(name);
  return { ...reference, columns, names: columns.filter((name) => ofNames.includes(name) && !isKey(name)) };
}

function tableNamed(name: string): Reference['table'] {
  const table = rootTables.flatMap((it) => [it, ...it.children]).find((it) => it.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  return table;
}
