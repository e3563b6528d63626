/** The columns of other tables that refer to an entity, derived from the declared fields. */
import { catalog } from '../../service/catalog.ts';
import type { ListElement, Fields, ObservationSpec, Resource } from '../../service/model.ts';
import { resourcesOf } from '../../warehouse/schema/resources.ts';
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
          referenceIn(
            tableNamed(from.table),
            under,
            to.key.map((key) => under + key),
            [...path, name],
            false,
          ),
        );
      if (field.shape === 'object') {
        const inner = [...path, name];
        if (observes(field.observation, to))
          found.push(referenceIn(tableNamed(from.table), under, keyUnder(field.observation, under, to), inner, false));
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
    ? [referenceIn(table, '', keyUnder(element.observation, '', to), [], true)]
    : [];
  const inner = Object.entries(element.fields).flatMap(([name, field]) => {
    if (field.shape !== 'object' || !observes(field.observation, to)) return [];
    const key = keyUnder(field.observation, `${name}_`, to);
    return [
      referenceIn(
        table,
        `${name}_`,
        key,
        [name],
        key.every((column) => element.key.includes(column)),
      ),
    ];
  });
  return [...own, ...inner];
}

const observes = (observation: ObservationSpec | undefined, to: Resource): boolean =>
  observation?.resources().includes(to) === true;

const keyUnder = (observation: ObservationSpec | undefined, prefix: string, to: Resource): string[] =>
  to.key.map((key) => prefix + (observation?.bare ? key.replace(/^urn_/, '') : key));

function referenceIn(
  table: Reference['table'],
  prefix: string,
  key: readonly string[],
  path: readonly string[],
  isElement: boolean,
): Reference {
  const names = table.columns.map(({ name }) => name);
  return { table, key, columns: names.filter((name) => name.startsWith(prefix)), path, isElement };
}

function tableNamed(name: string): Reference['table'] {
  const table = rootTables.flatMap((it) => [it, ...it.children]).find((it) => it.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  return table;
}
