/**
 * Folds declared fields into readers of wire objects. A reader fills a row's cells and lists and returns the residue:
 * what found no place. Each reader is made once per declaration, so an item costs no walk over the declarations.
 */
import type {
  ListElement,
  Field,
  Fields,
  ObjectField,
  RequestValueField,
  ListField,
  NestedField,
  NestedListField,
  ScalarField,
} from '../service/model.ts';
import { isTombstone } from '../service/names/forgotten.ts';
import { canonicalJson } from '../service/canonical-json.ts';
import { countColumn } from '../warehouse/schema/tables.ts';
import type { Cell, ChildRow } from './batch.ts';
import { coerceCell, coerceEpoch } from './coerce.ts';
import { isKey } from './key.ts';
import { type RowBuilder, isObject, type UnmappedFields, type JsonObject } from './scope.ts';
import { referenceReader, observeEntity } from './observe-entity.ts';

type Reader = (wire: JsonObject, draft: RowBuilder) => UnmappedFields | undefined;
/** Reads one field's value and returns what of it found no place; undefined when all did. */
type FieldReader = (value: unknown, draft: RowBuilder) => unknown;

/** The child table of a list, by its path below the resource. */
export type ChildTableOf = (path: readonly string[], named: string | undefined) => string;

/** A reader of the objects made of these fields. */
export function readerOf(
  fields: Fields,
  tag: string | undefined,
  childTableOf: ChildTableOf,
  prefix = '',
  path: readonly string[] = [],
): Reader {
  const readers = Object.entries(fields).map(([name, field]) => ({
    name,
    // Every object has those, whatever was sent.
    isInherited: name in Object.prototype,
    read: fieldReader(field, prefix + name, [...path, name], childTableOf),
  }));
  const known = new Set(Object.entries(fields).flatMap(([name, { shape }]) => (shape === 'given' ? [] : [name])));
  return (wire, draft) => {
    // Hardly any object leaves something over.
    let residue: [string, unknown][] | undefined;
    for (const { name, isInherited, read } of readers) {
      const left = read(isInherited && !Object.hasOwn(wire, name) ? undefined : wire[name], draft);
      if (left !== undefined) (residue ??= []).push([name, left]);
    }
    for (const name of Object.keys(wire)) {
      if (known.has(name)) continue;
      const value = wire[name];
      if (name === '@type') {
        if (value === tag) continue;
        if (tag !== undefined) draft.scope.drift(at(draft, path, name), 'other @type', value);
      } else draft.scope.drift(at(draft, path, name), 'unknown field', value);
      (residue ??= []).push([name, value]);
    }
    return residue && Object.fromEntries(residue);
  };
}

const at = (draft: RowBuilder, path: readonly string[], name?: string): string =>
  [draft.path, ...path, name].filter((part) => part !== undefined && part !== '').join('.');

function fieldReader(field: Field, name: string, path: readonly string[], childTableOf: ChildTableOf): FieldReader {
  switch (field.shape) {
    case 'scalar':
      return scalarReader(field, name, path);
    case 'given':
      return givenReader(field, name);
    case 'object':
      return objectReader(field, name, path, childTableOf);
    case 'list':
      return listReader(field, name, path, childTableOf(path, field.named));
    case 'nested':
      return nestedReader(field, name, path);
    case 'nested-list':
      return nestedListReader(field, name, path);
  }
}

const switchedOff = (field: Exclude<Field, RequestValueField>, draft: RowBuilder): boolean =>
  field.switchedBy.length > 0 && !field.switchedBy.some((name) => draft.scope.source.request[name] === true);

/** Null leaves nothing behind, unless the contract says that it can't be. */
function absent(
  field: Exclude<Field, RequestValueField>,
  value: unknown,
  draft: RowBuilder,
  path: readonly string[],
): unknown {
  if (!field.required || !draft.full) return undefined;
  draft.scope.drift(at(draft, path), value === null ? 'wrong type' : 'missing', value);
  return value === null ? null : undefined;
}

