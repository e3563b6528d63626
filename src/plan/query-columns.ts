/** Compares the columns of queries with the request fields that they are to bring, before a row is read. */
import type { InputSource, SyncDefinition } from '../config/definition.ts';
import { dayFields, fieldShape, requestSchema } from '../config/request-fields.ts';
import { allowedBy, isUrn, type JsonSchema, jsonSchemaOf, withoutNull } from '../config/json-schema.ts';
import { RowError, rowReader } from './input-row.ts';

export interface QueryColumn {
  readonly name: string;
  /** What its values are surely; `other` where only the values tell, as for text and JSON. */
  readonly kind: 'boolean' | 'number' | 'time' | 'list' | 'other';
}

type Sync = Pick<SyncDefinition, 'endpoint' | 'request' | 'window' | 'forEach'>;
type QuerySource = Extract<InputSource, { from: 'query' }>;

export interface ColumnProblem {
  readonly source: QuerySource;
  readonly message: string;
}

/** What is wrong with the columns of a sync's queries; each of its queries is among the described. */
export function checkColumns(
  sync: Sync,
  described: ReadonlyMap<InputSource, readonly QueryColumn[]>,
): readonly ColumnProblem[] {
  const { endpoint, request, window } = sync;
  const reader = rowReader(sync);
  const problems: ColumnProblem[] = [];
  const brought = new Set([...Object.keys(request), ...(window ? dayFields(endpoint) : [])]);
  let isOpen = false;
  for (const source of sync.forEach ?? []) {
    if (source.from === 'list') for (const row of source.rows) for (const field of Object.keys(row)) brought.add(field);
    else if (source.field !== undefined) brought.add(source.field);
    // The columns of a file are known when it is read.
    else if (source.from === 'file') isOpen = true;
    const columns = described.get(source);
    if (source.from !== 'query' || !columns) continue;
    try {
      for (const [field, column] of reader.columns(
        source.field,
        columns.map(({ name }) => name),
      )) {
        brought.add(field);
        const found = columns.find(({ name }) => name === column);
        const shape = fieldShape(endpoint, field);
        if (found && !mayFit(shape, found.kind))
          throw new RowError(
            `the column ${JSON.stringify(found.name)} holds ${WORDS[found.kind]}; ${field} takes ${allowedBy(shape)}`,
          );
      }
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      problems.push({ source, message: `the query: ${error.message}` });
    }
  }
  const [first] = described.keys();
  if (problems.length > 0 || isOpen || first?.from !== 'query') return problems;
  const missing = (jsonSchemaOf(requestSchema(endpoint, () => false)).required ?? []).filter((it) => !brought.has(it));
  if (missing.length === 0) return [];
  const found = (described.get(first) ?? []).map(({ name }) => name).join(', ');
  return [{ source: first, message: `the query: its columns are ${found}; missing is ${missing.join(', ')}` }];
}

const WORDS = {
  boolean: 'true or false',
  number: 'numbers',
  time: 'times',
  list: 'lists',
  other: 'other values',
} as const;

/** False where no value of that kind can be one of the field. A list field takes a lone value as one element. */
function mayFit(shape: JsonSchema, kind: QueryColumn['kind']): boolean {
  if (kind === 'other') return true;
  const due = withoutNull(shape);
  const choices = due.anyOf ?? due.oneOf;
  if (choices) return choices.some((it) => mayFit(it, kind));
  if (isUrn(due)) return false;
  switch (due.type) {
    case 'array':
      return kind === 'list' || mayFit(due.items ?? {}, kind);
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
