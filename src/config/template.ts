/** The files that `sluice init` writes: a commented sync file, an example of the environment, and a .gitignore. */
import { DEFAULT_ENDPOINT, type Starter, starters, withNeeds } from './starters.ts';
import { LOG_ENDPOINT } from '../service/request-log/request-log.ts';

/** The user's choices for a first config. */
export interface InitAnswers {
  /** Names of the endpoints to sync. The file contains the others as comments. */
  readonly endpoints: readonly string[];
  readonly warehouse: 'embedded' | 'postgres';
  /** Limit of points that a run may spend. */
  readonly pointsPerRun: number;
}

/** The choices if the user makes none. */
export const defaultInitAnswers: InitAnswers = {
  endpoints: [DEFAULT_ENDPOINT],
  warehouse: 'embedded',
  pointsPerRun: 100,
};

/**
 * The text of a first sync file. `schemaPath` is the path of the editor schema, relative to the file's folder. The
 * daily budget is that of five runs.
 */
export function configTemplate({ endpoints, warehouse, pointsPerRun }: InitAnswers, schemaPath: string): string {
  const taken = withNeeds(endpoints);
  const live = taken.flatMap((it) => starters[it]?.name ?? []);
  return [
    `# yaml-language-server: $schema=${schemaPath}`,
    HEAD,
    `warehouse:\n  url: ${WAREHOUSE_URL[warehouse]}\n  # schema: sluice                  # operations tables are in sluice_ops\n`,
    `# Limits in points. When a limit is reached, the rest stays planned and the run ends with exit code 6.`,
    `budget: { per_run: ${pointsPerRun}, per_day: ${pointsPerRun * 5} }\n`,
    DEFAULTS,
    'syncs:',
    ...Object.entries(starters).map(([endpoint, it]) => `${block(endpoint, it, taken.includes(endpoint))}\n`),
    costs(live),
  ].join('\n');
}

const HEAD = `#
# What Sluice requests, how often and within which budget. Next steps:
#   sluice check     checks this file and the connection to the warehouse; spends nothing
#   sluice plan      shows the requests and their maximum cost; spends nothing
#   sluice sync      sends the requests and loads the answers
#
# \${VAR}, \${VAR:-default} and \${VAR:?message} are read from the environment, or from the file that VAR_FILE names.
# Write a literal dollar sign as $$.

service:
  url: \${SLUICE_SERVICE_URL:-http://127.0.0.1:8787}
  token: \${SLUICE_SERVICE_TOKEN}    # keep the token itself out of this file
  # in_flight: 4                    # concurrent requests with the token, across all workers
  # requests_per_second: 5
  # retries: 1                      # paid retries of one request after a transient error
`;

const WAREHOUSE_URL: Readonly<Record<InitAnswers['warehouse'], string>> = {
  embedded: '${DATABASE_URL:-embedded:.sluice}   # in the folder of this file; or postgres://USER@HOST:PORT/DATABASE',
  postgres: '${DATABASE_URL:?set it to postgres://USER:PASSWORD@HOST:5432/DATABASE}',
};

const DEFAULTS = `# defaults:                         # for every sync that does not set them
#   accept: { rejects: 1% }         # a larger share of rejected items and inputs gives exit code 4
#   in_doubt: reconcile             # or stop: list requests whose answers were lost, and do not send them again
#   checks: [{ fresh: 2d }]         # what must be true of the data after each run; a failure gives exit code 4

# More syncs can be in other files, with include: [syncs/*.yaml].
`;

/** A sync, or the same as a comment. Removing the two characters after the indentation activates it. */
function block(endpoint: string, { name, lines }: Starter, isLive: boolean): string {
  const inside = [`endpoint: ${endpoint}`, ...lines];
  const prefix = isLive ? '  ' : '  # ';
  return [`${prefix}${name}:`, ...inside.map((line) => `${prefix}  ${line}`)].join('\n');
}

const costs = (
  parents: readonly string[],
): string => `  costs:                            # the service's log of requests and their costs
    endpoint: ${LOG_ENDPOINT}
${parents.length === 0 ? '' : `    after: [${parents.join(', ')}]\n`}    lookback: 1h                    # rows of the log change after their requests start
`;

/** A small config with a sync of the endpoint, and with the syncs that provide its inputs. */
export function exampleConfig(endpoint: string): string {
  const blocks = withNeeds([endpoint]).flatMap((it) => {
    const starter = starters[it];
    return starter ? block(it, { ...starter, lines: starter.lines.filter((line) => !isComment(line)) }, true) : [];
  });
  return `${['syncs:', ...(blocks.length > 0 ? blocks : [costs([]).trimEnd()])].join('\n')}\n`;
}

const isComment = (line: string): boolean => line.trimStart().startsWith('#');

/** The text of an `.env.example`: the variables that the sync file uses. */
export const envExample = (
  warehouse: InitAnswers['warehouse'],
): string => `# Copy to .env, fill in, and name it: sluice sync --env-file .env
# For other programs, load it with: set -a; . ./.env; set +a
# Each variable can be read from a file instead: SLUICE_SERVICE_TOKEN_FILE=/run/secrets/token

# Address of the service (default: the sandbox on this machine, see sluice sandbox).
#SLUICE_SERVICE_URL=https://api.example.com

# The API token. Only commands that send requests need it.
SLUICE_SERVICE_TOKEN=

${
  warehouse === 'embedded'
    ? '# A Postgres database (default: the embedded warehouse in .sluice/ in the folder of the config).\n#DATABASE_URL=postgres://sluice@localhost:5432/warehouse'
    : '# The Postgres database. Encode characters such as @ / ? # in the password as %40 %2F %3F %23.\nDATABASE_URL='
}
`;

/** The .gitignore for the folder of a sync file: it excludes secrets and the embedded warehouse. */
export const GITIGNORE = `.env
.sluice/
`;
