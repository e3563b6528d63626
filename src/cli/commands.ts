/**
 * Every command of the command line, in the order of the help. What a command takes is loaded when it is named, and what
 * it works with only when it runs: most of a short command's time is loading.
 */
import type { Command, LazyCommand } from './command.ts';

export const commands: readonly LazyCommand[] = [
  {
    name: 'init',
    summary: 'Writes a commented config, .env.example and the editor’s schema.',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'check',
    summary: 'Checks config, inputs, token and warehouse; spends nothing.',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'plan',
    summary: 'Tells what a sync would ask and what it would cost; spends nothing.',
    load: async () => (await import('./commands/plan.ts')).plan,
  },
  {
    name: 'migrate',
    summary: 'Migrates the warehouse’s schema, or tells how it stands.',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'sync',
    summary: 'Runs the syncs of the config, parents first.',
    load: async () => (await import('./commands/sync.ts')).sync,
  },
  {
    name: 'schedule',
    summary: 'Fires syncs by their schedules, and works on them.',
    load: async () => (await import('./commands/schedule.ts')).schedule,
  },
  {
    name: 'worker',
    summary: 'Works on what schedule fires, on as many machines as you like.',
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  {
    name: 'replay',
    summary: 'Loads stored answers again; asks the service nothing.',
    load: async () => (await import('./commands/replay.ts')).replay,
  },
  {
    name: 'status',
    summary: 'Tells last runs, freshness, backlog, rejects and coverage.',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'quarantine',
    summary: 'Lists, shows or loads again what could not be understood.',
    load: async () => (await import('./commands/quarantine.ts')).quarantine,
  },
  {
    name: 'alerts',
    summary: 'Tells which alerts stand, and tries whether they arrive.',
    load: async () => (await import('./commands/alerts.ts')).alerts,
  },
  {
    name: 'costs',
    summary: 'Tells what was paid and for what, what is left, and what to do about it.',
    load: async () => (await import('./commands/costs.ts')).costs,
  },
  {
    name: 'query',
    summary: 'Runs read-only SQL on the warehouse.',
    load: async () => (await import('./commands/query.ts')).query,
  },
  {
    name: 'report',
    summary: 'Writes one HTML page with spend, freshness, coverage and quality.',
    load: async () => (await import('./commands/report.ts')).report,
  },
  {
    name: 'prune',
    summary: 'Drops bodies of old answers, and ledger rows that nothing counts.',
    load: async () => (await import('./commands/prune.ts')).prune,
  },
  {
    name: 'forget',
    summary: 'Removes a person, or another entity, from everything that is kept.',
    load: async () => (await import('./commands/forget.ts')).forget,
  },
  {
    name: 'sandbox',
    summary: 'Runs a local emulator of the service, with faults on request.',
    load: async () => (await import('./commands/sandbox.ts')).sandbox,
  },
  {
    name: 'docs',
    summary: 'Writes the reference and the editor’s schema from the code.',
    load: async () => (await import('./commands/docs.ts')).docs,
  },
  {
    name: 'schema',
    summary: 'Prints the JSON Schema of a config, for editors.',
    load: async () => (await import('./commands/schema.ts')).schema,
  },
  {
    name: 'dbt',
    summary: 'Prints a sources.yml of the warehouse for dbt.',
    load: async () => (await import('./commands/dbt.ts')).dbt,
  },
  {
    name: 'grants',
    summary: 'Prints the SQL for a role that only reads, or applies it.',
    load: async () => (await import('./commands/grants.ts')).grants,
  },
  {
    name: 'completion',
    summary: 'Prints what makes bash, zsh or fish complete command lines.',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'complete',
    summary: 'Tells a shell’s completion what may come next.',
    hidden: true,
    load: async () => (await import('./commands/complete.ts')).complete,
  },
  {
    name: 'start',
    summary: 'Runs the quickstart: every endpoint once, against a sandbox of its own.',
    hidden: true,
    load: async () => (await import('./commands/start.ts')).start,
  },
];

/** All of it, for those who tell of every command. */
export const allCommands = (): Promise<readonly Command[]> => Promise.all(commands.map(loaded));

/** The command with what it takes. */
export const loaded = async ({ load, ...facts }: LazyCommand): Promise<Command> => ({ ...facts, ...(await load()) });
