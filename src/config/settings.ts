/** The parts of a config beside its syncs: service, warehouse, budget, prices, and what holds for every sync. */
import * as z from 'zod';
import { catalog } from '../service/catalog.ts';
import { alerts } from './alerts.ts';
import { duration, share } from './values/quantity.ts';

const PLAIN_URL =
  'allowed is an http or https address without a login, a query or a fragment, such as https://api.example.com';

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
}

/** A header's value; the service is sent nothing else. */
const TOKEN = 'allowed are printable ASCII characters without spaces';

const service = z
  .strictObject({
    url: z.string({ error: PLAIN_URL }).refine(isPlainUrl, PLAIN_URL).describe('Address of the service.'),
    token: z
      .string({ error: TOKEN })
      .regex(/^[\x21-\x7e]*$/, TOKEN)
      .nullish()
      .describe('The API token; write ${SLUICE_SERVICE_TOKEN} and keep the token itself out of the file.'),
    in_flight: z
      .int()
      .min(1)
      .max(1000)
      .default(4)
      .describe('Most requests at one time with the token, across every worker.'),
    requests_per_second: z.number().positive().default(5).describe('Most requests begun in a second with the token.'),
    retries: z.int().min(0).max(10).default(1).describe('Paid retries of one request after a transient answer.'),
  })
  .describe('The service that is asked.');

const WAREHOUSE = 'allowed is embedded:FOLDER or postgres://USER@HOST:PORT/DATABASE';

const isWarehouse = (text: string): boolean =>
  /^embedded:./.test(text) || (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text));

// The machinery's schema adds `_ops`, and Postgres cuts names at 63 bytes.
const SCHEMA = 'allowed are at most 59 lower-case letters, digits and _, beginning with a letter, not with pg_';

const warehouse = z
  .strictObject({
    url: z
      .string({ error: WAREHOUSE })
      .refine(isWarehouse, WAREHOUSE)
      .describe('embedded:FOLDER, relative to the folder of the config, or the postgres:// address of a database.'),
    schema: z
      .string()
      .regex(/^(?!pg_)[a-z][a-z0-9_]{0,58}$/, SCHEMA)
      .default('sluice')
      .describe('Schema of the tables for analysts; the machinery lives in the schema of that name with _ops.'),
  })
  .describe('Where the tables are.');

const points = z.int().min(0);

const budget = z
  .strictObject({
    per_run: points
      .optional()
      .describe('Most points that one invocation may spend. A run that is continued may spend them anew.'),
    per_day: points.optional().describe('Most points that a UTC day may spend.'),
    keep: points.optional().describe('Points of the plan that are never spent.'),
    unknown_balance: z
      .enum(['refuse', 'spend'])
      .optional()
      .describe(
        'What a run with keep does while the request log shows no balance, or does not confirm what was spent: refuse (default) ends it with exit 6, spend goes on without keep.',
      ),
  })
  .describe('Limits in true points: where one is set, a run reads the request log to know what its requests cost.');

const PRICE = 'allowed is a number of points, or { points, per } for points by each started number of results';
const price = z.union(
  [
    z.number().min(0).describe('Points for one call.'),
    z.strictObject({
      points: z.number().min(0).describe('Points for each started unit of results.'),
      per: z.int().min(1).optional().describe('Results in a unit; absent, the call has one price.'),
    }),
  ],
  { error: PRICE },
);

const prices = z
  .strictObject(Object.fromEntries(catalog.map(({ name, about }) => [name, price.optional().describe(about)])))
  .describe('First guesses at prices, in points; the request log teaches the true ones.');

/** Keys that hold for every sync, or for one that says them itself. */
const shared = {
  accept: z
    .strictObject({
      rejects: share
        .default(0.01)
        .describe(
          'Share of rejected items and inputs above which a run ends with exit 4. An answer that could not be read weighs as many items as it was asked for; without accept, one such answer gives exit 4.',
        ),
    })
    .optional()
    .describe('What a run may reject.'),
  in_doubt: z
    .enum(['reconcile', 'stop'])
    .optional()
    .describe('reconcile asks again what may have been paid and lost, after a look in the log; stop leaves it listed.'),
};

/** The whole file; each sync is checked apart, against its endpoint. */
export const fileSchema = z.strictObject({
  service,
  warehouse,
  budget: budget.optional(),
  prices: prices.optional(),
  alerts: alerts.optional(),
  ...shared,
  syncs: z.record(z.string(), z.unknown()).describe('What to ask, by the name of the sync.'),
});

const words = (text: string) => z.string({ error: text });
const NAMES = 'allowed is a list of names of syncs';

const SCHEDULE = 'allowed is a cron expression, read in UTC, or { cron, timezone }';
const cron = z.string();

/** One sync without the parts that depend on its endpoint. */
export const syncSchema = z.strictObject({
  endpoint: z.string().describe('What is asked: the path with dots, without /api.'),
  request: z.unknown().optional(),
  for_each: z.unknown().optional(),
  window: z.unknown().optional(),
  split_by: z.unknown().optional(),
  raise_count_to: z
    .int()
    .min(1)
    .optional()
    .describe('A full answer is asked again with four times the count, and so on up to this; absent, it is not.'),
  after: z.array(words(NAMES), { error: NAMES }).optional().describe('Syncs that run before this one.'),
  max_age: duration
    .refine((ms) => ms > 0, 'leave max_age out to ask anew in each run')
    .optional()
    .describe('What was asked within this time is not bought again; absent, each run asks anew.'),
  lookback: duration
    .optional()
    .describe('token.requests only: how far before its mark the log is read again; 1h by default.'),
  from: z
    .string()
    .optional()
    .describe('token.requests only: where the first walk through the log begins; absent, at its beginning.'),
  schedule: z
    .union(
      [
        cron.describe('Minute, hour, day of the month, month, day of the week, in UTC.'),
        z.strictObject({
          cron: cron.describe('Minute, hour, day of the month, month, day of the week.'),
          timezone: z.string().default('UTC').describe('IANA name, such as America/New_York.'),
        }),
      ],
      { error: SCHEDULE },
    )
    .optional()
    .describe('When `sluice schedule` runs it.'),
  budget: z
    .strictObject({ per_run: points.optional().describe('Most points that this sync may spend in one invocation.') })
    .optional()
    .describe('Limits of this sync, in points, beside those of the whole config.'),
  ...shared,
});
