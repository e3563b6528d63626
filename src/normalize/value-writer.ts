/** Puts values into the columns of a row. */
import type { Kind } from '../service/model.ts';
import { coerceCell, coerceEpoch } from './coerce.ts';
import type { RowBuilder, RowTarget } from './scope.ts';

/** Puts a value into its column. Returns whether it was sent with another type; undefined if it does not fit. */
export type ValueWriter = (builder: RowBuilder, value: unknown) => boolean | undefined;

/** Writes the only column of a field. */
export function cellWriter(kind: Exclude<Kind, 'epoch'>, name: string, { slotOf }: RowTarget): ValueWriter {
  const slot = slotOf(name);
  if (slot === undefined) return () => false;
  return ({ values }, value) => {
    // Most values are texts of text columns, and then nothing is converted.
    if (kind === 'text' && typeof value === 'string') {
      values[slot] = value;
      return false;
    }
    const fitted = coerceCell(kind, value);
    if (fitted) values[slot] = fitted.cell;
    return fitted?.coerced;
  };
}

/** Writes both columns of an integer instant. */
export function epochWriter(name: string, { slotOf }: RowTarget): ValueWriter {
  const slot = slotOf(name);
  const sentSlot = slotOf(`${name}_epoch`);
  if (slot === undefined || sentSlot === undefined) return () => false;
  return ({ values }, value) => {
    const fitted = coerceEpoch(value);
    if (!fitted) return undefined;
    values[slot] = fitted.at;
    values[sentSlot] = fitted.sent.cell;
    return fitted.sent.coerced;
  };
}

/** Sets the columns to null in the row of a full answer; a lesser one leaves them as they are. */
export function nullSetter(columns: readonly string[], { slotOf }: RowTarget): (builder: RowBuilder) => void {
  const slots = slotsOf(columns, slotOf);
  return (builder) => {
    if (builder.full) for (const slot of slots) builder.values[slot] = null;
  };
}

/** The slots of these columns, without those that have none. */
export const slotsOf = (columns: readonly string[], slotOf: RowTarget['slotOf']): readonly number[] =>
  columns.map(slotOf).filter((slot) => slot !== undefined);
