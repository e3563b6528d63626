/** What is gathered while one answer is read: the rows seen, and how it differs from the contract. */
import type { KeyedRequest } from '../service/request-body.ts';
import type { Detail, Fields, Resource } from '../service/model.ts';
import type { Cell, ChildRow, Drift, DriftKind, RootRow } from './batch.ts';

export type JsonObject = Readonly<Record<string, unknown>>;
/** What found no place, in the shape it was sent. */
export type UnmappedFields = Readonly<Record<string, unknown>>;

/** A row being read. */
export interface RowBuilder {
  readonly cells: Record<string, Cell>;
  readonly lists: Record<string, ChildRow[]>;
  /** A full answer tells its nulls; a lesser sighting only what it holds. */
  readonly full: boolean;
  /** Names of the fields above, for drift. */
  readonly path: string;
  readonly scope: Scope;
}

export interface Scope {
  readonly source: KeyedRequest;
  readonly resource: string;
  /** The position of the top-level item. */
  readonly position: number;
  readonly drift: (path: string, kind: DriftKind, found: unknown) => void;
  /** Takes a sighting of an entity with a table of its own. */
  readonly addObservation: (seen: EntityObservation) => void;
  /** Takes an entity nested in the item; its key's cells, or undefined when it has none. */
  readonly addNested: (
    resource: Resource,
    value: unknown,
    via: string,
    place: number,
  ) => Readonly<Record<string, Cell>> | undefined;
}

export interface EntityObservation {
  readonly resource: Resource;
  readonly detail: Detail;
  /** The fields that this place tells of the entity. */
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

/** Names that the service makes up can be of any length, and an answer can hold any number of them. */
const LONGEST_PATH = 200;
const MOST_PATHS = 500;

interface DriftCounter {
  readonly add: (resource: string, path: string, kind: DriftKind, found: unknown) => void;
  readonly all: () => Drift[];
}

/** Sums up differences from the contract, by place and kind; past 500 places the rest counts as one, `*`. */
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

/** Rows by root table, in the order seen. */
export type Roots = Map<string, RootRow[]>;
