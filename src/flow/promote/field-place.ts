/** Where a field of an answer is, or would be, in the tables: pure, from the declarations. */
import { catalog } from '../../service/catalog.ts';
import type { Field, Fields, PersonalData, Resource } from '../../service/model.ts';
import { resourcesOf } from '../../warehouse/schema/resources.ts';
import { childTableName, tableNamed } from '../../warehouse/schema/tables.ts';
import type { Table } from '../../warehouse/schema/table-types.ts';

/** A table that keeps unknown fields in `extra`, and the declaration of its rows. */
export interface FieldTable {
  readonly table: Table;
  readonly resource: Resource;
  /** The fields from the resource down to the list whose elements are the rows; empty for the resource itself. */
  readonly list: readonly string[];
  readonly fields: Fields;
}

/** A field that is not declared: its table, and its names below the row. */
export interface FieldPlace {
  readonly at: FieldTable;
  readonly path: readonly string[];
}

const resources = resourcesOf(catalog);

/** Every table with a column `extra`. */
export const fieldTables: readonly FieldTable[] = resources.flatMap((resource) => [
  { table: declaredTable(resource.table), resource, list: [], fields: resource.fields },
  ...listsIn(resource, resource.fields, []),
]);

function listsIn(resource: Resource, fields: Fields, outer: readonly string[]): FieldTable[] {
  return Object.entries(fields).flatMap(([name, field]): FieldTable[] => {
    const list = [...outer, name];
    if (field.shape === 'object') return listsIn(resource, field.fields, list);
    if (field.shape !== 'list' || field.element.of !== 'object') return [];
    return [
      {
        table: declaredTable(childTableName(resource, list, field.named)),
        resource,
        list,
        fields: field.element.fields,
      },
    ];
  });
}

function declaredTable(name: string): Table {
  const table = tableNamed(name);
  if (!table) throw new Error(`no table is named ${name}`);
  return table;
}

/**
 * The place of an unknown field by its path in the answers for a resource; undefined if it is declared, or if no table
 * has it.
 */
export function placeInAnswer(resourceName: string, path: readonly string[]): FieldPlace | undefined {
  const found = findInAnswer(resourceName, path);
  return found === 'declared' ? undefined : found;
}

/** True if the path in the answers for a resource ends at a declared field. */
export const isDeclaredInAnswer = (resourceName: string, path: readonly string[]): boolean =>
  findInAnswer(resourceName, path) === 'declared';

type Found = FieldPlace | 'declared' | undefined;

function findInAnswer(resourceName: string, path: readonly string[]): Found {
  const resource = resources.find(({ name }) => name === resourceName);
  const at = fieldTables.find((it) => it.resource === resource && it.list.length === 0);
  return at && findBelow(at, at.fields, path, [], []);
}

function findBelow(
  at: FieldTable,
  fields: Fields,
  [name, ...rest]: readonly string[],
  inRow: readonly string[],
  inResource: readonly string[],
): Found {
  if (name === undefined) return undefined;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field) return rest.length === 0 ? { at, path: [...inRow, name] } : undefined;
  if (rest.length === 0) return 'declared';
  const list = [...inResource, name];
  if (field.shape === 'object') return findBelow(at, field.fields, rest, [...inRow, name], list);
  const next = fieldTables.find((it) =>
    field.shape === 'list'
      ? it.resource === at.resource && it.list.join('.') === list.join('.')
      : (field.shape === 'nested' || field.shape === 'nested-list') &&
        it.resource === field.resource() &&
        it.list.length === 0,
  );
  return next && findBelow(next, next.fields, rest, [], []);
}

/** What the declaration has at a path: the field where the path ends, or where it cannot continue. */
export function declaredAt(
  fields: Fields,
  [name, ...rest]: readonly string[],
  outer: readonly string[] = [],
): { readonly field: Field; readonly path: readonly string[]; readonly isEnd: boolean } | undefined {
  const field = name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field || name === undefined) return undefined;
  const path = [...outer, name];
  if (rest.length === 0) return { field, path, isEnd: true };
  return field.shape === 'object' ? declaredAt(field.fields, rest, path) : { field, path, isEnd: false };
}

/** How the objects around a field concern a person: their fields inherit it. */
export function personalAround(fields: Fields, [name, ...rest]: readonly string[]): PersonalData | undefined {
  const field = name === undefined ? undefined : fields[name];
  if (field?.shape !== 'object') return undefined;
  return personalAround(field.fields, rest) ?? field.personal;
}

/** True if rows of the table describe people: then an unknown field may be personal data. */
export const describesPeople = ({ columns }: Table): boolean => columns.some(({ personal }) => personal !== undefined);
