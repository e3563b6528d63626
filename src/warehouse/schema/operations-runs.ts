/** Declares the table of runs. */
import {
  bigint,
  counter,
  date,
  identity,
  json,
  nullable,
  numeric,
  oneOf,
  table,
  text,
  timestamp,
} from './column-types.ts';
import { SPOOLS } from './operations-work.ts';

export const runTables = {
  runs: table(
    'Runs of syncs: one row per run.',
    {
      id: identity('Id of the run.'),
      sync: text('Name of the sync in the config.'),
      endpoint: text('Name of the endpoint: its path with dots.'),
      definition_hash: text(
        'Digest of the settings that affect the sync’s requests. Only the same definition continues a run.',
      ),
      state: oneOf('State of the run.', [
        'running',
        'complete',
        'partial',
        'out_of_points',
        'failed',
        'interrupted',
        'abandoned',
      ]),
      exit_code: nullable(bigint('Exit code of the run; null while it runs.')),
      today: date('UTC day that the plan uses as today, fixed at the start of the run.'),
      started_at: timestamp('Start of the run.'),
      ended_at: nullable(timestamp('End of the run; null while it runs or if its process was killed.')),
      holder: nullable(text('Process that executes the run: host, process id and a random part.')),
      planned: counter('Number of planned requests, including those that paging and splitting added.'),
      fresh: counter('Number of requests that a stored answer served without sending.'),
      asked: counter('Number of requests sent, each counted once, even with several attempts.'),
      stored: counter('Number of stored answers.'),
      received: counter('Number of items in the loaded answers: the sum of the next counts except changed.'),
      loaded: counter('Number of items that created or changed rows.'),
      changed: nullable(bigint('Number of loaded items that changed existing rows; null if not counted.')),
      unchanged: counter('Number of items equal to their stored rows.'),
      superseded: counter('Number of items that a later item or a newer loaded answer replaces.'),
      quarantined: counter('Number of items that could not be loaded and are in quarantine.'),
      failed: counter('Number of requests that ended without a usable answer.'),
      missing: counter('Number of requests for an entity that the service does not know.'),
      truncated: counter('Number of full slices that could not be split further, so more items may exist.'),
      points: nullable(numeric('Points spent: as charged by the service if known, otherwise by the price list.')),
      error: nullable(text('Reason why the run ended early; null if it did not.')),
      quote: nullable(
        json<unknown>(
          'Quote of the plan in points, made before the first request, and how many inputs stored answers covered; null without one.',
        ),
      ),
      unreadable: counter('Number of requests with an unreadable answer, including those that are no longer sent.'),
      spools: nullable(json<unknown>(SPOOLS)),
      scope: nullable(
        text(
          'Part of the sync that the run requested: failed for what failed before, limited for a sample, range for given days; null for all of it.',
        ),
      ),
      tags: nullable(
        json<Readonly<Record<string, string>>>('Tags of the sync when the run was last started; null without any.'),
      ),
    },
    { key: ['id'], indexes: [{ columns: ['sync', 'started_at'] }] },
  ),
};
