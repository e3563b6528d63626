/**
 * Converts declared fields to readers of JSON objects. A reader fills the values and lists of a row and returns the
 * unmapped fields. Readers are created once per declaration, so reading an item does not evaluate declarations again.
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
import { countColumn } from '../warehouse/schema/columns.ts';
import { rootTableOf } from '../warehouse/schema/tables.ts';
import { type Cell, type ChildRow, isKey } from './batch.ts';
import { cellWriter, coerceCell, epochWriter, nullSetter, slotsOf } from './coerce.ts';
import { observeEntity, referenceReader } from './observe-entity.ts';
import { repeatCounter } from './repeated-elements.ts';
import { scalarNames } from './scalar-names.ts';
import { mismatch, missing, pathOf, switchedOff } from './drift.ts';
import { type RowBuilder, type RowTarget, isObject, type UnmappedFields, type JsonObject } from './scope.ts';

export type Reader = (wire: JsonObject, builder: RowBuilder) => UnmappedFields | undefined;

/** Reads the value of one field and returns its unmapped part; undefined if there is none. */
type FieldReader = (value: unknown, builder: RowBuilder) => unknown;

/** A field below a resource. */
interface Place {
  /** The name of its column, or the prefix of its columns. */
  readonly name: string;
  readonly path: readonly string[];
  readonly target: RowTarget;
}

/** A reader of objects with these fields. */
export function readerOf(
  fields: Fields,
  tag: string | undefined,
  target: RowTarget,
  prefix = '',
  path: readonly string[] = [],
): Reader {
  const readers = Object.entries(fields).map(([name, field]) => ({
    name,
    // Every object inherits these names, so only own properties count.
    isInherited: name in Object.prototype,
    isSent: field.shape !== 'given',
    read: fieldReader(field, { name: prefix + name, path: [...path, name], target }),
  }));
  const known = new Set(readers.flatMap(({ name, isSent }) => (isSent ? [name] : [])));
  const readUnknown = unknownReader(known, tag, path);
  return (wire, builder) => {
    // Few objects have unmapped fields, so the array is created when needed.
    let unmapped: [string, unknown][] | undefined;
    let knownCount = tag !== undefined && wire['@type'] === tag ? 1 : 0;
    for (const { name, isInherited, isSent, read } of readers) {
      const value = isInherited && !Object.hasOwn(wire, name) ? undefined : wire[name];
      if (value !== undefined && isSent) knownCount += 1;
      const rest = read(value, builder);
      if (rest !== undefined) (unmapped ??= []).push([name, rest]);
    }
    if (Object.keys(wire).length > knownCount) unmapped = [...(unmapped ?? []), ...readUnknown(wire, builder)];
    return unmapped && Object.fromEntries(unmapped);
  };
}

/** A reader of the fields that are not declared. They have no column, so it returns them. */
function unknownReader(
  known: ReadonlySet<string>,
  tag: string | undefined,
  path: readonly string[],
): (wire: JsonObject, builder: RowBuilder) => [string, unknown][] {
  return (wire, builder) => {
    const unknown = Object.entries(wire).filter(
      ([name, value]) => !known.has(name) && (name !== '@type' || value !== tag),
    );
    for (const [name, value] of unknown) {
      const kind = name === '@type' ? 'other @type' : 'unknown field';
      if (name !== '@type' || tag !== undefined) builder.scope.drift(pathOf(builder, [...path, name]), kind, value);
    }
    return unknown;
  };
}

function fieldReader(field: Field, place: Place): FieldReader {
  switch (field.shape) {
    case 'scalar':
      return scalarReader(field, place);
    case 'given':
      return requestValueReader(field, place);
    case 'object':
      return objectReader(field, place);
    case 'list':
      return listReader(field, place);
    case 'nested':
      return nestedReader(field, place);
    case 'nested-list':
      return nestedListReader(field, place);
  }
}

/** Reads a field that has no column in this row. */
const ignore: FieldReader = () => undefined;

function scalarReader(field: ScalarField, { name, path, target }: Place): FieldReader {
  const write = field.kind === 'epoch' ? epochWriter(name, target) : cellWriter(field.kind, name, target);
  const setNull = nullSetter(field.kind === 'epoch' ? [name, `${name}_epoch`] : [name], target);
  return (value, builder) => {
    if (value === undefined || value === null) {
      if (switchedOff(field, builder)) return undefined;
      setNull(builder);
      if (value === undefined && builder.full && field.fallback !== undefined) {
        write(builder, field.fallback);
        return undefined;
      }
      return missing(field, value, builder, path);
    }
    const wasCoerced = write(builder, value);
    if (wasCoerced === false) return undefined;
    builder.scope.drift(pathOf(builder, path), 'wrong type', value);
    if (wasCoerced === true) return undefined;
    setNull(builder);
    return value;
  };
}

function requestValueReader(field: RequestValueField, { name, target }: Place): FieldReader {
  const slot = target.slotOf(name);
  if (slot === undefined) return ignore;
  const kind = field.kind === 'epoch' ? 'integer' : field.kind;
  return (_, builder) => {
    const value = field.from(builder.scope.source, builder.scope.position);
    builder.values[slot] = value === undefined || value === null ? null : (coerceCell(kind, value)?.cell ?? null);
    return undefined;
  };
}

