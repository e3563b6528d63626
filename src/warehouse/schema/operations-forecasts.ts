/** The operations table of forecasts, which are compared with what was spent. */
import { date, numeric, table, text } from './column-types.ts';

/** The tables in the order of creation. */
export const forecastTables = {
  forecast_days: table(
    'Forecasts of spending: one row per forecast, sync and day. The last forecast of a UTC day replaces earlier ones.',
    {
      made_on: date('UTC day on which the forecast was made.'),
      sync: text('Name of the sync in the config.'),
      date: date('UTC day that the figures are for.'),
      low: numeric('Points at the lower end of the range.'),
      likely: numeric('Likely points.'),
      high: numeric('Points at the upper end of the range.'),
    },
    { key: ['made_on', 'sync', 'date'] },
  ),
};
