/** Converts one row of a file or a query into request fields, checked against the contract. */
import { check } from '../config/check.ts';
import type { SyncDefinition } from '../config/definition.ts';
import { INPUT_AGE, inputAgeOf } from '../config/values/input-age.ts';
import { insteadOf } from '../config/document/nearest.ts';
import {
  dayFields,
  fieldShape,
  fieldValue,
  requestSchema,
  reversedRange,
  settable,
  unknownField,
} from '../config/request-fields.ts';
import { urnChoice } from '../config/json-schema.ts';
import { WHOLE_FILE } from '../config/document/source.ts';
import { treeOfValue } from '../config/document/tree.ts';
import { unstorable } from '../config/document/yaml.ts';
import type { RequestBody } from '../service/request-body.ts';

/** The row breaks the contract. The message names the value found and the allowed values. */
export class RowError extends Error {}

/** The row's columns are wrong, whatever their values. */
export class ColumnError extends RowError {}

/** One input of a sync. */
export interface Input {
  /** Request fields. */
  readonly fields: RequestBody;
  /** The maximum age of a stored answer that serves this input; undefined if the sync's `max_age` applies. */
  readonly maxAgeMs: number | undefined;
}

export interface RowReader {
  /** The input of a row whose columns are request fields. Empty cells and nulls leave their field out. */
  readonly row: (value: unknown) => Input;
  /**
   * The input of a row for one field: from the named column, from the column with the field's name, or from the only
   * column.
   */
  readonly field: (field: string, value: unknown, column: string | undefined) => Input;
  /** The fields that these columns set, each with its column; undefined for a URN in two columns. */
  readonly columns: (field: string | undefined, names: readonly string[]) => ReadonlyMap<string, string | undefined>;
  /** True if the text is a value of the field and not a name: the field would refuse its own name as a value. */
  readonly isValue: (field: string, text: string) => boolean;
  /** Throws unless the request is complete with this input. */
  readonly assertComplete: (input: RequestBody) => void;
}

/** A message about a text in the value that Postgres cannot store; undefined if there is none. */
function unstorableIn(value: unknown): string | undefined {
  if (typeof value === 'string') return unstorable(value);
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.values(value)
    .map(unstorableIn)
    .find((message) => message !== undefined);
}

/** Runs a check, and throws a RowError with its complaints. */
function checked<T>(run: (complain: (place: unknown, message: string) => void) => T): T {
  const complaints: string[] = [];
  const result = run((_, message) => complaints.push(message));
  if (complaints.length > 0) throw new RowError(complaints.join('; '));
  return result;
}

/** A reader for the rows of one sync. Its functions throw RowErrors. */
export function rowReader(sync: Pick<SyncDefinition, 'endpoint' | 'request' | 'window'>): RowReader {
  const { endpoint, request, window } = sync;
  const days = window ? dayFields(endpoint) : [];
  const completeRequest = requestSchema(endpoint, (field) => days.includes(field));
  const isUrnField = (field: string): boolean => urnChoice(fieldShape(endpoint, field)) !== undefined;

  const assertSettable = (field: string): void => {
    if (!settable(endpoint).includes(field)) throw new ColumnError(unknownField(endpoint, field));
    if (field in request) throw new ColumnError(`${field} is set by request and by for_each; allowed is one of them`);
    if (days.includes(field)) throw new ColumnError(`${field} is set by window; allowed is one of them`);
  };
  const value = (field: string, given: unknown): RequestBody => {
    const text = unstorableIn(given);
    if (text !== undefined) throw new RowError(`${field}: ${text}`);
    assertSettable(field);
    const entry = { key: field, keySpan: WHOLE_FILE, value: treeOfValue(given) };
    return { [field]: checked((complain) => fieldValue(endpoint, entry, complain)) };
  };
  const accepts = (field: string, text: string): boolean => {
    try {
      value(field, text);
      return true;
    } catch (error) {
      if (error instanceof RowError) return false;
      throw error;
    }
  };

  return {
    row: (given) => {
      if (!isRecord(given))
        throw new RowError(`found ${JSON.stringify(given)}; allowed is a mapping of request fields`);
      const { row, maxAgeMs } = withoutAge(given);
      const fields = Object.entries(joinedUrns(row, isUrnField)).filter(([, it]) => !isMissing(it));
      // Without its own fields, a row would repeat the request of the sync, such as a search without filters.
      if (fields.length === 0) throw new RowError('every request field is empty; allowed is at least one value');
      return { fields: Object.assign({}, ...fields.map(([field, it]) => value(field, it))) as RequestBody, maxAgeMs };
    },
    field: (field, given, column) => {
      const { row, maxAgeMs } = isRecord(given) && column !== INPUT_AGE ? withoutAge(given) : { row: given };
      const picked = pick(field, row, column, isUrnField(field));
      if (isMissing(picked)) throw new RowError(`${column ?? field} is empty; allowed is a value in every row`);
      return { fields: value(field, picked), maxAgeMs };
    },
    columns: (field, names) => {
      const row = Object.fromEntries(names.filter((name) => name !== INPUT_AGE).map((name) => [name, name]));
      const fields =
        field === undefined ? joinedUrns(row, isUrnField) : { [field]: pick(field, row, undefined, isUrnField(field)) };
      if (Object.keys(fields).length === 0) throw new ColumnError('there is no column; allowed are request fields');
      Object.keys(fields).forEach(assertSettable);
      return new Map(Object.entries(fields).map(([name, from]) => [name, typeof from === 'string' ? from : undefined]));
    },
    isValue: (field, text) => accepts(field, text) && !accepts(field, field),
    assertComplete: (input) => {
      const body = { ...request, ...input };
      checked((complain) => check(completeRequest, treeOfValue(body), complain));
      const reversed = reversedRange(endpoint, body);
      if (reversed) throw new RowError(reversed.message);
    },
  };
}

