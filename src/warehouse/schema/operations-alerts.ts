/** The machinery's table of alerts: what was told to the outside, so that it is told once. */
import { timestamp, nullable, oneOf, table, text } from './column-types.ts';

/** In an order in which they can be created. */
export const alertTables = {
  alerts: table(
    'What somebody is to know of, and whether they were told: one row a sync and kind, once it was raised.',
    {
      sync: text('Name of the sync in the config; (all) of what concerns all of them.'),
      kind: oneOf('What it is about.', ['failed', 'partial', 'out_of_points', 'forecast', 'quarantine']),
      state: oneOf('How it stands.', ['raised', 'cleared']),
      since: timestamp('When it came to stand so.'),
      because: text('Why it stands so.'),
      next: nullable(text('What to do about it.')),
      run_id: nullable(text('The run that showed it last; null when none did.')),
      tried_at: nullable(timestamp('When telling it was last begun, by whom is no matter: others wait a minute.')),
      webhook_at: nullable(
        timestamp('When the webhook was told, or had nothing to be told of; null while it is to be.'),
      ),
      command_at: nullable(timestamp('The same of the command.')),
    },
    { key: ['sync', 'kind'] },
  ),
};
