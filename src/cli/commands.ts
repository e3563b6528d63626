/**
 * Every command, in the order of the help. The options of a command are loaded when the command line names it, and its
 * other modules when it runs, because loading takes most of the time of a short command.
 */
import type { Command, LazyCommand } from './command.ts';

export const commands: readonly LazyCommand[] = [
  {
    name: 'init',
    summary: 'Write a commented config, .env.example and the JSON Schema for editors.',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'check',
    summary: 'Check config, inputs, token and warehouse, at no cost.',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'plan',
    summary: 'Show what the next sync would request and cost, at no cost.',
    load: async () => (await import('./commands/plan.ts')).plan,
  },
  {
    name: 'migrate',
    summary: 'Migrate the schema of the warehouse, or show its status.',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'sync',
    summary: 'Run the syncs of the config, parents first.',
    load: async () => (await import('./commands/sync.ts')).sync,
  },
  {
    name: 'schedule',
    summary: 'Run syncs when their schedules are due.',
    load: async () => (await import('./commands/schedule.ts')).schedule,
  },
  {
    name: 'worker',
    summary: 'Run due syncs and chunks of large syncs; any number of workers can share them.',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  {
    name: 'replay',
    summary: 'Load stored answers again, without requests to the service.',
    load: async () => (await import('./commands/replay.ts')).replay,
  },
  {
    name: 'status',
    summary: 'Show last runs, freshness, backlog, rejects and coverage.',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'diff',
    summary: 'Show which rows are new, changed or gone between two runs.',
    load: async () => (await import('./commands/diff/diff.ts')).diff,
  },
  {
    name: 'marks',
    summary: 'Show how far syncs have read, or make a sync read again.',
    load: async () => (await import('./commands/marks.ts')).marks,
  },
  {
    name: 'promote',
    summary: 'Draft a column for a field that answers contain and the contract does not.',
    load: async () => (await import('./commands/promote/promote.ts')).promote,
  },
  {
    name: 'quarantine',
    summary: 'List, show or reload the items and answers in quarantine.',
    load: async () => (await import('./commands/quarantine.ts')).quarantine,
  },
  {
    name: 'alerts',
    summary: 'List alerts, or send a test alert.',
    load: async () => (await import('./commands/alerts.ts')).alerts,
  },
  {
    name: 'costs',
    summary: 'Show points spent and their results, the balance and forecast, and advice.',
    load: async () => (await import('./commands/costs.ts')).costs,
  },
  {
    name: 'query',
    summary: 'Run read-only SQL on the warehouse.',
    load: async () => (await import('./commands/query.ts')).query,
  },
  {
    name: 'export',
    summary: 'Write tables to Parquet, CSV or JSON lines files.',
    load: async () => (await import('./commands/export/export.ts')).exportTables,
  },
  {
    name: 'endpoints',
    summary: 'List what can be requested, or show the fields of an endpoint.',
    load: async () => (await import('./commands/catalog/endpoints.ts')).endpoints,
  },
  {
    name: 'tables',
    summary: 'List the tables and views, or show the columns of one.',
    load: async () => (await import('./commands/catalog/tables.ts')).tables,
  },
  {
    name: 'describe',
    summary: 'Show what feeds a table or column, and what an endpoint or sync feeds.',
    load: async () => (await import('./commands/catalog/describe.ts')).describe,
  },
  {
    name: 'mcp',
    summary: 'Serve the warehouse to AI assistants over the Model Context Protocol.',
    load: async () => (await import('./commands/mcp/mcp.ts')).mcp,
  },
  {
    name: 'report',
    summary: 'Write one HTML page with spending, freshness, coverage and quality.',
    load: async () => (await import('./commands/report.ts')).report,
  },
  {
    name: 'ui',
    summary: 'Serve a local web console about runs, requests, costs and tables.',
    load: async () => (await import('./commands/ui/ui.ts')).ui,
  },
  {
    name: 'prune',
    summary: 'Delete the bytes of old answers, and old ledger rows that nothing needs.',
    load: async () => (await import('./commands/prune.ts')).prune,
  },
  {
    name: 'forget',
    summary: 'Remove a person or another entity from all stored data.',
    load: async () => (await import('./commands/forget.ts')).forget,
  },
  {
    name: 'sandbox',
    summary: 'Run a local emulator of the service, with optional faults.',
    load: async () => (await import('./commands/sandbox.ts')).sandbox,
  },
  {
    name: 'docs',
    summary: 'Write the reference and the JSON Schema for editors from the code.',
    load: async () => (await import('./commands/docs.ts')).docs,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a config, for editors.',
    load: async () => (await import('./commands/schema.ts')).schema,
  },
  {
    name: 'dbt',
    summary: 'Print a sources.yml of the warehouse for dbt.',
    load: async () => (await import('./commands/dbt.ts')).dbt,
  },
  {
    name: 'grants',
    summary: 'Print the SQL that creates a read-only role, or apply it.',
    load: async () => (await import('./commands/grants.ts')).grants,
  },
  {
    name: 'completion',
    summary: 'Print a completion script for bash, zsh or fish.',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'complete',
    summary: 'Print the words that can complete a command line.',
    hidden: true,
    load: async () => (await import('./commands/complete.ts')).complete,
  },
  {
    name: 'start',
    summary: 'Run the quickstart: every endpoint once, against a temporary sandbox.',
    hidden: true,
    load: async () => (await import('./commands/start.ts')).start,
  },
];

/** Every command with its options, for the reference and the completion. */
export const allCommands = (): Promise<readonly Command[]> => Promise.all(commands.map(loaded));

/** The command with its options, examples and `run`. */
export const loaded = async ({ load, ...facts }: LazyCommand): Promise<Command> => ({ ...facts, ...(await load()) });