function misfit(value: unknown, draft: RowBuilder, path: readonly string[]): unknown {
  draft.scope.drift(at(draft, path), 'wrong type', value);
  return value;
}

function scalarReader(field: ScalarField, name: string, path: readonly string[]): FieldReader {
  const { kind } = field;
  const put =
    kind === 'epoch'
      ? (draft: RowBuilder, value: unknown): boolean | undefined => {
          const fitted = coerceEpoch(value);
          if (!fitted) return undefined;
          draft.cells[name] = fitted.at;
          draft.cells[`${name}_epoch`] = fitted.sent.cell;
          return fitted.sent.coerced;
        }
      : (draft: RowBuilder, value: unknown): boolean | undefined => {
          const fitted = coerceCell(kind, value);
          if (!fitted) return undefined;
          draft.cells[name] = fitted.cell;
          return fitted.coerced;
        };
  const columns = kind === 'epoch' ? [name, `${name}_epoch`] : [name];
  const tellNull = (draft: RowBuilder): void => {
    if (draft.full) for (const column of columns) draft.cells[column] = null;
  };
  return (value, draft) => {
    if (value === undefined || value === null) {
      if (switchedOff(field, draft)) return undefined;
      tellNull(draft);
      if (value === undefined && draft.full && field.fallback !== undefined) {
        put(draft, field.fallback);
        return undefined;
      }
      return absent(field, value, draft, path);
    }
    const coerced = put(draft, value);
    if (coerced === undefined) {
      tellNull(draft);
      return misfit(value, draft, path);
    }
    if (coerced) draft.scope.drift(at(draft, path), 'wrong type', value);
    return undefined;
  };
}

function givenReader(field: RequestValueField, name: string): FieldReader {
  return (_, draft) => {
    const value = field.from(draft.scope.source, draft.scope.position);
    const kind = field.kind === 'epoch' ? 'integer' : field.kind;
    draft.cells[name] = value === undefined || value === null ? null : (coerceCell(kind, value)?.cell ?? null);
    return undefined;
  };
}

function objectReader(
  field: ObjectField,
  name: string,
  path: readonly string[],
  childTableOf: ChildTableOf,
): FieldReader {
  const read = readerOf(field.fields, field.tag, childTableOf, `${name}_`, path);
  const readReference = referenceReader(field, name);
  const columns = scalarNames(field.fields, `${name}_`);
  const tellNull = (draft: RowBuilder): void => {
    if (draft.full) for (const column of columns) draft.cells[column] = null;
  };
  return (value, draft) => {
    if (value === undefined || value === null) {
      if (switchedOff(field, draft)) return undefined;
      tellNull(draft);
      return absent(field, value, draft, path);
    }
    if (!isObject(value)) {
      tellNull(draft);
      return misfit(value, draft, path);
    }
    if (Object.keys(value).length === 0) {
      tellNull(draft);
      return undefined;
    }
    if (field.observation) observeEntity(field.observation, field.fields, value, draft);
    const left = read(value, draft);
    const unreferred = readReference(value, draft);
    if (unreferred) draft.scope.drift(at(draft, path), 'wrong type', value);
    return unreferred ? { ...left, ...unreferred } : left;
  };
}

/** Columns that an object's absence makes null; lists inside it are not told. */
function scalarNames(fields: Fields, prefix: string): string[] {
  return Object.entries(fields).flatMap(([name, field]) => scalarNamesOf(field, prefix + name));
}

function scalarNamesOf(field: Field, name: string): string[] {
  switch (field.shape) {
    case 'scalar':
      return field.kind === 'epoch' ? [name, `${name}_epoch`] : [name];
    case 'object':
      return scalarNames(field.fields, `${name}_`);
    case 'nested':
      return field.resource().key.map((key) => `${name}_${key}`);
    case 'list':
    case 'nested-list':
    case 'given':
      return [];
  }
}

