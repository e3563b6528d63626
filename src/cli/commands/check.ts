/** `sluice check`: checks at no cost that config, inputs, token, warehouse and schema are ready for a run. */
import { dirname, join } from 'node:path';
import type { Config } from '../../config/definition.ts';
import { EXIT, SchemaError, SluiceError } from '../../errors.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { clockWarning } from '../../warehouse/connect/clock.ts';
import type { SchemaFinding } from '../../warehouse/migrate/finding.ts';
import type { MigrationStatus } from '../../warehouse/migrate/migrate.ts';
import { command, configOption } from '../command.ts';
import type { Context } from '../context.ts';
import type { Channel } from '../terminal/channel.ts';
import { hasEmbedded, requireToken, requireUsable, readConfig, withWarehouseToRead } from '../open.ts';
import { withNoun, paint } from '../terminal/print.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { show } from '../terminal/show.ts';
import { withRetryable } from '../exit-codes.ts';

export const check = command({
  about:
    'Check that the config is valid, that its inputs can be read, and that there is a token of printable ASCII characters without spaces. ' +
    'Check that the warehouse answers, that its schema is the declared one, that the queries of for_each return columns that their endpoints accept, and that the SQL of checks can run. ' +
    'No request goes to the service. If checks fail, the exit code is the first of 2, 3, 8, 7 and 5 that one of them failed with.',
  options: configOption,
  positionals: {},
  examples: [{ line: 'sluice check', about: 'Check before the first sync, and after each change of the config.' }],
  run: async ({ config: flag }, context) => {
    const checks: Check[] = [];
    const warnings: string[] = [];
    try {
      const config = await readConfig(context, flag);
      requireUsable(config, ['service.url', 'service.token', 'alerts.webhook']);
      warnings.push(...config.warnings);
      checks.push(passed('config', `${config.file}: ${withNoun(config.syncs.length, 'sync')}`));
      await checkAll({ checks, warnings }, config, context);
    } catch (error) {
      checks.push(failed('config', error));
    }
    const exitCode = ORDER.find((code) => checks.some((it) => it.exitCode === code)) ?? EXIT.complete;
    const result = { ok: exitCode === EXIT.complete, exitCode, checks: checks.map(withRetryable), warnings };
    show(context, 'check/1', withRetryable(result), () =>
      [...checks.map((it) => lineOf(it, context.out)), ...warnings.map((it) => warningLine(it, context.out))].join(''),
    );
    return exitCode;
  },
});

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly exitCode: number;
  readonly message: string;
  readonly next: string | null;
}

const ORDER: readonly number[] = [EXIT.usage, EXIT.credential, EXIT.schema, EXIT.held, EXIT.transient];

const passed = (name: string, message: string): Check => ({
  name,
  ok: true,
  exitCode: EXIT.complete,
  message,
  next: null,
});

/** A check that failed with this error. Throws the error again if it is a bug. */
function failed(name: string, error: unknown): Check {
  if (!(error instanceof SluiceError)) throw error;
  return { name, ok: false, exitCode: error.exitCode, message: error.message, next: error.next ?? null };
}

/** A check that passes with the text that the work returns, and fails with its error. Throws an error that is a bug. */
async function checkThat(name: string, work: () => string | Promise<string>): Promise<Check> {
  try {
    return passed(name, await work());
  } catch (error) {
    return failed(name, error);
  }
}

interface Findings {
  readonly checks: Check[];
  readonly warnings: string[];
}

async function checkAll({ checks, warnings }: Findings, config: Config, context: Context): Promise<void> {
  checks.push(await checkThat('inputs', () => readInputs(config)), await checkThat('token', () => readToken(config)));
  try {
    await withWarehouseToRead(context, config, async (warehouse) => {
      checks.push(passed('warehouse', `reached ${warehouse.place}`));
      const apart = clockWarning(warehouse.clock);
      if (apart !== undefined) warnings.push(apart);
      if (warehouse.kind === 'postgres' && (await isSuperuser(warehouse))) warnings.push(SUPERUSER);
      const { migrationStatus } = await import('../../warehouse/migrate/migrate.ts');
      const status = await migrationStatus(warehouse);
      const embedded = join(dirname(config.file), '.sluice');
      if (warehouse.kind === 'postgres' && status.state === 'empty' && hasEmbedded(embedded))
        warnings.push(boughtBefore(embedded));
      const schema = await checkThat('schema', () => compareSchema(warehouse, status));
      checks.push(schema, ...(await checkStatementsOf(warehouse, config, status.state)));
      if (schema.ok && status.state === 'current') checks.push(...(await checkRows(warehouse)));
    });
  } catch (error) {
    const { toUserError } = await import('../../warehouse/connect/retry-transient.ts');
    // A database that answers can still refuse to let this user read the schema.
    const name = checks.some((it) => it.name === 'warehouse') ? 'schema' : 'warehouse';
    checks.push(failed(name, toUserError(error)));
  }
}

/** The warning about the embedded warehouse in the default folder, if the warehouse on the server is empty. */
const boughtBefore = (folder: string): string =>
  `the warehouse is empty, and ${folder} has an embedded one; sluice migrate --from ${shellWord(folder)} copies it, so that nothing is bought again`;

const SUPERUSER =
  'the database user is a superuser, who can read and write files of the server; connect as a role that only owns the two schemas';

async function isSuperuser(warehouse: Warehouse): Promise<boolean> {
  const { readOnlyQuery } = await import('../../warehouse/connect/query.ts');
  const { rows } = await readOnlyQuery(
    warehouse,
    'select rolsuper as is_super from pg_catalog.pg_roles where rolname = session_user',
  );
  return rows[0]?.['is_super'] === true;
}

