/** The operations tables of work in progress: leases, chunks of runs that workers share, and schemas of rebuilds. */
import { bigint, json, timestamp, nullable, oneOf, table, text } from './column-types.ts';

export const leaseTables = {
  leases: table(
    'Leases: one row per name, with at most one holder until it expires.',
    {
      name: text('Name of the lease: what it protects.'),
      holder: text('Process that holds the lease: host, process id and a random part.'),
      token: bigint('Fencing token, which increases with each new holder. A write with an older token is refused.'),
      acquired_at: timestamp('Time at which the holder got the lease.'),
      expires_at: timestamp('Time until which the lease is held unless it is renewed.'),
    },
    { key: ['name'] },
  ),
};

/** The comment on the spools of a run and of a chunk. */
export const SPOOLS =
  'Spools of the processes that executed it: id, host and folder of each. A spool keeps answers that the database did not accept. Null if there are none.';

/** They are created after `runs`. */
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

export const rebuildTables = {
  rebuilds: table(
    'Schemas that sluice replay --rebuild created to work in: one row per rebuild that is in progress or was killed.',
    {
      id: text('Random id of the rebuild, which the comment on its schema contains.'),
      schema_name: text('Name of the created schema.'),
      started_at: timestamp('Creation of the schema.'),
    },
    { key: ['id'] },
  ),
};