type Row = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !JSON.isRawJSON(value) &&
  !(value instanceof Date);
const isMissing = (value: unknown): boolean => value === null || value === undefined || value === '';

/** The row without the reserved column, and the value of that column. */
function withoutAge(given: Row): { readonly row: Row; readonly maxAgeMs?: number | undefined } {
  if (!Object.hasOwn(given, INPUT_AGE)) return { row: given };
  const { [INPUT_AGE]: age, ...row } = given;
  const entry = { key: INPUT_AGE, keySpan: WHOLE_FILE, value: treeOfValue(typeof age === 'string' ? age.trim() : age) };
  return { row, maxAgeMs: checked((complain) => inputAgeOf(entry, complain)) };
}

/** Columns `f_type` and `f_value`, as the warehouse names them, form the URN `f`. */
function joinedUrns(row: Row, isUrnField: (field: string) => boolean): Row {
  const fields = Object.keys(row).flatMap((column) => {
    const field = column.endsWith('_type') ? column.slice(0, -'_type'.length) : '';
    return isUrnField(field) && `${field}_value` in row ? [field] : [];
  });
  const parts = new Set(fields.flatMap((field) => [`${field}_type`, `${field}_value`]));
  return Object.fromEntries([
    ...Object.entries(row).filter(([column]) => !parts.has(column)),
    ...fields.map((field) => [field, urnIn(row, field)] as const),
  ]);
}

const urnIn = (row: Row, field: string): unknown => urnFrom(row[`${field}_type`], row[`${field}_value`]);
const urnFrom = (type: unknown, value: unknown): unknown =>
  isMissing(type) && isMissing(value) ? null : { type, value };

function columnValue(given: unknown, column: string): unknown {
  if (!isRecord(given))
    throw new RowError(`found ${JSON.stringify(given)}; allowed is a mapping with the column ${column}`);
  if (Object.hasOwn(given, column)) return given[column];
  throw new ColumnError(`there is no column ${JSON.stringify(column)}${insteadOf(column, Object.keys(given))}`);
}

function pick(field: string, given: unknown, column: string | undefined, takesUrn: boolean): unknown {
  if (column !== undefined) return columnValue(given, column);
  if (!isRecord(given)) return given;
  const columns = Object.keys(given);
  if (takesUrn && columns.length === 2 && 'type' in given && 'value' in given)
    return urnFrom(given['type'], given['value']);
  if (Object.hasOwn(given, field)) return given[field];
  if (takesUrn && `${field}_type` in given && `${field}_value` in given) return urnIn(given, field);
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return given[only];
  const pair = takesUrn ? ', or type and value' : '';
  throw new ColumnError(`the columns are ${columns.join(', ')}; allowed is one column, one named ${field}${pair}`);
}
