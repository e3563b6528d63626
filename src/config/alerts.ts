/** The part of a config that says who is told when something needs a person. */
import * as z from 'zod';
import { duration } from './values/quantity.ts';

/** What an alert can be about. */
export const ALERT_KINDS = ['failed', 'partial', 'out_of_points', 'forecast', 'quarantine'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

const WEBHOOK = 'allowed is an http or https address without a login, such as https://hooks.example.com/abc';

function isWebhook(text: string): boolean {
  if (!URL.canParse(text) || /[^\x21-\x7e]/.test(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

const COMMAND = 'allowed is a list of words: the program and its arguments; no shell reads them';

export const alerts = z
  .strictObject({
    webhook: z
      .string({ error: WEBHOOK })
      .refine((text) => text === '' || isWebhook(text), WEBHOOK)
      .nullish()
      .describe(
        'Address that each alert is posted to as JSON. A secret: write ${SLUICE_ALERT_WEBHOOK} and keep it out of the file.',
      ),
    command: z
      .array(z.string({ error: COMMAND }).min(1, COMMAND), { error: COMMAND })
      .refine((it) => it.length > 0, COMMAND)
      .optional()
      .describe('Program, with its arguments, that is run for each alert and reads it as JSON on its standard input.'),
    on: z.array(z.enum(ALERT_KINDS)).optional().describe('What alerts are about; absent, all of it.'),
    quarantine: z
      .int()
      .min(0)
      .default(0)
      .describe('Open entries in the quarantine of one sync above which an alert is raised.'),
    forecast: duration
      .optional()
      .describe(
        'How far ahead the points are looked at: an alert is raised when they come to budget.keep within this time at the present pace; 7d by default.',
      ),
  })
  .describe('Who is told when a run fails, ends partial or out of points, and of quarantine and forecast.');

/** How far ahead points are looked at where nothing is said. */
export const DEFAULT_FORECAST_MS = 7 * 86_400_000;