function listReader(field: ListField, name: string, path: readonly string[], table: string): FieldReader {
  const readElement = elementReader(field.element, path);
  return (value, draft) => {
    if (value === undefined || value === null) return absent(field, value, draft, path);
    if (!Array.isArray(value)) return misfit(value, draft, path);
    if (value.length === 0 && switchedOff(field, draft)) return undefined;
    const residue: [string, unknown][] = [];
    const rows: ChildRow[] = [];
    value.forEach((element: unknown, position) => {
      if (isTombstone(element)) return;
      const { row, left } = readElement(element, position, draft);
      if (row) rows.push(row);
      if (left !== undefined) residue.push([String(position), left]);
    });
    draft.lists[table] = rows;
    draft.cells[countColumn(name)] = value.length;
    return residue.length > 0 ? Object.fromEntries(residue) : undefined;
  };
}

/** An element's row, what of it found no place, or both. */
type ElementReader = (
  element: unknown,
  position: number,
  draft: RowBuilder,
) => { readonly row?: ChildRow; readonly left?: unknown };

function elementReader(element: ListElement, path: readonly string[]): ElementReader {
  switch (element.of) {
    case 'scalar':
      return (value, position, draft) => {
        if (value === null) return { row: [position, null] };
        const fitted = coerceCell('text', value);
        if (fitted?.coerced !== false) draft.scope.drift(at(draft, path), 'wrong type', value);
        return fitted ? { row: [position, fitted.cell] } : { row: [position, null], left: value };
      };
    case 'json':
      return (value, position) => ({ row: [position, canonicalJson(value)] });
    case 'object':
      return objectElementReader(element, path);
  }
}

function objectElementReader(element: Extract<ListElement, { of: 'object' }>, path: readonly string[]): ElementReader {
  // Assumed: no list of objects holds lists of its own; the contract shows none.
  const read = readerOf(element.fields, element.tag, () => '', '', []);
  const columns = scalarNames(element.fields, '');
  const derived = Object.entries(element.derived ?? {});
  return (value, position, draft) => {
    if (!isObject(value)) {
      draft.scope.drift(at(draft, path), 'wrong type', value);
      return { left: value };
    }
    const cells: Record<string, Cell> = {};
    const left = read(value, { cells, lists: {}, full: true, path: at(draft, path), scope: draft.scope });
    if (element.key.some((key) => !isKey(cells[key]))) return { left: value };
    if (element.observation) observeEntity(element.observation, element.fields, value, draft);
    const own = columns.map((column) => cells[column] ?? null);
    const more = derived.map(([, { from }]) => from(cells));
    const extra = left === undefined ? null : canonicalJson(left);
    return { row: [...(element.key.length > 0 ? [] : [position]), ...own, ...more, extra] };
  };
}

function nestedReader(field: NestedField, name: string, path: readonly string[]): FieldReader {
  const columns = field.resource().key.map((key) => [key, `${name}_${key}`] as const);
  return (value, draft) => {
    const key =
      value === undefined || value === null ? undefined : draft.scope.addNested(field.resource(), value, name, 0);
    if (key) for (const [from, to] of columns) draft.cells[to] = key[from] ?? null;
    else if (draft.full) for (const [, to] of columns) draft.cells[to] = null;
    if (key || value === undefined || value === null || isTombstone(value)) return undefined;
    return isObject(value) ? value : misfit(value, draft, path);
  };
}

function nestedListReader(field: NestedListField, name: string, path: readonly string[]): FieldReader {
  return (value, draft) => {
    if (value === undefined || value === null) return absent(field, value, draft, path);
    if (!Array.isArray(value)) return misfit(value, draft, path);
    if (value.length === 0 && switchedOff(field, draft)) return undefined;
    draft.cells[countColumn(name)] = value.length;
    const residue = value.flatMap((inner: unknown, position): [string, unknown][] =>
      draft.scope.addNested(field.resource(), inner, name, position) || isTombstone(inner)
        ? []
        : [[String(position), inner]],
    );
    return residue.length > 0 ? Object.fromEntries(residue) : undefined;
  };
}
