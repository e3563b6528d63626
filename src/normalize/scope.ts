/** The state of reading one answer: the rows so far, and the differences from the contract. */
import type { KeyedRequest } from '../service/request-body.ts';
import type { Detail, Fields, Resource } from '../service/model.ts';
import type { Cell, ChildRow, Drift, DriftKind, RootRow } from './batch.ts';

export type JsonObject = Readonly<Record<string, unknown>>;
/** Fields without a column, as sent. */
export type UnmappedFields = Readonly<Record<string, unknown>>;

/** A row under construction. */
export interface RowBuilder {
  readonly cells: Record<string, Cell>;
  readonly lists: Record<string, ChildRow[]>;
  /** A full answer sets null columns. A preview or reference sets only the values that it has. */
  readonly full: boolean;
  /** The names of the enclosing fields, for drift. */
  readonly path: string;
  readonly scope: Scope;
}

export interface Scope {
  readonly source: KeyedRequest;
  readonly resource: string;
  /** The position of the top-level item. */
  readonly position: number;
  readonly drift: (path: string, kind: DriftKind, found: unknown) => void;
  /** Adds an observation of an entity with its own table. */
  readonly addObservation: (seen: EntityObservation) => void;
  /** Adds an entity nested in the item and returns the cells of its key; undefined if it has no key. */
  readonly addNested: (
    resource: Resource,
    value: unknown,
    via: string,
    position: number,
  ) => Readonly<Record<string, Cell>> | undefined;
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

/** The JSON type of a value, as drift reports it. */
function jsonType(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && JSON.isRawJSON(value) ? 'number' : typeof value;
}

/** Field names that the service invents can have any length and number. */
const LONGEST_PATH = 200;
const MOST_PATHS = 500;

interface DriftCounter {
  readonly add: (resource: string, path: string, kind: DriftKind, found: unknown) => void;
  readonly all: () => Drift[];
}

/** Counts differences from the contract by path and kind. After 500 paths, all further ones count as `*`. */
export function driftCounter(): DriftCounter {
  const counts = new Map<string, Drift>();
  const count = (resource: string, path: string, kind: DriftKind, found: unknown): boolean => {
    const id = `${resource}\0${path}\0${kind}`;
    const known = counts.get(id);
    if (!known && counts.size >= MOST_PATHS && path !== '*') return false;
    counts.set(id, {
      resource,
      path,
      kind,
      count: (known?.count ?? 0) + 1,
      sampleType: known?.sampleType ?? jsonType(found),
    });
    return true;
  };
  return {
    add: (resource, path, kind, found) => {
      if (!count(resource, path.slice(0, LONGEST_PATH).toWellFormed(), kind, found)) count(resource, '*', kind, found);
    },
    all: () => [...counts.values()],
  };
}

/** Rows by root table, in the order of the answer. */
export type Roots = Map<string, RootRow[]>;