async function readInputs({ syncs }: Config): Promise<string> {
  const [{ openInputs }, { inputFiles }] = await Promise.all([
    import('../../plan/inputs.ts'),
    import('../../plan/input-files.ts'),
  ]);
  const effects = { readFile: inputFiles(), query: () => Promise.resolve([]) };
  let count = 0;
  for (const sync of syncs) {
    const inputs = await openInputs(sync, effects);
    for await (const block of inputs.blocks()) count += block.length;
  }
  return `${withNoun(count, 'input')} in lists and files; queries are run when a sync is planned`;
}

function readToken(config: Config): string {
  requireToken(config);
  return 'present, printable, without spaces; the first request shows whether the service accepts it';
}

/** True if sync and plan migrate a schema in this state; a schema on a server that is in use needs `sluice migrate`. */
const isUpdatedByPlan = ({ kind }: Warehouse, state: MigrationStatus['state']): boolean =>
  state === 'empty' || (state === 'older' && kind === 'embedded');

/** Returns how the schema is the declared one. Throws a SchemaError if it is not. */
async function compareSchema(warehouse: Warehouse, status: MigrationStatus): Promise<string> {
  const { missingRight, unknownMigrations } = await import('../../warehouse/migrate/migrate.ts');
  const { state, steps } = status;
  const waiting = steps.filter(({ appliedAt }) => appliedAt === null).map(({ name }) => name);
  const refusal = state === 'empty' ? await missingRight(warehouse) : unknownMigrations(status, warehouse.schema);
  if (refusal) throw refusal;
  if (isUpdatedByPlan(warehouse, state)) return `${state}; the next sync brings it up to date`;
  if (state === 'older')
    throw new SchemaError(`older: it lacks ${waiting.join(', ') || 'views of this version'}`, {
      next: 'Run sluice migrate.',
    });
  const { schemaDrift } = await import('../../warehouse/migrate/drift.ts');
  const drift = await schemaDrift(warehouse);
  if (drift.length > 0) throw new SchemaError(driftText(drift), { next: nextAfter(drift) });
  return `current, ${withNoun(steps.length, 'migration')}, and equal to the declared one`;
}

/** Checks the queries of `for_each` and the SQL of checks, if the tables that they read exist. */
async function checkStatementsOf(
  warehouse: Warehouse,
  { syncs }: Config,
  state: MigrationStatus['state'],
): Promise<Check[]> {
  const [{ checkQueries, queriesOf }, { checkStatements, sqlChecksOf }] = await Promise.all([
    import('../../flow/queries/check-queries.ts'),
    import('../../flow/checks/check-statements.ts'),
  ]);
  const inputs = syncs.flatMap(queriesOf).length;
  const statements = syncs.flatMap(sqlChecksOf).length;
  const count = inputs + statements;
  if (count === 0) return [];
  const queries = count === 1 ? '1 query' : `${count} queries`;
  // A plan checks only the queries that it runs.
  const byPlan =
    statements === 0
      ? 'sluice plan updates it and checks them, at no cost'
      : 'sluice plan updates it, at no cost; then run sluice check again';
  const remedy = isUpdatedByPlan(warehouse, state) ? byPlan : 'bring it up to date, and run sluice check again';
  if (state !== 'current')
    return [passed('queries', `${queries} not checked, because the schema is not current; ${remedy}`)];
  const checkNamed = (message: string, work: () => Promise<void>): Promise<Check> =>
    checkThat('queries', () => work().then(() => message));
  const columns = `all columns of ${withNoun(inputs, 'query', 'queries')} of for_each are accepted by their endpoints`;
  const runnable = `${withNoun(statements, 'query', 'queries')} of checks can run`;
  return [
    ...(inputs > 0 ? [await checkNamed(columns, () => checkQueries(warehouse, syncs))] : []),
    ...(statements > 0 ? [await checkNamed(runnable, () => checkStatements(warehouse, syncs))] : []),
  ];
}

/** Reports rows that were deleted by hand. They are no error, but they stay missing while their answers are fresh. */
async function checkRows(warehouse: Warehouse): Promise<Check[]> {
  // Without answers, the modules that read them are not loaded.
  const any = await operationsOf(warehouse).selectFrom('answers').select('id').limit(1).executeTakeFirst();
  if (!any) return [];
  const [{ deletedRows }, { deletedRowsText }] = await Promise.all([
    import('../../flow/replay/deleted-rows.ts'),
    import('../../text/deleted-rows.ts'),
  ]);
  return (await deletedRows(warehouse)).map((deleted) => passed('rows', deletedRowsText(deleted)));
}

/** An update of Sluice can change comments, so a difference of comments alone is no manual change. */
function nextAfter(drift: readonly SchemaFinding[]): string {
  if (drift.every(({ isFixedByMigrate }) => isFixedByMigrate)) return 'Run sluice migrate.';
  return 'Revert the manual changes of the schema; the data is safe.';
}

/** The greatest number of differences that is listed. */
const SHOWN = 20;

function driftText(drift: readonly SchemaFinding[]): string {
  const more = drift.length - SHOWN;
  const shown = drift.slice(0, SHOWN).map(({ schema, relation, message }) => `${schema}.${relation}: ${message}`);
  return [
    `not as declared in ${withNoun(drift.length, 'place')}`,
    ...shown,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('\n');
}

const warningLine = (warning: string, channel: Channel): string =>
  `${paint(channel, 'yellow', 'warn  ')}  ${escapeControls(warning)}\n`;

function lineOf({ name, ok, message, next }: Check, channel: Channel): string {
  const mark = ok ? paint(channel, 'green', 'ok    ') : paint(channel, 'red', 'failed');
  const text = next === null ? message : `${message}\n${next}`;
  return `${mark}  ${name}: ${text.split('\n').map(escapeControls).join('\n        ')}\n`;
}
