/** The operations table of alerts. It records deliveries, so that each state is delivered once. */
import { timestamp, nullable, oneOf, table, text } from './column-types.ts';

/** The tables in the order of creation. */
export const alertTables = {
  alerts: table(
    'Alerts and their deliveries: one row per sync and kind that was ever raised.',
    {
      sync: text(
        'Name of the sync in the config; `(all)` for an alert about all syncs, and the limit in brackets for one about a budget.',
      ),
      kind: oneOf('Kind of the alert.', [
        'failed',
        'partial',
        'out_of_points',
        'forecast',
        'quarantine',
        'budget',
        'check',
        'contract',
        'price',
        'access',
        'counts',
      ]),
      state: oneOf('State of the alert.', ['raised', 'cleared']),
      since: timestamp('Time of the last change of state.'),
      because: text('Reason for the state.'),
      next: nullable(text('Next step for the user; null if there is none.')),
      run_id: nullable(text('Last run that showed the condition; null if none did.')),
      tried_at: nullable(
        timestamp(
          'Start of the last delivery by any process; other processes then wait a minute. Null before the first.',
        ),
      ),
      webhook_at: nullable(
        timestamp(
          'Time of the delivery to the webhook, or of the decision that none is needed; null while it is pending.',
        ),
      ),
      command_at: nullable(timestamp('The same for the command.')),
      config: nullable(text('Path of the config whose run last showed the condition; null before this was recorded.')),
    },
    { key: ['sync', 'kind'] },
  ),
};
