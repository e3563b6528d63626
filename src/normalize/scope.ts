/** The state of reading one answer. */
import type { KeyedRequest } from '../service/request-body.ts';
import type { Detail, Fields, Resource } from '../service/model.ts';
import type { Cell, ChildRow, DriftKind, RootRow, Values } from './batch.ts';

export type JsonObject = Readonly<Record<string, unknown>>;
/** Fields without a column, as sent. */
export type UnmappedFields = Readonly<Record<string, unknown>>;

/** Where a reader puts values and lists. It skips columns and lists without a place. */
export interface RowTarget {
  readonly slotOf: (column: string) => number | undefined;
  /** The index of a list, by its path below the resource. */
  readonly listIndex: (path: readonly string[], named: string | undefined) => number | undefined;
}

/** A row under construction. */
export interface RowBuilder {
  readonly values: (Cell | undefined)[];
  readonly lists: (readonly ChildRow[] | undefined)[];
  /** A full answer sets null columns. A preview or reference sets only the values that it has. */
  readonly full: boolean;
  /** The names of the enclosing fields, for drift. */
  readonly path: string;
  readonly scope: Scope;
}

export interface Scope {
  readonly source: KeyedRequest;
  /** The position of the top-level item. */
  readonly position: number;
  readonly drift: (path: string, kind: DriftKind, found: unknown) => void;
  /** Adds an observation of an entity with its own table. */
  readonly addObservation: (seen: EntityObservation) => void;
  /** Adds an entity nested in the item and returns the values of its row; undefined if it has no key. */
  readonly addNested: (resource: Resource, value: unknown, via: string, position: number) => Values | undefined;
}

export interface EntityObservation {
  readonly resource: Resource;
  readonly detail: Detail;
  /** The fields of the entity that the observing object contains. */
  readonly fields: Fields;
  readonly value: JsonObject;
}

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !JSON.isRawJSON(value);

/** The source text of a number, exact beyond 2^53; undefined for any other value. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/**
 * The value without what is at this path, and without objects that are empty then. The identical value if there is nothing
 * at the path; undefined if nothing is left.
 */
export function withoutPath(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return undefined;
  if (!isObject(value) || !Object.hasOwn(value, first)) return value;
  const inner = withoutPath(value[first], rest);
  if (inner === value[first]) return value;
  const entries = Object.entries(value)
    .map(([name, it]) => [name, name === first ? inner : it] as const)
    .filter(([name]) => name !== first || inner !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Rows by root table, in the order of the answer. */
export type Roots = Map<string, RootRow[]>;
