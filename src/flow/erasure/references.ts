/** Where rows of other tables hold something of an entity: a fold over the declared fields. */
import { catalog } from '../../service/catalog.ts';
import type { ListElement, Fields, ObservationSpec, Resource } from '../../service/model.ts';
import { resourcesOf } from '../../warehouse/schema/resources.ts';
import { childTableName, tables } from '../../warehouse/schema/tables.ts';
import type { RootTable, Table } from '../../warehouse/schema/table-types.ts';

/** Columns of a table that are about an entity of another. */
export interface Reference {
  readonly table: Table;
  /** The columns that name the entity, in the order of its key. */
  readonly key: readonly string[];
  /** All that is told of it there, the key among them. */
  readonly columns: readonly string[];
  /** The row is nothing but an element about the entity. */
  readonly isElement: boolean;
}

/** Every place in the root and child tables that refers to entities of this one. */
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
            false,
          ),
        );
      if (field.shape === 'object') {
        if (sees(field.observation, to))
          found.push(referenceIn(tableNamed(from.table), under, keyUnder(field.observation, under, to), false));
        visit(field.fields, under, [...path, name]);
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

function elementReferences(table: Table, element: Extract<ListElement, { of: 'object' }>, to: Resource): Reference[] {
  const own = sees(element.observation, to)
    ? [referenceIn(table, '', keyUnder(element.observation, '', to), true)]
    : [];
  const inner = Object.entries(element.fields).flatMap(([name, field]) => {
    if (field.shape !== 'object' || !sees(field.observation, to)) return [];
    const key = keyUnder(field.observation, `${name}_`, to);
    return [
      referenceIn(
        table,
        `${name}_`,
        key,
        key.every((column) => element.key.includes(column)),
      ),
    ];
  });
  return [...own, ...inner];
}

const sees = (sighting: ObservationSpec | undefined, to: Resource): boolean =>
  sighting !== undefined && [sighting.resourceOf(''), sighting.resourceOf('company')].includes(to);

const keyUnder = (sighting: ObservationSpec | undefined, prefix: string, to: Resource): string[] =>
  to.key.map((key) => prefix + (sighting?.bare ? key.replace(/^urn_/, '') : key));

function referenceIn(table: Table, prefix: string, key: readonly string[], isElement: boolean): Reference {
  const names = table.columns.map(({ name }) => name);
  return { table, key, columns: names.filter((name) => name.startsWith(prefix)), isElement };
}

function tableNamed(name: string): Table {
  const table = tables.find((it) => it.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  return table;
}
