/** Converts values to cells, if they fit, and writes them into the columns of a row. */
import type { Kind } from '../service/model.ts';
import { canonicalJson } from '../service/canonical-json.ts';
import { onCalendar } from '../day.ts';
import { instantText, microsOf, millisecondText } from '../service/instant.ts';
import type { Cell } from './batch.ts';
import { numberText, type RowBuilder, type RowTarget } from './scope.ts';

/** A cell with the complete value. `coerced` is true if the service sent another JSON type than the contract's. */
export interface CoercedCell {
  readonly cell: Cell;
  readonly coerced: boolean;
}

const asSent = (cell: Cell): CoercedCell => ({ cell, coerced: false });
const coerced = (cell: Cell): CoercedCell => ({ cell, coerced: true });

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const INT8_MAX = 9_223_372_036_854_775_807n;
const INT8_MIN = -INT8_MAX - 1n;

/** The cell of a value other than null; undefined if it does not fit the column and goes to `extra`. */
export function coerceCell(kind: Exclude<Kind, 'epoch'>, value: unknown): CoercedCell | undefined {
  switch (kind) {
    case 'text':
      return coerceText(value);
    case 'integer':
      return coerceInteger(value);
    case 'number':
      return coerceNumber(value);
    case 'flag':
      return typeof value === 'boolean' ? asSent(value) : undefined;
    case 'moment':
      return coerceMoment(value);
    case 'day':
      return typeof value === 'string' && isDay(value) ? asSent(value) : undefined;
    case 'uuid':
      return typeof value === 'string' && UUID.test(value) ? asSent(value.toLowerCase()) : undefined;
    case 'json':
      return asSent(canonicalJson(value));
  }
}

const coerceText = (value: unknown): CoercedCell | undefined =>
  typeof value === 'string' ? asSent(value) : mapped(numberText(value), coerced);

const coerceMoment = (value: unknown): CoercedCell | undefined =>
  typeof value === 'string' ? mapped(instantOf(microsOf(value)), asSent) : undefined;

const mapped = <T, R>(value: T | undefined, to: (value: T) => R): R | undefined =>
  value === undefined ? undefined : to(value);

function coerceInteger(value: unknown): CoercedCell | undefined {
  // Nearly all integers are safe. Adding zero turns -0 into 0, since no column stores the sign.
  if (Number.isSafeInteger(value)) return asSent((value as number) + 0);
  const text = typeof value === 'string' ? value : numberText(value);
  if (text === undefined || !INTEGER.test(text)) return undefined;
  const exact = BigInt(text);
  if (exact > INT8_MAX || exact < INT8_MIN) return undefined;
  const number = Number(exact);
  const cell = Number.isSafeInteger(number) ? number : exact.toString();
  return typeof value === 'string' ? coerced(cell) : asSent(cell);
}

function coerceNumber(value: unknown): CoercedCell | undefined {
  if (Number.isFinite(value)) return asSent((value as number) + 0);
  const text = typeof value === 'string' ? value : numberText(value);
  if (text === undefined || !DECIMAL.test(text)) return undefined;
  const number = Number(text);
  // A decimal gets the nearest double, but an integer may be an id, whose digits count.
  if (!Number.isFinite(number) || (INTEGER.test(text) && hasOtherDigits(text, number))) return undefined;
  return typeof value === 'string' ? coerced(number) : asSent(number);
}

/** True if the number prints other digits than the integer in the text. */
const hasOtherDigits = (text: string, number: number): boolean =>
  significantDigits(text) !== significantDigits(number.toExponential().replace(/e.*$/, ''));

const significantDigits = (text: string): string => text.replace(/[-.]/g, '').replace(/0+$/, '');

const isDay = (text: string): boolean => !text.startsWith('0000') && onCalendar(text);

const YEAR_1 = -62_135_596_800_000_000n;
const YEAR_10000 = 253_402_300_800_000_000n;
const instantOf = (micros: bigint | undefined): string | undefined =>
  micros !== undefined && micros >= YEAR_1 && micros < YEAR_10000 ? instantText(micros) : undefined;

/** The cells of both columns of an integer instant: the timestamp, null if implausible, and the integer as sent. */
export function coerceEpoch(value: unknown): { readonly at: Cell; readonly sent: CoercedCell } | undefined {
  const sent = coerceInteger(value);
  return sent && { at: epochInstant(sent.cell as string | number), sent };
}

/**
 * Assumed: an epoch is in seconds, milliseconds or microseconds, as its size shows, and is between 1970 and 2286. An
 * instant outside of these years would be wrong.
 */
function epochInstant(epoch: string | number): string | null {
  const size = Number(epoch);
  if (size <= 0) return null;
  if (size < 1e10) return millisecondText(size * 1000);
  if (size >= 1e11 && size < 1e13) return millisecondText(size);
  return size >= 1e14 && BigInt(epoch) < 10n ** 16n ? instantText(BigInt(epoch)) : null;
}

/** Writes a value into its column. Returns whether it was coerced from another type; undefined if it does not fit. */
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
