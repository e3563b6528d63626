/** The Parquet columns of SQL types, and how their values are read from the texts of the database. */
import type { SchemaElement } from 'hyparquet';
import { UsageError } from '../errors.ts';
import type { TextResult } from '../warehouse/sql/read-only-session.ts';
import { TYPE } from '../warehouse/sql/type-oids.ts';
import { parserFor } from '../warehouse/sql/values.ts';
import { exactValue } from '../warehouse/sql/json-value.ts';

type ParquetValue = boolean | number | bigint | string;

interface Kind {
  readonly element: Omit<SchemaElement, 'name'>;
  readonly read: (text: string) => ParquetValue;
}

export interface ParquetColumn {
  /** The type in the footer of the file. */
  readonly element: SchemaElement;
  /** The type for the encoding of the values. */
  readonly encoded: SchemaElement;
  /** Throws a UsageError if Parquet cannot represent the value. */
  readonly read: (text: string) => ParquetValue;
  /** False for columns whose greatest and least values would be long documents in the footer of the file. */
  readonly hasStatistics: boolean;
}

const DAY_MS = 86_400_000;
const readInstant = parserFor(TYPE.TIMESTAMPTZ);

/** The milliseconds since 1970 of an instant in UTC. Throws for one that has none, such as infinity. */
function msOf(text: string): number {
  const instant = readInstant(text);
  if (instant instanceof Date && !Number.isNaN(instant.getTime())) return instant.getTime();
  throw new RangeError(text);
}

/** The microseconds since 1970 of an instant in UTC. */
function microsOf(text: string): bigint {
  const seconds = Math.floor(msOf(text) / 1000);
  const fraction = /\.(\d{1,6})/.exec(text)?.[1] ?? '';
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

/** The days since 1970. The time follows the date, before the era. */
const daysOf = (text: string): number => msOf(text.replace(/^\d\S*/, '$& 00:00:00+00')) / DAY_MS;

const timestamp = (isAdjustedToUTC: boolean): Kind['element'] => ({
  type: 'INT64',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' },
  // The older name of the type means an instant.
  ...(isAdjustedToUTC && { converted_type: 'TIMESTAMP_MICROS' }),
});

const INT32: Kind = { element: { type: 'INT32' }, read: Number };
const DOUBLE: Kind = { element: { type: 'DOUBLE' }, read: Number };
const TEXT: Kind['element'] = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
const JSON_TEXT: Kind = {
  element: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
  read: (text) => text,
};

/** Every other type is a string. So is numeric, because its precision is unknown before all rows are read. */
const KINDS: ReadonlyMap<number, Kind> = new Map<number, Kind>([
  [TYPE.BOOL, { element: { type: 'BOOLEAN' }, read: (text) => text === 't' }],
  [TYPE.INT2, INT32],
  [TYPE.INT4, INT32],
  [TYPE.INT8, { element: { type: 'INT64' }, read: BigInt }],
  [TYPE.FLOAT4, DOUBLE],
  [TYPE.FLOAT8, DOUBLE],
  [TYPE.DATE, { element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }, read: daysOf }],
  [TYPE.TIMESTAMPTZ, { element: timestamp(true), read: microsOf }],
  [TYPE.TIMESTAMP, { element: timestamp(false), read: (text) => microsOf(text.replace(/^\d\S* \S+/, '$&+00')) }],
  [
    TYPE.UUID,
    {
      element: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
      read: (text) => text,
    },
  ],
  [TYPE.JSON, JSON_TEXT],
  [TYPE.JSONB, JSON_TEXT],
]);

/** The Parquet column for a column of a result. Errors name the table. */
export function parquetColumn(table: string, { name, oid }: TextResult['fields'][number]): ParquetColumn {
  const kind = KINDS.get(oid) ?? { element: TEXT, read: (text: string) => textOf(text, oid) };
  const element: SchemaElement = { name, ...kind.element, repetition_type: 'OPTIONAL' };
  const isJson = kind === JSON_TEXT;
  return {
    element,
    // As JSON, the writer would encode the text once more, and parse it into numbers that round.
    encoded: isJson ? { name, type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' } : element,
    hasStatistics: !isJson,
    read: (text) => {
      try {
        return kind.read(text);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new UsageError(`export: ${table}.${name} contains ${text}, which a Parquet file cannot represent.`, {
          next: 'Export the table as csv or jsonl.',
          cause: error,
        });
      }
    },
  };
}

/** The text as in a CSV file. */
function textOf(text: string, oid: number): string {
  const value = exactValue(text, oid);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
