/** The schemas of a config: service, warehouse, budget, prices, defaults for every sync, and the keys of a sync. */
import * as z from 'zod';
import { catalog } from '../service/catalog.ts';
import { alerts } from './alerts.ts';
import { maxAge } from './values/max-age.ts';
import { checks } from './checks.ts';
import { duration, share } from './values/quantity.ts';
import { tagName, tags, tagValue } from './values/tags.ts';
import { LOG_ENDPOINT } from '../service/request-log/request-log.ts';
import { hasSeveralHosts, withHost } from '../text/database-address.ts';

const PLAIN_URL =
  'allowed is an http or https address without a login, a query or a fragment, such as https://api.example.com';

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
}

/** The token is sent as the value of a header. */
const TOKEN = 'allowed are printable ASCII characters without spaces';

export const service = z
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
      .describe('Limit of concurrent requests with the token, across all workers (default: 4).'),
    requests_per_second: z
      .number()
      .positive()
      .default(5)
      .describe('Limit of requests started per second with the token (default: 5).'),
    retries: z
      .int()
      .min(0)
      .max(10)
      .default(1)
      .describe('Limit of paid retries of one request after a transient error (default: 1).'),
  })
  .describe('The data extraction service.');

const WAREHOUSE = 'allowed is embedded:FOLDER or postgres://USER@HOST:PORT/DATABASE';

const SEVERAL_HOSTS = 'allowed is an address with one host: name a pooler or a virtual address for several servers';

const isWarehouse = (text: string): boolean =>
  /^embedded:./.test(text) || (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(withHost(text)));

// The operations schema appends `_ops`, and Postgres truncates names to 63 bytes.
const SCHEMA = 'allowed are at most 59 lower-case letters, digits and _, beginning with a letter, not with pg_';

export const warehouse = z
  .strictObject({
    url: z
      .string({ error: WAREHOUSE })
      .refine((text) => !hasSeveralHosts(text), { error: SEVERAL_HOSTS, abort: true })
      .refine(isWarehouse, WAREHOUSE)
      .describe(
        'embedded:FOLDER, with a path relative to the folder of the config, or the postgres:// address of a database.',
      ),
    schema: z
      .string()
      .regex(/^(?!pg_)[a-z][a-z0-9_]{0,58}$/, SCHEMA)
      .default('sluice')
      .describe(
        'Schema of the analyst tables (default: sluice). The operations tables are in the schema of that name with _ops.',
      ),
  })
  .describe('The database that holds the tables.');

const points = z.int().min(0);

/** Limits of the points in a period of time. */
const periods = {
  per_day: points.optional().describe('Limit of points that may be spent per UTC day.'),
  per_month: points.optional().describe('Limit of points that may be spent per calendar month, in UTC.'),
};

const budget = z
  .strictObject({
    per_run: points
      .optional()
      .describe('Limit of points that one invocation may spend. Each continuation of a run may spend them again.'),
    ...periods,
    tags: z
      .record(tagName, z.record(tagValue, z.strictObject(periods)))
      .optional()
      .describe('Limits of the syncs with a tag, by the name and the value of the tag.'),
    keep: points.optional().describe('Points of the balance that are never spent.'),
    unknown_balance: z
      .enum(['refuse', 'spend'])
      .optional()
      .describe(
        'What a run with keep does if the request log shows no balance or does not confirm the spent points: refuse (default) ends the run with exit 6; spend continues without keep.',
      ),
  })
  .describe('Limits in charged points. A run with a limit reads the request log to learn what its requests cost.');

const PRICE = 'allowed is a number of points per call, or { points, per }: points for each started unit of results';
const price = z.union(
  [
    z.number().min(0).describe('Points for one call.'),
    z.strictObject({
      points: z.number().min(0).describe('Points for each started unit of results.'),
      per: z.int().min(1).optional().describe('Results in a unit; without it, each call has one price.'),
    }),
  ],
  { error: PRICE },
);

const prices = z
  .strictObject(Object.fromEntries(catalog.map(({ name, about }) => [name, price.optional().describe(about)])))
  .describe('First guesses at prices, in points. Sluice learns the true prices from the request log.');

