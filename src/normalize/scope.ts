/** What is gathered while one answer is read: the rows seen, and how it differs from the contract. */
import type { Asked } from '../service/asked.ts';
import type { Detail, Fields } from '../service/field.ts';
import type { Resource } from '../service/resource.ts';
import type { Cell, ChildRow, Drift, DriftKind, RootRow } from './batch.ts';

export type Wire = Readonly<Record<string, unknown>>;
/** What found no place, in the shape it was sent. */
export type Residue = Readonly<Record<string, unknown>>;

/** A row being read. */
export interface Draft {
  readonly cells: Record<string, Cell>;
  readonly lists: Record<string, ChildRow[]>;
  /** A full answer tells its nulls; a lesser sighting only what it holds. */
  readonly full: boolean;
  /** Names of the fields above, for drift. */
  readonly path: string;
  readonly scope: Scope;
}

export interface Scope {
  readonly asked: Asked;
  readonly resource: string;
  /** The position of the top-level item. */
  readonly position: number;
  readonly drift: (path: string, kind: DriftKind, found: unknown) => void;
  /** Takes a sighting of an entity with a table of its own. */
  readonly sight: (seen: Seen) => void;
  /** Takes an entity nested in the item; its key's cells, or undefined when it has none. */
  readonly nest: (
    resource: Resource,
    value: unknown,
    via: string,
    place: number,
  ) => Readonly<Record<string, Cell>> | undefined;
}

export interface Seen {
  readonly resource: Resource;
  readonly detail: Detail;
  /** The fields that this place tells of the entity. */
  readonly fields: Fields;
  readonly value: Wire;
}

export const isObject = (value: unknown): value is Wire =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !JSON.isRawJSON(value);

/** The JSON type of a value, as drift reports it. */
export function jsonType(value: unknown): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' && JSON.isRawJSON(value) ? 'number' : typeof value;
}

/** Sums up differences from the contract, by place and kind. */
export function driftCounter(): {
  readonly add: (resource: string, path: string, kind: DriftKind, found: unknown) => void;
  readonly all: () => Drift[];
} {
  const counts = new Map<string, Drift>();
  return {
    add: (resource, path, kind, found) => {
      const id = `${resource}\0${path}\0${kind}`;
      const known = counts.get(id);
      counts.set(id, {
        resource,
        path,
        kind,
        count: (known?.count ?? 0) + 1,
        sampleType: known?.sampleType ?? jsonType(found),
      });
    },
    all: () => [...counts.values()],
  };
}

/** Rows by root table, in the order seen. */
export type Roots = Map<string, RootRow[]>;
