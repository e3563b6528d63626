/**
 * Checks the queries of `for_each` before anything is bought, including those of syncs whose parents have not run yet.
 */
import type { InputSource, SyncDefinition } from '../../config/definition.ts';
import { UsageError } from '../../errors.ts';
import { checkColumns, type QueryColumn } from '../../plan/query-columns.ts';
import { RowError } from '../../plan/input-row.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { describeQuery } from '../../warehouse/connect/query.ts';
import { elementTypeOf, TYPE } from '../../warehouse/sql/type-oids.ts';
import { withNearTable } from './query-error.ts';

type QuerySource = Extract<InputSource, { from: 'query' }>;
type QueryTarget = Pick<Warehouse, 'schema' | 'session' | 'isRemote'>;

/** The queries in `for_each` of a sync. */
export const queriesOf = ({ forEach }: Pick<SyncDefinition, 'forEach'>): QuerySource[] =>
  (forEach ?? []).filter((source) => source.from === 'query');

/**
 * Prepares each query without reading a row, and compares its columns with the request fields of its sync. Throws a
 * UsageError that lists every faulty query.
 */
export async function checkQueries(warehouse: QueryTarget, definitions: readonly SyncDefinition[]): Promise<void> {
  const problems: string[] = [];
  for (const definition of definitions) {
    const described = new Map<InputSource, readonly QueryColumn[]>();
    for (const source of queriesOf(definition)) {
      const found = await describe(warehouse, source);
      if (typeof found === 'string') problems.push(problemOf(definition, source, found));
      else described.set(source, found);
    }
    if (described.size < queriesOf(definition).length) continue;
    for (const { source, message } of checkColumns(definition, described))
      problems.push(problemOf(definition, source, message));
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'), { next: 'Correct the query; nothing was sent.' });
}

const problemOf = ({ name }: Pick<SyncDefinition, 'name'>, { where }: QuerySource, message: string): string =>
  `${where}: ${name}: ${message}`;

/** Returns the columns of a query without reading a row, or its error message. */
export async function describe(
  warehouse: QueryTarget,
  { sql }: Pick<QuerySource, 'sql'>,
): Promise<readonly QueryColumn[] | string> {
  try {
    const columns = await describeQuery(warehouse, sql);
    return columns.map(({ name, oid }) => ({ name, kind: kindOf(oid) }));
  } catch (error) {
    if (error instanceof RowError) return error.message;
    if (!(error instanceof UsageError)) throw error;
    const { message, next } = await withNearTable(warehouse, error);
    return next === undefined ? message : `${message}\n  ${next}`;
  }
}

const NUMBERS: readonly number[] = [TYPE.INT2, TYPE.INT4, TYPE.INT8, TYPE.FLOAT4, TYPE.FLOAT8, TYPE.NUMERIC];
const TIMES: readonly number[] = [TYPE.DATE, TYPE.TIMESTAMP, TYPE.TIMESTAMPTZ];

function kindOf(oid: number): QueryColumn['kind'] {
  if (oid === TYPE.BOOL) return 'boolean';
  if (NUMBERS.includes(oid)) return 'number';
  if (TIMES.includes(oid)) return 'time';
  return elementTypeOf(oid) === undefined ? 'other' : 'list';
}
