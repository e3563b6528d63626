/** Differences of an answer from the contract: missing values, wrong types and unknown fields. */
import type { Field, RequestValueField } from '../service/model.ts';
import type { Drift, DriftKind } from './batch.ts';
import type { RowBuilder } from './scope.ts';

/** The path of a field below the item, for drift. */
export const pathOf = ({ path: outer }: RowBuilder, path: readonly string[]): string =>
  outer === '' ? path.join('.') : [outer, ...path].join('.');

type SentField = Exclude<Field, RequestValueField>;

/** True if the request did not ask for this field, so that its absence means nothing. */
export const switchedOff = (field: SentField, builder: RowBuilder): boolean =>
  field.switchedBy.length > 0 && !field.switchedBy.some((name) => builder.scope.source.request[name] === true);

/** Handles a missing or null value: nothing is unmapped, except a null that the contract forbids. */
export function missing(field: SentField, value: unknown, builder: RowBuilder, path: readonly string[]): unknown {
  if (!field.required || !builder.full) return undefined;
  builder.scope.drift(pathOf(builder, path), value === null ? 'wrong type' : 'missing', value);
  return value === null ? null : undefined;
}

/** Counts a value of a wrong type, and returns it as unmapped. */
export function mismatch(value: unknown, builder: RowBuilder, path: readonly string[]): unknown {
  builder.scope.drift(pathOf(builder, path), 'wrong type', value);
  return value;
}

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
