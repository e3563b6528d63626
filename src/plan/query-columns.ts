/** Compares the columns of queries with the request fields that they set, before any row is read. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { dayFields, fieldShape, requestSchema } from '../config/request-fields.ts';
import { allowedBy, isUrn, type JsonSchema, jsonSchemaOf, withoutNull } from '../config/json-schema.ts';
import { RowError, type RowReader, rowReader } from './input-row.ts';

export interface QueryColumn {
  readonly name: string;
  /** The certain kind of its values; `other` if only the values show it, as for text and JSON. */
  readonly kind: 'boolean' | 'number' | 'time' | 'list' | 'other';
}

type Sync = Pick<SyncDefinition, 'endpoint' | 'request' | 'window' | 'forEach'>;
type QuerySource = Extract<InputSource, { from: 'query' }>;

export interface ColumnProblem {
  readonly source: QuerySource;
  readonly message: string;
}

/** The problems of the columns of a sync's queries. `described` contains each of its queries. */
export function checkColumns(
  sync: Sync,
  described: ReadonlyMap<InputSource, readonly QueryColumn[]>,
): readonly ColumnProblem[] {
  const { endpoint, request, window } = sync;
  const sources = sync.forEach ?? [];
  const reader = rowReader(sync);
  const problems: ColumnProblem[] = [];
  const provided = new Set([...Object.keys(request), ...(window ? dayFields(endpoint) : [])]);
  for (const source of sources) {
    for (const field of configuredFields(source)) provided.add(field);
    const columns = described.get(source);
    if (source.from !== 'query' || !columns) continue;
    try {
      for (const field of queriedFields(source, columns, reader, endpoint)) provided.add(field);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      problems.push({ source, message: `the query: ${error.message}` });
    }
  }
  if (problems.length > 0 || sources.some(hasUnknownFields)) return problems;
  const missing = (jsonSchemaOf(requestSchema(endpoint, () => false)).required ?? []).filter((it) => !provided.has(it));
  return missing.length === 0 ? [] : missingFields(missing, described);
}

/** The request fields of a source that the config shows. */
function configuredFields(source: InputSource): readonly string[] {
  if (source.from === 'list') return source.rows.flatMap((row) => Object.keys(row));
  return source.field === undefined ? [] : [source.field];
}

/** True for a file without a field, since its columns are unknown until it is read. */
const hasUnknownFields = (source: InputSource): boolean => source.from === 'file' && source.field === undefined;

/** The request fields that a query's columns set. Throws a RowError if the values of a column cannot fit its field. */
function queriedFields(
  { field: onlyField }: QuerySource,
  columns: readonly QueryColumn[],
  reader: RowReader,
  endpoint: Endpoint,
): readonly string[] {
  const names = columns.map(({ name }) => name);
  const fields = [...reader.columns(onlyField, names)];
  for (const [field, column] of fields) {
    const found = columns.find(({ name }) => name === column);
    const shape = fieldShape(endpoint, field);
    if (found && !mayFit(shape, found.kind))
      throw new RowError(
        `the column ${JSON.stringify(found.name)} contains ${WORDS[found.kind]}; ${field} accepts ${allowedBy(shape)}`,
      );
  }
  return fields.map(([field]) => field);
}

function missingFields(
  missing: readonly string[],
  described: ReadonlyMap<InputSource, readonly QueryColumn[]>,
): readonly ColumnProblem[] {
  const [source] = described.keys();
  if (source?.from !== 'query') return [];
  const found = (described.get(source) ?? []).map(({ name }) => name).join(', ');
  return [{ source, message: `the query: its columns are ${found}; missing: ${missing.join(', ')}` }];
}

const WORDS = {
  boolean: 'true or false',
  number: 'numbers',
  time: 'times',
  list: 'lists',
  other: 'other values',
} as const;

/** False if no value of this kind can be a value of the field. A list field accepts a single value as one element. */
function mayFit(shape: JsonSchema, kind: QueryColumn['kind']): boolean {
  if (kind === 'other') return true;
  const expected = withoutNull(shape);
  const choices = expected.anyOf ?? expected.oneOf;
  if (choices) return choices.some((it) => mayFit(it, kind));
  if (isUrn(expected)) return false;
  switch (expected.type) {
    case 'array':
      return kind === 'list' || mayFit(expected.items ?? {}, kind);
    case 'integer':
    case 'number':
      return kind === 'number';
    case 'boolean':
      return kind === 'boolean';
    case 'string':
      return kind !== 'list';
    default:
      return true;
  }
}
