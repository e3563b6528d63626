/** The operations table of chunks: the parts of runs that several workers share. */
import { bigint, json, timestamp, nullable, oneOf, table, text } from './column-types.ts';

/** The comment on the spools of a run and of a chunk. */
export const SPOOLS =
  'Spools of the processes that executed it: id, host and folder of each. A spool keeps answers that the database did not accept. Null if there are none.';

/** The tables in the order of creation, after `runs`. */
export const chunkTables = {
  chunks: table(
    'Chunks of runs that several workers share: one row per chunk.',
    {
      run_id: bigint('Id of the run.'),
      number: bigint('Index of the chunk in the run, from 0.'),
      state: oneOf('State of the chunk; the chunk that ended the run is concluded.', ['open', 'ended', 'concluded']),
      requests: bigint('Number of requests in its initial plan.'),
      exit_code: nullable(bigint('Exit code of the error that stopped it; null if none did.')),
      error: nullable(text('Error that stopped it; null if none did.')),
      next: nullable(text('Next step for the user; null if there is none.')),
      ended_at: nullable(timestamp('End of the chunk; null while it is open.')),
      spools: nullable(json<unknown>(SPOOLS)),
    },
    {
      key: ['run_id', 'number'],
      foreignKeys: [{ columns: ['run_id'], table: 'runs', references: ['id'], onDelete: 'cascade' }],
    },
  ),
};
