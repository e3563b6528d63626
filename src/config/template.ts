/** The files that `sluice init` writes: a commented sync file, an example of the environment, what git leaves alone. */
import { LOG_ENDPOINT, type Starter, starters, withNeeds } from './starters.ts';

/** What somebody wants of a first config. */
export interface InitAnswers {
  /** Names of the endpoints to begin with; the others are there as comments. */
  readonly endpoints: readonly string[];
  readonly warehouse: 'embedded' | 'postgres';
  /** Most points that a run may spend. */
  readonly pointsPerRun: number;
}

/** What is taken where nobody says otherwise. */
export const defaultInitAnswers: InitAnswers = {
  endpoints: ['webparser.parse'],
  warehouse: 'embedded',
  pointsPerRun: 100,
};

/**
 * The text of a sync file to begin with; `schemaPath` is where editors find the schema, taken from the file's folder. The
 * budget of a day is that of five runs.
 */
export function configTemplate({ endpoints, warehouse, pointsPerRun }: InitAnswers, schemaPath: string): string {
  const taken = withNeeds(endpoints);
  const live = taken.flatMap((it) => starters[it]?.name ?? []);
  return [
    `# yaml-language-server: $schema=${schemaPath}`,
    HEAD,
    `warehouse:\n  url: ${WAREHOUSE_URL[warehouse]}\n  # schema: sluice                  # the machinery lives in sluice_ops\n`,
    `# Points. What a limit leaves unasked stays planned, and the run ends with exit code 6.`,
    `budget: { per_run: ${pointsPerRun}, per_day: ${pointsPerRun * 5} }\n`,
    LIMITS,
    'syncs:',
    ...Object.entries(starters).map(([endpoint, it]) => `${block(endpoint, it, taken.includes(endpoint))}\n`),
    costs(live),
  ].join('\n');
}

const HEAD = `#
# What Sluice asks, how often and for how much. Next steps:
#   sluice check     is the file right, does the warehouse answer; spends nothing
#   sluice plan      what it would ask, and the most that can cost; spends nothing
#   sluice sync      asks, and loads the answers
#
# \${VAR}, \${VAR:-default} and \${VAR:?message} are filled in from the environment, or from the file that VAR_FILE names.
# A dollar sign itself is written $$.

service:
  url: \${SLUICE_SERVICE_URL:-http://127.0.0.1:8787}
  token: \${SLUICE_SERVICE_TOKEN}    # keep the token itself out of this file
  # in_flight: 4                    # most requests at one time with the token, across every worker
  # requests_per_second: 5
  # retries: 1                      # paid retries of one request after a transient answer
`;

const WAREHOUSE_URL: Readonly<Record<InitAnswers['warehouse'], string>> = {
  embedded: '${DATABASE_URL:-embedded:.sluice}   # beside this file; or postgres://USER@HOST:PORT/DATABASE',
  postgres: '${DATABASE_URL:?set it to postgres://USER:PASSWORD@HOST:5432/DATABASE}',
};

const LIMITS = `# accept: { rejects: 1% }           # more rejected items and inputs than that end a run with exit code 4
# in_doubt: reconcile               # or stop: what may have been paid and lost is listed, not asked again
`;

/** A sync, or the same as a comment: taking the two characters after the indentation away takes it in. */
function block(endpoint: string, { name, lines }: Starter, isLive: boolean): string {
  const inside = [`endpoint: ${endpoint}`, ...lines];
  const mark = isLive ? '  ' : '  # ';
  return [`${mark}${name}:`, ...inside.map((line) => `${mark}  ${line}`)].join('\n');
}

const costs = (
  parents: readonly string[],
): string => `  costs:                            # the service's own log of what was asked, and what it cost
    endpoint: ${LOG_ENDPOINT}
${parents.length === 0 ? '' : `    after: [${parents.join(', ')}]\n`}    lookback: 1h                    # rows of the log change after they start
`;

/** The text of an `.env.example`: the variables that the sync file uses. */
export const envExample = (
  warehouse: InitAnswers['warehouse'],
): string => `# Copy to .env, fill in, and load it with: set -a; . ./.env; set +a
# Each of these may come from a file instead: SLUICE_SERVICE_TOKEN_FILE=/run/secrets/token

# Address of the service; unset, the sandbox on this machine (sluice sandbox).
#SLUICE_SERVICE_URL=https://api.example.com

# The API token. Commands that ask the service nothing need none.
SLUICE_SERVICE_TOKEN=

${
  warehouse === 'embedded'
    ? '# A Postgres database; unset, the embedded warehouse in .sluice/ beside the config.\n#DATABASE_URL=postgres://sluice@localhost:5432/warehouse'
    : '# The Postgres database. Encode characters such as @ / ? # in the password as %40 %2F %3F %23.\nDATABASE_URL='
}
`;

/** What git leaves alone beside a sync file: secrets, and the embedded warehouse. */
export const GITIGNORE = `.env
.sluice/
`;
