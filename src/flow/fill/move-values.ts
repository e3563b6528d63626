/** The fields that can be filled, and how the values of their columns move out of `extra`; pure. */
import type { Cell } from '../../normalize/batch.ts';
import { coerceCell, coerceEpoch } from '../../normalize/coerce.ts';
import { isObject, withoutPath } from '../../normalize/scope.ts';
import { canonicalJson } from '../../service/canonical-json.ts';
import { parseExact } from '../../service/exact-json.ts';
import type { Kind, Fields } from '../../service/model.ts';
import { memoize } from '../../async/memoize.ts';
import { scalarColumns } from '../../warehouse/schema/columns.ts';
import { fieldTables } from '../promote/field-place.ts';

/** A scalar field of a table. */
export interface FillableField {
  /** The names from the item, or from the element of the list, down to the field. */
  readonly path: readonly string[];
  readonly kind: Kind;
  /** One column; two for an epoch. */
  readonly columns: readonly string[];
}

/** The scalar fields of each table that keeps unknown fields in `extra`, by the name of the table. */
export const fillableFields: () => ReadonlyMap<string, readonly FillableField[]> = memoize(
  () => new Map(fieldTables.map(({ table, fields }) => [table.name, scalarsIn(fields, [])])),
);

function scalarsIn(fields: Fields, outer: readonly string[]): FillableField[] {
  return Object.entries(fields).flatMap(([name, field]): FillableField[] => {
    const path = [...outer, name];
    if (field.shape === 'object') return scalarsIn(field.fields, path);
    if (field.shape !== 'scalar') return [];
    const columns = scalarColumns(path.join('_'), field.kind, '', {}).map((it) => it.name);
    return [{ path, kind: field.kind, columns }];
  });
}

/** The cells that differ, by column, with `extra` among them. */
export type MovedCells = Readonly<Record<string, Cell>>;

/**
 * The cells that the normalizer would have made of the fields in `extra`; undefined if nothing moves. A value that does
 * not fit its column stays, and so does one whose column has a value.
 */
export function moveValues(fields: readonly FillableField[], cellOf: (column: string) => Cell): MovedCells | undefined {
  const text = cellOf('extra');
  if (typeof text !== 'string') return undefined;
  let extra: unknown = parseExact(text);
  const moved: Record<string, Cell> = {};
  let isMoved = false;
  for (const { path, kind, columns } of fields) {
    const value = valueAt(extra, path);
    if (value === undefined || columns.some((column) => cellOf(column) !== null)) continue;
    const cells = cellsOf(kind, value);
    if (!cells) continue;
    for (const [index, column] of columns.entries()) moved[column] = cells[index] ?? null;
    extra = withoutPath(extra, path);
    isMoved = true;
  }
  if (!isMoved) return undefined;
  return { ...moved, extra: extra === undefined ? null : canonicalJson(extra) };
}

/** The cells of a value, one for each column; undefined if it does not fit. Null means that there is no value. */
function cellsOf(kind: Kind, value: unknown): readonly Cell[] | undefined {
  if (value === null) return [];
  if (kind === 'epoch') {
    const epoch = coerceEpoch(value);
    return epoch && [epoch.at, epoch.sent.cell];
  }
  const coerced = coerceCell(kind, value);
  return coerced && [coerced.cell];
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  return isObject(value) && Object.hasOwn(value, name) ? valueAt(value[name], rest) : undefined;
}
