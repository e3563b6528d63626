/** Copies everything that a warehouse has into an empty one on a server, such as an embedded one that outgrew its machine. */
import { CompiledQuery, sql, type Transaction } from 'kysely';
import { UsageError } from '../../errors.ts';
import type { TableRef } from '../connect/analyze.ts';
import type { Warehouse } from '../connect/connect.ts';
import { inLongTransaction } from '../connect/long-work.ts';
import type { DdlTable } from '../schema/ddl.ts';
import { type OperationsTables, operationsTables } from '../schema/operations.ts';
import { tables } from '../schema/tables.ts';
import { copyInto, copyText } from '../sql/copy.ts';
import { qualified, quotedList } from '../sql/identifiers.ts';
import type { RunText, StreamText, TextResult } from '../sql/read-only-session.ts';
import { hasRows } from './present-columns.ts';

/** Every declared table; a table comes after those that its foreign keys name. */
const ALL: readonly (Pick<TableRef, 'area'> & { readonly declared: DdlTable })[] = [
  ...operationsTables.map((declared) => ({ area: 'operations', declared }) as const),
  ...tables.map((declared) => ({ area: 'analyst', declared }) as const),
];

/** The numbers of copied rows. */
export interface CopiedRows {
  readonly answers: number;
  /** In all tables. */
  readonly rows: number;
}

export interface CopyEffects {
  readonly signal: AbortSignal;
  /** Called before each table with its position, which begins with 1. */
  readonly onTable?: (table: string, position: number, count: number) => void;
}

/**
 * Copies all declared tables in one transaction, and continues the generated ids, so that no later answer has the id of an
 * earlier one. Both schemas must be those of this version. Throws a UsageError, and copies nothing, if the target has rows.
 */
export async function copyWarehouse(
  source: Pick<Warehouse, 'schema' | 'ops' | 'session'>,
  target: Pick<Warehouse, 'schema' | 'ops' | 'db' | 'longWork' | 'place'>,
  { signal, onTable }: CopyEffects,
): Promise<CopiedRows> {
  const work = async (tx: Transaction<OperationsTables>, run: RunText, stream: StreamText): Promise<CopiedRows> => {
    await clearOrRefuse(tx, target);
    const copied: Record<string, number> = {};
    for (const [index, { area, declared }] of ALL.entries()) {
      onTable?.(declared.name, index + 1, ALL.length);
      const columns = declared.columns.map(({ name }) => name);
      const from = qualified(schemaOf(source, area), declared.name);
      const to = qualified(schemaOf(target, area), declared.name);
      const lines = linesOf(stream(`select ${quotedList(columns)} from ${from}`), signal);
      const statement = copyInto(schemaOf(target, area), declared.name, columns);
      const { numAffectedRows = 0n } = await tx.executeQuery(CompiledQuery.raw(statement, [lines]));
      copied[to] = Number(numAffectedRows);
      for (const { name, identity } of declared.columns) if (identity) await continueIds(run, tx, { from, to, name });
    }
    // The server would plan with the statistics of empty tables until its next automatic analysis.
    await sql.raw(`analyze ${Object.keys(copied).join(', ')}`).execute(tx);
    const rows = Object.values(copied).reduce((sum, count) => sum + count, 0);
    return { answers: copied[qualified(target.ops, 'answers')] ?? 0, rows };
  };
  return source.session((run, stream) => inLongTransaction(target, (tx) => work(tx, run, stream)), signal);
}

const schemaOf = ({ schema, ops }: Pick<Warehouse, 'schema' | 'ops'>, area: TableRef['area']): string =>
  area === 'analyst' ? schema : ops;

/** Tables about running processes. A process that only plans has rows there, and nothing else. */
const OF_PROCESSES: ReadonlySet<string> = new Set(['leases', 'limiter_slots', 'limiter_paces']);

/**
 * Keeps runs from starting until the end of the transaction, and ends those that are being planned: they do not know the rows
 * to come. Throws a UsageError if there are rows.
 */
async function clearOrRefuse(
  tx: Transaction<OperationsTables>,
  target: Pick<Warehouse, 'schema' | 'ops' | 'place'>,
): Promise<void> {
  await sql`lock table ${sql.id(target.ops, 'runs')} in share row exclusive mode`.execute(tx);
  for (const { area, declared } of ALL) {
    const [schema, table] = [schemaOf(target, area), declared.name];
    if (OF_PROCESSES.has(table)) await sql`delete from ${sql.id(schema, table)}`.execute(tx);
    else if (await hasRows(tx, { schema, table }))
      throw new UsageError(
        `The warehouse at ${target.place} has rows in ${schema}.${table}, so nothing is copied into it.`,
        { next: 'Name an empty database, or another warehouse.schema, and run the command again.' },
      );
  }
}

async function* linesOf(parts: AsyncIterable<TextResult>, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const { rows } of parts) {
    signal.throwIfAborted();
    yield copyText([{ begin: '', rows }]);
  }
}

/**
 * Lets the target generate the ids of a column after those that the source has generated, also for rows that were deleted.
 * `from` and `to` are the tables as SQL.
 */
async function continueIds(
  run: RunText,
  tx: Transaction<OperationsTables>,
  { from, to, name }: { readonly from: string; readonly to: string; readonly name: string },
): Promise<void> {
  const { rows: sequences } = await run('select pg_get_serial_sequence($1, $2)', [from, name]);
  const [sequence] = sequences[0] ?? [];
  if (sequence == null) throw new Error(`${from}.${name} has no sequence`);
  // The name is already quoted.
  const { rows } = await run(`select last_value, is_called from ${sequence}`);
  const [last, isCalled] = rows[0] ?? [];
  await sql`select setval(pg_get_serial_sequence(${to}, ${name}), ${last}::bigint, ${isCalled}::boolean)`.execute(tx);
}
