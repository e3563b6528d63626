/** The machinery's table of chunks: the parts of runs that several workers share. */
import { bigint, moment, nullable, oneOf, table, text } from './declare.ts';

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
      ended_at: nullable(moment('When it ended.')),
    },
    {
      key: ['run_id', 'number'],
      foreignKeys: [{ columns: ['run_id'], table: 'runs', references: ['id'], onDelete: 'cascade' }],
    },
  ),
};
