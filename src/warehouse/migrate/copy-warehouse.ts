/** Copies everything that a warehouse has into an empty one on a server, such as an embedded one that outgrew its machine. */
import { CompiledQuery, sql, type Transaction } from 'kysely';
import { UsageError } from '../../errors.ts';
import { analyzeTables, type TableRef } from '../connect/analyze.ts';
import type { Warehouse } from '../connect/connect.ts';
import { inLongTransaction } from '../connect/long-work.ts';
import type { DdlTable } from '../schema/ddl.ts';
import { type OperationsTables, operationsTables } from '../schema/operations.ts';
import { tables } from '../schema/tables.ts';
import { copyInto, copyText } from '../sql/copy.ts';
import { qualified, quotedList } from '../sql/identifiers.ts';
import type { RunText, TextResult } from '../sql/read-only-session.ts';

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
 * earlier one. Both schemas must be those of this version. Throws a UsageError, and copies nothing, if the target has runs.
 */
export async function copyWarehouse(
  source: Pick<Warehouse, 'schema' | 'ops' | 'session'>,
  target: Pick<Warehouse, 'kind' | 'schema' | 'ops' | 'db' | 'longWork' | 'place'>,
  { signal, onTable }: CopyEffects,
): Promise<CopiedRows> {
  const copied = await source.session(
    (run, stream) =>
      inLongTransaction(target, async (tx) => {
        await refuseRuns(tx, target);
        let [answers, rows] = [0, 0];
        for (const [index, { area, declared }] of ALL.entries()) {
          onTable?.(declared.name, index + 1, ALL.length);
          const columns = declared.columns.map(({ name }) => name);
          const from = qualified(schemaOf(source, area), declared.name);
          const parts = stream(`select ${quotedList(columns)} from ${from}`);
          const statement = copyInto(schemaOf(target, area), declared.name, columns);
          const { numAffectedRows = 0n } = await tx.executeQuery(
            CompiledQuery.raw(statement, [linesOf(parts, signal)]),
          );
          rows += Number(numAffectedRows);
          if (area === 'operations' && declared.name === 'answers') answers = Number(numAffectedRows);
          for (const column of declared.columns.filter(({ identity }) => identity))
            await continueIds(run, tx, {
              from,
              to: qualified(schemaOf(target, area), declared.name),
              column: column.name,
            });
        }
        return { answers, rows };
      }),
    signal,
  );
  const refs = ALL.map(({ area, declared }) => ({ area, table: declared.name }));
  await analyzeTables(target, refs, signal);
  return copied;
}

const schemaOf = ({ schema, ops }: Pick<Warehouse, 'schema' | 'ops'>, area: TableRef['area']): string =>
  area === 'analyst' ? schema : ops;

/** Keeps syncs from starting until the end of the transaction. */
async function refuseRuns(
  tx: Transaction<OperationsTables>,
  { ops, place }: Pick<Warehouse, 'ops' | 'place'>,
): Promise<void> {
  await sql`lock table ${sql.id(ops, 'runs')} in share row exclusive mode`.execute(tx);
  const run = await tx.withSchema(ops).selectFrom('runs').select('id').limit(1).executeTakeFirst();
  if (run)
    throw new UsageError(`The warehouse at ${place} already has runs, so nothing is copied into it.`, {
      next: 'Name an empty database, or another warehouse.schema, and run the command again.',
    });
}

async function* linesOf(parts: AsyncIterable<TextResult>, signal: AbortSignal): AsyncGenerator<string, void> {
  for await (const { rows } of parts) {
    signal.throwIfAborted();
    yield copyText([{ begin: '', rows }]);
  }
}

interface IdentityColumn {
  /** The tables with their schemas, as SQL. */
  readonly from: string;
  readonly to: string;
  readonly column: string;
}

/** Lets the target generate the ids after those that the source has generated, also of rows that were deleted. */
async function continueIds(
  run: RunText,
  tx: Transaction<OperationsTables>,
  { from, to, column }: IdentityColumn,
): Promise<void> {
  const { rows: names } = await run('select pg_get_serial_sequence($1, $2)', [from, column]);
  const { rows } = await run(`select last_value, is_called from ${names[0]?.[0]}`);
  const [last, isCalled] = rows[0] ?? [];
  await sql`select setval(pg_get_serial_sequence(${to}, ${column}), ${last}::bigint, ${isCalled}::boolean)`.execute(tx);
}
