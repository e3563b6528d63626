/** The operations tables of data quality: how answers differ from the contract, and what the checks of a run found. */
import { bigint, nullable, numeric, oneOf, table, text, timestamp } from './column-types.ts';

/** The tables in the order of creation, after `runs`. */
export const qualityTables = {
  drift: table(
    'Differences between answers and the contract: one row per difference, with its count.',
    {
      resource: text('Name of the resource in the contract.'),
      path: text('Field names joined by dots, without list positions.'),
      kind: text('Kind of difference: unknown field, missing, wrong type or other @type.'),
      count: bigint('Number of occurrences.'),
      first_seen_at: timestamp('Receipt of the first answer with the difference.'),
      last_seen_at: timestamp('Receipt of the last answer with the difference.'),
      sample_type: text('Example of a JSON type that was found; never a value.'),
      answers: nullable(
        bigint('Number of answers with the difference; null if none was received since answers are counted.'),
      ),
    },
    { key: ['resource', 'path', 'kind'] },
  ),
  changed_columns: table(
    'Columns that a migration added to, or removed from, a table with rows. The next load fills them and deletes the record.',
    {
      table_name: text('Name of the table in the analyst schema.'),
      column_name: text('Name of the column.'),
    },
    { key: ['table_name', 'column_name'] },
  ),
  checks: table(
    'Results of checks: one row per run and check. A continued run replaces its results.',
    {
      run_id: bigint('Run after which the check ran.'),
      name: text('Name of the check in its sync.'),
      sync: text('Name of the sync in the config.'),
      kind: oneOf('Kind of the check.', ['sql', 'rows', 'fresh', 'complete', 'nulls', 'cost']),
      severity: oneOf('Severity of the check.', ['error', 'warn']),
      status: oneOf('Result of the check.', ['pass', 'fail', 'error', 'skipped']),
      found: nullable(numeric('Number that the check found; null if it found none.')),
      allowed: text('Description of what is allowed.'),
      message: text('Description of what was found, or the reason why the check could not run.'),
      at: timestamp('Time of the result.'),
    },
    {
      key: ['run_id', 'name'],
      indexes: [{ columns: ['sync', 'name', 'run_id'] }],
      foreignKeys: [{ columns: ['run_id'], table: 'runs', references: ['id'], onDelete: 'cascade' }],
    },
  ),
};
