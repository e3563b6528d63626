/** `sluice query`: runs read-only SQL on the warehouse and prints a table, JSON or CSV. */
import { text } from 'node:stream/consumers';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { QueryOptions, QueryResult } from '../../warehouse/connect/query.ts';
import { csvRecords } from '../../text/csv.ts';
import { command, configOption, flag, flagConflict } from '../command.ts';
import type { Context } from '../context.ts';
import { jsonElements, versioned } from '../terminal/json.ts';
import { readConfig, withWarehouseToRead } from '../open.ts';
import { withNoun, table } from '../terminal/print.ts';

export const query = command({
  about:
    'Run one read-only statement and print its rows: as a table, with --json as an array of objects, or with --csv as comma-separated values. ' +
    'Names without a schema refer to the schema of the warehouse. Needs no token.',
  options: {
    ...configOption,
    csv: flag('Print CSV with exact values; null is an empty field, an empty text is "".'),
  },
  positionals: { sql: { takes: 'one', about: 'The statement, or - to read it from standard input.' } },
  examples: [
    {
      line: 'sluice query "select endpoint, sum(requests), sum(points) from daily_costs group by 1 order by 3 desc"',
      about: 'Show the cost of requests by endpoint.',
    },
    { line: 'sluice query --csv "table sec_filings" > filings.csv', about: 'Export a table.' },
    { line: 'sluice query --json - < report.sql', about: 'Run a statement from a file.' },
  ],
  run: async ({ sql, csv: asCsv, config: flag }, context) => {
    if (asCsv && context.json) throw flagConflict('query', ['--csv', '--json']);
    const config = await readConfig(context, flag);
    const statement = sql === '-' ? await text(context.input) : sql;
    const { exactValue, jsonValue } = await import('../../warehouse/sql/json-value.ts');
    const options = { signal: context.signal, toValue: asCsv ? exactValue : jsonValue };
    const result = await withWarehouseToRead(context, config, (warehouse) =>
      askWarehouse(warehouse, statement, options),
    );
    context.status.clear();
    for (const part of partsOf(result, asCsv, context)) context.out.write(part);
    if (context.out.isTerminal && !asCsv && !context.json) context.log.info(withNoun(result.rows.length, 'row'));
    return 0;
  },
});

/** The result of a read-only statement. If it names an unknown table, the error suggests one, or says that there are none. */
export async function askWarehouse(
  warehouse: Warehouse,
  statement: string,
  options: QueryOptions,
): Promise<QueryResult> {
  const { readOnlyQuery } = await import('../../warehouse/connect/query.ts');
  try {
    return await readOnlyQuery(warehouse, statement, options);
  } catch (error) {
    const { withQueryHint } = await import('../../flow/queries/query-error.ts');
    throw await withQueryHint(warehouse, error);
  }
}

/** The rows in the requested format, in parts. Data is exact and not redacted, because the user requested it. */
function* partsOf({ columns, rows }: QueryResult, asCsv: boolean, { json, out }: Context): Generator<string, void> {
  const cells = rows.map((row) => columns.map((name) => row[name]));
  if (json) yield* inParts(jsonElements(versioned('query/1', rows)));
  else if (asCsv) yield* inParts(csvRecords(columns, cells));
  else
    yield table(
      columns.map((name) => ({ name })),
      cells,
      out,
    );
}

/** Characters of a part: few writes for small rows, and far less than a string can hold. */
const PART = 1 << 20;

function* inParts(texts: Iterable<string>): Generator<string, void> {
  let part = '';
  for (const text of texts) {
    part += text;
    if (part.length < PART) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}