function objectReader(field: ObjectField, { name, path, target }: Place): FieldReader {
  const prefix = `${name}_`;
  const read = readerOf(field.fields, field.tag, target, prefix, path);
  const readReference = referenceReader(field, prefix, target);
  const observe = field.observation && observeEntity(field.observation, field.fields);
  const setNull = nullSetter(scalarNames(field.fields, prefix), target);
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
    observe?.(value, builder);
    const unmapped = read(value, builder);
    const invalidReference = readReference(value, builder);
    if (invalidReference) builder.scope.drift(pathOf(builder, path), 'wrong type', value);
    return invalidReference ? { ...unmapped, ...invalidReference } : unmapped;
  };
}

function listReader(field: ListField, { name, path, target }: Place): FieldReader {
  const list = target.listIndex(path, field.named);
  const count = target.slotOf(countColumn(name));
  if (list === undefined || count === undefined) return ignore;
  const readElement = elementReader(field.element, path);
  const countRepeats = repeatCounter(field.element);
  return (value, builder) => {
    if (value === undefined || value === null) return missing(field, value, builder, path);
    if (!Array.isArray(value)) return mismatch(value, builder, path);
    if (value.length === 0 && switchedOff(field, builder)) return undefined;
    const rows: ChildRow[] = [];
    const unmapped = unmappedOf(value, (element, position) =>
      isTombstone(element) ? undefined : readElement(element, position, builder, rows),
    );
    builder.lists[list] = rows;
    builder.values[count] = value.length - countRepeats(rows);
    return unmapped;
  };
}

/** Reads each element. Returns the unmapped parts by position; undefined if there are none. */
function unmappedOf(
  elements: readonly unknown[],
  read: (element: unknown, position: number) => unknown,
): UnmappedFields | undefined {
  let unmapped: [string, unknown][] | undefined;
  for (const [position, element] of elements.entries()) {
    const rest = read(element, position);
    if (rest !== undefined) (unmapped ??= []).push([String(position), rest]);
  }
  return unmapped && Object.fromEntries(unmapped);
}

/** Adds the row of an element, if it has one, and returns its unmapped part. */
type ElementReader = (element: unknown, position: number, builder: RowBuilder, rows: ChildRow[]) => unknown;

function elementReader(element: ListElement, path: readonly string[]): ElementReader {
  switch (element.of) {
    case 'scalar':
      return (value, position, builder, rows) => {
        const fitted = value === null ? undefined : coerceCell('text', value);
        rows.push([position, fitted?.cell ?? null]);
        if (value !== null && fitted?.coerced !== false)
          builder.scope.drift(pathOf(builder, path), 'wrong type', value);
        return value === null || fitted ? undefined : value;
      };
    case 'json':
      return (value, position, _, rows) => {
        rows.push([position, canonicalJson(value)]);
      };
    case 'object':
      return objectElementReader(element, path);
  }
}

function objectElementReader(element: Extract<ListElement, { of: 'object' }>, path: readonly string[]): ElementReader {
  const derived = Object.entries(element.derived ?? {});
  const isKeyed = element.key.length > 0;
  const columns = [
    ...(isKeyed ? [] : ['position']),
    ...scalarNames(element.fields, ''),
    ...derived.map(([name]) => name),
    'extra',
  ];
  const empty = columns.map((): Cell => null);
  const slots = new Map(columns.map((name, slot) => [name, slot]));
  const slotOf = (name: string): number | undefined => slots.get(name);
  // Assumed: lists of objects contain no lists. The contract has none.
  const read = readerOf(element.fields, element.tag, { slotOf, listIndex: () => undefined });
  const observe = element.observation && observeEntity(element.observation, element.fields);
  const keySlots = slotsOf(element.key, slotOf);
  return (value, position, builder, rows) => {
    if (!isObject(value)) return mismatch(value, builder, path);
    const row = [...empty];
    if (!isKeyed) row[0] = position;
    const unmapped = read(value, {
      values: row,
      lists: [],
      full: true,
      path: pathOf(builder, path),
      scope: builder.scope,
    });
    if (keySlots.some((slot) => !isKey(row[slot]))) return value;
    observe?.(value, builder);
    for (const [name, { from }] of derived) row[slots.get(name) ?? 0] = from((column) => row[slots.get(column) ?? -1]);
    row[columns.length - 1] = unmapped === undefined ? null : canonicalJson(unmapped);
    rows.push(row);
    return undefined;
  };
}

function nestedReader(field: NestedField, { name, path, target }: Place): FieldReader {
  const resource = field.resource();
  const columns = resource.key.map((key) => `${name}_${key}`);
  const setNull = nullSetter(columns, target);
  const slots = slotsOf(columns, target.slotOf);
  const table = rootTableOf(resource);
  const keySlots = slotsOf(resource.key, (column) => table.slots.get(column));
  return (value, builder) => {
    const nested =
      value === undefined || value === null ? undefined : builder.scope.addNested(resource, value, name, 0);
    if (nested)
      for (const [index, slot] of slots.entries()) builder.values[slot] = nested[keySlots[index] ?? -1] ?? null;
    else setNull(builder);
    if (nested || value === undefined || value === null || isTombstone(value)) return undefined;
    return isObject(value) ? value : mismatch(value, builder, path);
  };
}

function nestedListReader(field: NestedListField, { name, path, target }: Place): FieldReader {
  const count = target.slotOf(countColumn(name));
  if (count === undefined) return ignore;
  return (value, builder) => {
    if (value === undefined || value === null) return missing(field, value, builder, path);
    if (!Array.isArray(value)) return mismatch(value, builder, path);
    if (value.length === 0 && switchedOff(field, builder)) return undefined;
    builder.values[count] = value.length;
    return unmappedOf(value, (inner, position) => {
      if (builder.scope.addNested(field.resource(), inner, name, position) || isTombstone(inner)) return undefined;
      return isObject(inner) ? inner : mismatch(inner, builder, path);
    });
  };
}
