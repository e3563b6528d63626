/**
 * Converts declared fields to readers of JSON objects. A reader fills the cells and lists of a row and returns the
 * unmapped fields. Readers are created once per declaration, so reading an item does not evaluate declarations again.
 */
import { scalarNames } from './scalar-names.ts';
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
import { type Cell, type ChildRow, isKey } from './batch.ts';
import { coerceCell, coerceEpoch } from './coerce.ts';
import { type RowBuilder, isObject, type UnmappedFields, type JsonObject } from './scope.ts';
import { referenceReader, observeEntity } from './observe-entity.ts';

type Reader = (wire: JsonObject, builder: RowBuilder) => UnmappedFields | undefined;
/** Reads the value of one field and returns its unmapped part; undefined if there is none. */
type FieldReader = (value: unknown, builder: RowBuilder) => unknown;

/** The name of a list's child table, by its path below the resource. */
export type ChildTableOf = (path: readonly string[], named: string | undefined) => string;

/** A reader of objects with these fields. */
export function readerOf(
  fields: Fields,
  tag: string | undefined,
  childTableOf: ChildTableOf,
  prefix = '',
  path: readonly string[] = [],
): Reader {
  const readers = Object.entries(fields).map(([name, field]) => ({
    name,
    // Every object inherits these names, so only own properties count.
    isInherited: name in Object.prototype,
    read: fieldReader(field, prefix + name, [...path, name], childTableOf),
  }));
  const known = new Set(Object.entries(fields).flatMap(([name, { shape }]) => (shape === 'given' ? [] : [name])));
  return (wire, builder) => {
    // Few objects have unmapped fields, so the array is created when needed.
    let unmapped: [string, unknown][] | undefined;
    for (const { name, isInherited, read } of readers) {
      const rest = read(isInherited && !Object.hasOwn(wire, name) ? undefined : wire[name], builder);
      if (rest !== undefined) (unmapped ??= []).push([name, rest]);
    }
    for (const name of Object.keys(wire)) {
      if (known.has(name)) continue;
      const value = wire[name];
      if (name === '@type') {
        if (value === tag) continue;
        if (tag !== undefined) builder.scope.drift(pathOf(builder, path, name), 'other @type', value);
      } else builder.scope.drift(pathOf(builder, path, name), 'unknown field', value);
      (unmapped ??= []).push([name, value]);
    }
    return unmapped && Object.fromEntries(unmapped);
  };
}

const pathOf = (builder: RowBuilder, path: readonly string[], name?: string): string =>
  [builder.path, ...path, name].filter((part) => part !== undefined && part !== '').join('.');