/** Keys that the config may set beside `syncs`, for all syncs. `defaults` has them too. */
const shared = {
  accept: z
    .strictObject({
      rejects: share
        .default(0.01)
        .describe(
          'A run ends with exit 4 if its share of rejected items and inputs is larger than this (default: 1%). Items of stored answers that serve the run count too, and an input without items counts as one. An unreadable answer counts as many rejected items as were requested. Without accept, a single unreadable answer gives exit 4.',
        ),
    })
    .optional()
    .describe('Limits of rejected items and inputs.'),
  in_doubt: z
    .enum(['reconcile', 'stop'])
    .optional()
    .describe(
      'What to do about requests whose answers were lost: reconcile (default) checks the request log and sends them again; stop only lists them.',
    ),
};

const SCHEDULE = 'allowed is a cron expression, read in UTC, or { cron, timezone }';
const cron = z.string();

/** Keys that a sync may set, and that `defaults` may set for all syncs. */
const inherited = {
  max_age: maxAge
    .optional()
    .describe(
      'Reuse stored answers younger than this instead of buying them again (default: request anew in each run). { auto: [1d, 30d] } learns an age for each request from how often its answers change.',
    ),
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
    .describe('When `sluice schedule` runs the sync.'),
  budget: z
    .strictObject({
      per_run: points.optional().describe('Limit of points that this sync may spend in one invocation.'),
    })
    .optional()
    .describe('Limits of this sync in points, in addition to those of the config.'),
  tags: tags
    .optional()
    .describe(
      'Names and values that describe the sync, such as team: growth. Costs are added up by tag, and budget.tags limits them. Tags of defaults are added.',
    ),
  ...shared,
  in_flight: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      'Limit of concurrent requests of the sync, at most service.in_flight (default: service.in_flight). A sync with a limit of its own runs in one process.',
    ),
  checks: checks.optional(),
};

const INCLUDE = 'allowed is a path or a pattern such as syncs/*.yaml, or a list of them';

/** Keys of the config and of included files. */
const parts = {
  include: z
    .union([z.string(), z.array(z.string())], { error: INCLUDE })
    .optional()
    .describe(
      'Files with more syncs: paths or patterns such as syncs/*.yaml, relative to the folder of the file that contains them. Included files contain syncs, and may include others.',
    ),
  syncs: z.record(z.string(), z.unknown()).optional().describe('Syncs by name: what to request.'),
};

/** The schema of the file. Each sync is checked separately, against its endpoint. */
export const fileSchema = z.strictObject({
  service,
  warehouse,
  budget: budget.optional(),
  prices: prices.optional(),
  alerts: alerts.optional(),
  ...shared,
  defaults: z
    .strictObject(inherited)
    .optional()
    .describe('Keys for every sync that does not set them. A sync with null for a key does without the default.'),
  ...parts,
});

/** The schema of an included file. */
export const includedSchema = z.strictObject(parts);

const words = (text: string) => z.string({ error: text });
const NAMES = 'allowed is a list of names of syncs';

/** One sync without the parts that depend on its endpoint. */
export const syncSchema = z.strictObject({
  endpoint: z.string().describe('Endpoint to request: its path with dots, without /api.'),
  request: z.unknown().optional(),
  for_each: z.unknown().optional(),
  window: z.unknown().optional(),
  split_by: z.unknown().optional(),
  raise_count_to: z
    .int()
    .min(1)
    .optional()
    .describe('Request a full answer again with four times the count, repeatedly, up to this count (default: never).'),
  after: z.array(words(NAMES), { error: NAMES }).optional().describe('Syncs that must run before this one.'),
  ...inherited,
  lookback: duration
    .optional()
    .describe(`${LOG_ENDPOINT} only: how far before its watermark the log is read again (default: 1h).`),
  from: z
    .string()
    .optional()
    .describe(`${LOG_ENDPOINT} only: where the first walk through the log begins (default: the beginning of the log).`),
});

/** The names of the keys that `defaults` may set. */
export const INHERITED: readonly string[] = Object.keys(inherited);
