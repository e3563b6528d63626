/** The `alerts` section of a config: where alerts are sent, and when. */
import * as z from 'zod';
import { DAY_MS } from '../day.ts';
import { duration } from './values/quantity.ts';

/** The conditions that raise an alert. */
export const ALERT_KINDS = [
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
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

const WEBHOOK = 'allowed is an http or https address without a login, such as https://hooks.example.com/abc';

function isWebhook(text: string): boolean {
  if (!URL.canParse(text) || /[^\x21-\x7e]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

const COMMAND = 'allowed is a list of words: the program and its arguments; they are not passed to a shell';

export const alerts = z
  .strictObject({
    webhook: z
      .string({ error: WEBHOOK })
      .refine((text) => text === '' || isWebhook(text), WEBHOOK)
      .nullish()
      .describe(
        'Address that receives each alert as a JSON POST. It is a secret: write ${SLUICE_ALERT_WEBHOOK} and keep the address out of the file.',
      ),
    command: z
      .array(z.string({ error: COMMAND }).min(1, COMMAND), { error: COMMAND })
      .refine((it) => it.length > 0, COMMAND)
      .optional()
      .describe('Program and its arguments. It runs for each alert and gets the alert as JSON on standard input.'),
    on: z.array(z.enum(ALERT_KINDS)).optional().describe('Kinds of alerts to send (default: all).'),
    quarantine: z
      .int()
      .min(0)
      .default(0)
      .describe('Raise an alert when a sync has more open quarantine entries than this (default: 0).'),
    forecast: duration
      .optional()
      .describe(
        'Raise an alert when the points will fall to budget.keep within this time at the current rate (default: 7d).',
      ),
  })
  .describe(
    'Where to send alerts: about runs that fail or end partial or out of points, quarantine entries, budgets, failed checks, changes of the service, and the forecast of points.',
  );

/** The default of `alerts.forecast`. */
export const DEFAULT_FORECAST_MS = 7 * DAY_MS;
