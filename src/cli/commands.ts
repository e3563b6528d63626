/**
 * Every command, in the order of the help. The options of a command are loaded when the command line names it, and its
 * other modules when it runs, because loading takes most of the time of a short command.
 */
import type { Command, CommandBody, LazyCommand } from './command.ts';

const SUMMARIES = {
  init: 'Write a commented config, .env.example and the JSON Schema for editors.',
  check: 'Check config, inputs, token and warehouse, at no cost.',
  plan: 'Show what the next sync would request and cost, at no cost.',
  migrate: 'Migrate the schema of the warehouse, or show its status.',
  sync: 'Run the syncs of the config, parents first.',
  schedule: 'Run syncs when their schedules are due.',
  worker: 'Run due syncs and chunks of large syncs; any number of workers can share them.',
  replay: 'Load stored answers again, without requests to the service.',
  status: 'Show last runs, freshness, backlog, rejects and coverage.',
  diff: 'Show which rows are new, changed or gone between two runs.',
  marks: 'Show how far syncs have read, or make a sync read again.',
  promote: 'Draft a column for a field that answers contain and the contract does not.',
  quarantine: 'List, show or reload the items and answers in quarantine.',
  alerts: 'List alerts, or send a test alert.',
  costs: 'Show points spent and their results, the balance and forecast, and advice.',
  query: 'Run read-only SQL on the warehouse.',
  export: 'Write tables to Parquet, CSV or JSON lines files.',
  endpoints: 'List what can be requested, or show the fields of an endpoint.',
  tables: 'List the tables and views, or show the columns of one.',
  describe: 'Show what feeds a table or column, and what an endpoint or sync feeds.',
  mcp: 'Serve the warehouse to AI assistants over the Model Context Protocol.',
  report: 'Write one HTML page with spending, freshness, coverage and quality.',
  ui: 'Serve a local web console about runs, requests, costs and tables.',
  prune: 'Delete the bytes of old answers, and old ledger rows that nothing needs.',
  forget: 'Remove a person or another entity from all stored data.',
  sandbox: 'Run a local emulator of the service, with optional faults.',
  docs: 'Write the reference and the JSON Schema for editors from the code.',
  schema: 'Print the JSON Schema of a config, for editors.',
  dbt: 'Print a sources.yml of the warehouse for dbt.',
  grants: 'Print the SQL that creates a read-only role, or apply it.',
  completion: 'Print a completion script for bash, zsh or fish.',
  complete: 'Print the words that can complete a command line.',
  start: 'Run the quickstart: every endpoint once, against a temporary sandbox.',
} as const;

type Name = keyof typeof SUMMARIES;

/** The commands that the list of commands leaves out. */
const HIDDEN: ReadonlySet<string> = new Set<Name>(['complete', 'start']);

const BODIES: Readonly<Record<Name, () => Promise<CommandBody>>> = {
  init: async () => (await import('./commands/init.ts')).init,
  check: async () => (await import('./commands/check.ts')).check,
  plan: async () => (await import('./commands/plan.ts')).plan,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  sync: async () => (await import('./commands/sync.ts')).sync,
  schedule: async () => (await import('./commands/schedule.ts')).schedule,
  worker: async () => (await import('./commands/worker.ts')).worker,
  replay: async () => (await import('./commands/replay.ts')).replay,
  status: async () => (await import('./commands/status.ts')).status,
  diff: async () => (await import('./commands/diff/diff.ts')).diff,
  marks: async () => (await import('./commands/marks.ts')).marks,
  promote: async () => (await import('./commands/promote/promote.ts')).promote,
  quarantine: async () => (await import('./commands/quarantine.ts')).quarantine,
  alerts: async () => (await import('./commands/alerts.ts')).alerts,
  costs: async () => (await import('./commands/costs.ts')).costs,
  query: async () => (await import('./commands/query.ts')).query,
  export: async () => (await import('./commands/export/export.ts')).exportTables,
  endpoints: async () => (await import('./commands/catalog/endpoints.ts')).endpoints,
  tables: async () => (await import('./commands/catalog/tables.ts')).tables,
  describe: async () => (await import('./commands/catalog/describe.ts')).describe,
  mcp: async () => (await import('./commands/mcp/mcp.ts')).mcp,
  report: async () => (await import('./commands/report.ts')).report,
  ui: async () => (await import('./commands/ui/ui.ts')).ui,
  prune: async () => (await import('./commands/prune.ts')).prune,
  forget: async () => (await import('./commands/forget.ts')).forget,
  sandbox: async () => (await import('./commands/sandbox.ts')).sandbox,
  docs: async () => (await import('./commands/docs.ts')).docs,
  schema: async () => (await import('./commands/schema.ts')).schema,
  dbt: async () => (await import('./commands/dbt.ts')).dbt,
  grants: async () => (await import('./commands/grants.ts')).grants,
  completion: async () => (await import('./commands/completion.ts')).completion,
  complete: async () => (await import('./commands/complete.ts')).complete,
  start: async () => (await import('./commands/start.ts')).start,
};

export const commands: readonly LazyCommand[] = (Object.keys(SUMMARIES) as Name[]).map((name) => ({
  name,
  summary: SUMMARIES[name],
  hidden: HIDDEN.has(name),
  load: BODIES[name],
}));

/** Every command with its options, for the reference and the completion. */
export const allCommands = (): Promise<readonly Command[]> => Promise.all(commands.map(loaded));

/** The command with its options, examples and `run`. */
export const loaded = async ({ load, ...facts }: LazyCommand): Promise<Command> => ({ ...facts, ...(await load()) });
