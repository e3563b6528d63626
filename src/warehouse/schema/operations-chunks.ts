/** The machinery's table of chunks: the parts of runs that several workers share. */
import { bigint, json, timestamp, nullable, oneOf, table, text } from './column-types.ts';

/** Of a run and of a chunk. */
export const SPOOLS =
  'Spools of the processes that carried it out: id, host and folder of each. A spool keeps answers that the database could not take. Null if there are none.';

/** In an order in which they can be created, after `runs`. */
export const chunkTables = {
  chunks: table(
    'The chunks of runs that several workers share.',
    {
      run_id: bigint('The run.'),
      number: bigint('Its place in the run, from 0.'),
      state: oneOf('How it stands; the one that ended the run is concluded.', ['open', 'ended', 'concluded']),
      requests: bigint('Requests planned for it at first.'),
      exit_code: nullable(bigint('Exit code of what stopped it; null when nothing did.')),
      error: nullable(text('What stopped it.')),
      next: nullable(text('What to do about it.')),
      ended_at: nullable(timestamp('When it ended.')),
      spools: nullable(json<unknown>(SPOOLS)),
    },
    {
      key: ['run_id', 'number'],
      foreignKeys: [{ columns: ['run_id'], table: 'runs', references: ['id'], onDelete: 'cascade' }],
    },
  ),
};