function fieldReader(field: Field, name: string, path: readonly string[], childTableOf: ChildTableOf): FieldReader {
  switch (field.shape) {
    case 'scalar':
      return scalarReader(field, name, path);
    case 'given':
      return requestValueReader(field, name);
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

const switchedOff = (field: Exclude<Field, RequestValueField>, builder: RowBuilder): boolean =>
  field.switchedBy.length > 0 && !field.switchedBy.some((name) => builder.scope.source.request[name] === true);

/** Handles a missing or null value: nothing is unmapped, except a null that the contract forbids. */
function missing(
  field: Exclude<Field, RequestValueField>,
  value: unknown,
  builder: RowBuilder,
  path: readonly string[],
): unknown {
  if (!field.required || !builder.full) return undefined;
  builder.scope.drift(pathOf(builder, path), value === null ? 'wrong type' : 'missing', value);
  return value === null ? null : undefined;
}

function mismatch(value: unknown, builder: RowBuilder, path: readonly string[]): unknown {
  builder.scope.drift(pathOf(builder, path), 'wrong type', value);
  return value;
}

function scalarReader(field: ScalarField, name: string, path: readonly string[]): FieldReader {
  const { kind } = field;
  const put =
    kind === 'epoch'
      ? (builder: RowBuilder, value: unknown): boolean | undefined => {
          const fitted = coerceEpoch(value);
          if (!fitted) return undefined;
          builder.cells[name] = fitted.at;
          builder.cells[`${name}_epoch`] = fitted.sent.cell;
          return fitted.sent.coerced;
        }
      : (builder: RowBuilder, value: unknown): boolean | undefined => {
          const fitted = coerceCell(kind, value);
          if (!fitted) return undefined;
          builder.cells[name] = fitted.cell;
          return fitted.coerced;
        };
  const columns = kind === 'epoch' ? [name, `${name}_epoch`] : [name];
  const setNull = nullSetter(columns);
  return (value, builder) => {
    if (value === undefined || value === null) {
      if (switchedOff(field, builder)) return undefined;
      setNull(builder);
      if (value === undefined && builder.full && field.fallback !== undefined) {
        put(builder, field.fallback);
        return undefined;
      }
      return missing(field, value, builder, path);
    }
    const coerced = put(builder, value);
    if (coerced === undefined) {
      setNull(builder);
      return mismatch(value, builder, path);
    }
    if (coerced) builder.scope.drift(pathOf(builder, path), 'wrong type', value);
    return undefined;
  };
}

/** Sets the columns to null in the row of a full answer; a lesser one leaves them as they are. */
const nullSetter =
  (columns: readonly string[]) =>
  (builder: RowBuilder): void => {
    if (builder.full) for (const column of columns) builder.cells[column] = null;
  };

function requestValueReader(field: RequestValueField, name: string): FieldReader {
  return (_, builder) => {
    const value = field.from(builder.scope.source, builder.scope.position);
    const kind = field.kind === 'epoch' ? 'integer' : field.kind;
    builder.cells[name] = value === undefined || value === null ? null : (coerceCell(kind, value)?.cell ?? null);
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
  const setNull = nullSetter(columns);
  return (value, builder) => {
    if (value === undefined || value === null) {
      if (switchedOff(field, builder)) return undefined;
      setNull(builder);
      return missing(field, value, builder, path);
    }
    if (!isObject(value)) {
      setNull(builder);
      return mismatch(value, builder, path);
    }
    if (Object.keys(value).length === 0) {
      setNull(builder);
      return undefined;
    }
    if (field.observation) observeEntity(field.observation, field.fields, value, builder);
    const unmapped = read(value, builder);
    const invalidReference = readReference(value, builder);
    if (invalidReference) builder.scope.drift(pathOf(builder, path), 'wrong type', value);
    return invalidReference ? { ...unmapped, ...invalidReference } : unmapped;
  };
}

function listReader(field: ListField, name: string, path: readonly string[], table: string): FieldReader {
  const readElement = elementReader(field.element, path);
  return (value, builder) => {
    if (value === undefined || value === null) return missing(field, value, builder, path);
    if (!Array.isArray(value)) return mismatch(value, builder, path);
    if (value.length === 0 && switchedOff(field, builder)) return undefined;
    const unmapped: [string, unknown][] = [];
    const rows: ChildRow[] = [];
    value.forEach((element: unknown, position) => {
      if (isTombstone(element)) return;
      const { row, left } = readElement(element, position, builder);
      if (row) rows.push(row);
      if (left !== undefined) unmapped.push([String(position), left]);
    });
    builder.lists[table] = rows;
    builder.cells[countColumn(name)] = value.length;
    return unmapped.length > 0 ? Object.fromEntries(unmapped) : undefined;
  };
}

/** The row of an element, its unmapped part, or both. */
type ElementReader = (
  element: unknown,
  position: number,
  builder: RowBuilder,
) => { readonly row?: ChildRow; readonly left?: unknown };

function elementReader(element: ListElement, path: readonly string[]): ElementReader {
  switch (element.of) {
    case 'scalar':
      return (value, position, builder) => {
        if (value === null) return { row: [position, null] };
        const fitted = coerceCell('text', value);
        if (fitted?.coerced !== false) builder.scope.drift(pathOf(builder, path), 'wrong type', value);
        return fitted ? { row: [position, fitted.cell] } : { row: [position, null], left: value };
      };
    case 'json':
      return (value, position) => ({ row: [position, canonicalJson(value)] });
    case 'object':
      return objectElementReader(element, path);
  }
}

function objectElementReader(element: Extract<ListElement, { of: 'object' }>, path: readonly string[]): ElementReader {
  // Assumed: lists of objects contain no lists. The contract has none.
  const read = readerOf(element.fields, element.tag, () => '', '', []);
  const columns = scalarNames(element.fields, '');
  const derived = Object.entries(element.derived ?? {});
  return (value, position, builder) => {
    if (!isObject(value)) {
      builder.scope.drift(pathOf(builder, path), 'wrong type', value);
      return { left: value };
    }
    const cells: Record<string, Cell> = {};
    const left = read(value, { cells, lists: {}, full: true, path: pathOf(builder, path), scope: builder.scope });
    if (element.key.some((key) => !isKey(cells[key]))) return { left: value };
    if (element.observation) observeEntity(element.observation, element.fields, value, builder);
    const own = columns.map((column) => cells[column] ?? null);
    const more = derived.map(([, { from }]) => from(cells));
    const extra = left === undefined ? null : canonicalJson(left);
    return { row: [...(element.key.length > 0 ? [] : [position]), ...own, ...more, extra] };
  };
}

function nestedReader(field: NestedField, name: string, path: readonly string[]): FieldReader {
  const columns = field.resource().key.map((key) => [key, `${name}_${key}`] as const);
  const setNull = nullSetter(columns.map(([, column]) => column));
  return (value, builder) => {
    const key =
      value === undefined || value === null ? undefined : builder.scope.addNested(field.resource(), value, name, 0);
    if (key) for (const [from, to] of columns) builder.cells[to] = key[from] ?? null;
    else setNull(builder);
    if (key || value === undefined || value === null || isTombstone(value)) return undefined;
    return isObject(value) ? value : mismatch(value, builder, path);
  };
}

function nestedListReader(field: NestedListField, name: string, path: readonly string[]): FieldReader {
  return (value, builder) => {
    if (value === undefined || value === null) return missing(field, value, builder, path);
    if (!Array.isArray(value)) return mismatch(value, builder, path);
    if (value.length === 0 && switchedOff(field, builder)) return undefined;
    builder.cells[countColumn(name)] = value.length;
    const unmapped = value.flatMap((inner: unknown, position): [string, unknown][] =>
      builder.scope.addNested(field.resource(), inner, name, position) || isTombstone(inner)
        ? []
        : [[String(position), inner]],
    );
    return unmapped.length > 0 ? Object.fromEntries(unmapped) : undefined;
  };
}
