/** Compares the columns of queries with the request fields that they set, before any row is read. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import { dayFields, fieldShape, requestSchema } from '../config/request-fields.ts';
import { allowedBy, isUrn, type JsonSchema, jsonSchemaOf, withoutNull } from '../config/json-schema.ts';
import { RowError, rowReader } from './input-row.ts';

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
  const reader = rowReader(sync);
  const problems: ColumnProblem[] = [];
  const provided = new Set([...Object.keys(request), ...(window ? dayFields(endpoint) : [])]);
  let isOpen = false;
  for (const source of sync.forEach ?? []) {
    if (source.from === 'list')
      for (const row of source.rows) for (const field of Object.keys(row)) provided.add(field);
    else if (source.field !== undefined) provided.add(source.field);
    // The columns of a file are unknown until it is read.
    else if (source.from === 'file') isOpen = true;
    const columns = described.get(source);
    if (source.from !== 'query' || !columns) continue;
    try {
      for (const [field, column] of reader.columns(
        source.field,
        columns.map(({ name }) => name),
      )) {
        provided.add(field);
        const found = columns.find(({ name }) => name === column);
        const shape = fieldShape(endpoint, field);
        if (found && !mayFit(shape, found.kind))
          throw new RowError(
            `the column ${JSON.stringify(found.name)} contains ${WORDS[found.kind]}; ${field} accepts ${allowedBy(shape)}`,
          );
      }
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      problems.push({ source, message: `the query: ${error.message}` });
    }
  }
  const [first] = described.keys();
  if (problems.length > 0 || isOpen || first?.from !== 'query') return problems;
  const missing = (jsonSchemaOf(requestSchema(endpoint, () => false)).required ?? []).filter((it) => !provided.has(it));
  if (missing.length === 0) return [];
  const found = (described.get(first) ?? []).map(({ name }) => name).join(', ');
  return [{ source: first, message: `the query: its columns are ${found}; missing: ${missing.join(', ')}` }];
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
