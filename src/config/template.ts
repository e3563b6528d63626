/** The files that `sluice init` writes: a commented sync file, an example of the environment, what git leaves alone. */

/** The text of a sync file to begin with; `schemaPath` is where editors find the schema, taken from the file's folder. */
export const configTemplate = (schemaPath: string): string => `# yaml-language-server: $schema=${schemaPath}
#
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

warehouse:
  url: \${DATABASE_URL:-embedded:.sluice}   # or postgres://USER@HOST:PORT/DATABASE
  # schema: sluice                  # the machinery lives in sluice_ops

# Points. What a limit leaves unasked stays planned, and the run ends with exit code 6.
budget: { per_run: 100, per_day: 500 }

# accept: { rejects: 1% }           # more rejected items and inputs than that end a run with exit code 4
# in_doubt: reconcile               # or stop: what may have been paid and lost is listed, not asked again

syncs:
  pages:
    endpoint: webparser.parse
    for_each:
      url: ["https://site-1.example/", "https://site-1.example/about"]
      # url: { file: urls.csv, column: url }
    request: { extract_contacts: true }
    max_age: 7d                     # what was asked within this time is not bought again

  # people:
  #   endpoint: pronet.search.users
  #   request: { title: data engineer, count: 100 }
  #   split_by: { location: [Berlin, Paris], industry: top_level }   # used only when an answer is full
  #   max_age: 7d

  # schools:
  #   endpoint: pronet.user.education
  #   after: [people]               # parents run first
  #   for_each:
  #     urn: { query: "select urn_type as type, urn_value as value from sluice.pronet_users where open_to_work" }
  #   request: { count: 100 }
  #   max_age: 30d

  # filings:
  #   endpoint: sec.search.companies
  #   schedule: { cron: "15 6 * * 1-5", timezone: America/New_York }
  #   for_each: { entity_name: [AAPL, MSFT] }
  #   request: { forms: [10-K, 10-Q], count: 100 }
  #   window: { from: 2024-01-01, to: today, lookback: 7d }          # cut when an answer is full

  costs:                            # the service's own log of what was asked, and what it cost
    endpoint: token.requests
    after: [pages]
    lookback: 1h                    # rows of the log change after they start
`;

/** The text of an `.env.example`: the variables that the sync file uses. */
export const ENV_EXAMPLE = `# Copy to .env, fill in, and load it with: set -a; . ./.env; set +a
# Each of these may come from a file instead: SLUICE_SERVICE_TOKEN_FILE=/run/secrets/token

# Address of the service; unset, the sandbox on this machine (sluice sandbox).
#SLUICE_SERVICE_URL=https://api.example.com

# The API token. Commands that ask the service nothing need none.
SLUICE_SERVICE_TOKEN=

# A Postgres database; unset, the embedded warehouse in .sluice/.
#DATABASE_URL=postgres://sluice@localhost:5432/warehouse
`;

/** What git leaves alone beside a sync file: secrets, and the embedded warehouse. */
export const GITIGNORE = `.env
.sluice/
`;
