/** Opens the config and its warehouse, which most commands need, and checks for a token and usable settings before. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Config } from '../config/definition.ts';
import type { OptionalSetting } from '../config/optional.ts';
import { embeddedFolder, isEmbedded } from '../config/values/paths.ts';
import { UsageError, CredentialError } from '../errors.ts';
import { passwordsIn } from '../telemetry/redact-secrets.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { ReadService } from '../warehouse/read-server/server.ts';
import type { Context } from './context.ts';
import { packageFolder } from './package.ts';

/**
 * The config that the flag, the environment or the working directory names. Its secrets are redacted from now on. Throws a
 * UsageError if it is not valid, also if a check names a column that is not declared or one of the needed settings has no
 * value.
 */
export async function readConfig(
  context: Context,
  flag: string | undefined,
  needed: readonly OptionalSetting[] = ['warehouse.url'],
): Promise<Config> {
  const [{ configPath }, { loadConfig }] = await Promise.all([
    import('../config/find.ts'),
    import('../config/load.ts'),
  ]);
  const config = await loadConfig(configPath(flag, context.env, existsSync), context.env);
  registerSecrets(context, config);
  requireUsable(config, needed);
  await assertColumns(config);
  context.log.debug('config', { file: config.file });
  return config;
}

/** Checks the columns that checks name. Only such checks need the declarations of the tables. */
async function assertColumns({ syncs }: Config): Promise<void> {
  if (!syncs.some(({ checks = [] }) => checks.some(({ rule }) => rule.kind === 'nulls'))) return;
  const { assertCheckColumns } = await import('../flow/checks/nulls.ts');
  assertCheckColumns(syncs);
}

/** Redacts the secrets of a config in all later output. */
export function registerSecrets({ redactor }: Context, { service, warehouse, alerts }: Config): void {
  const secrets = [service.token?.reveal(), ...passwordsIn(warehouse.url.reveal()), alerts?.webhook?.reveal()];
  for (const secret of secrets) {
    if (secret !== undefined) redactor.add(secret);
  }
}

type Work<T> = (warehouse: Warehouse) => Promise<T>;

/**
 * The result of the work on the open warehouse, which is closed afterwards, also after an error. While the work runs,
 * other processes can read an embedded warehouse through this process.
 */
export const withWarehouse = <T>(context: Context, config: Config, work: Work<T>): Promise<T> =>
  withOpen(context, config, false, async (warehouse) => {
    const reads = await servedReads(context, warehouse);
    try {
      return await work(warehouse);
    } finally {
      await reads?.close();
    }
  });

/** The same for work that only reads. If another process owns an embedded warehouse, the work reads through that process. */
export const withWarehouseToRead = <T>(context: Context, config: Config, work: Work<T>): Promise<T> =>
  withOpen(context, config, true, work);

/**
 * The same for work that reads and may create the schema of an empty warehouse. On a server, a role whose transactions are
 * read-only can do it if the schema exists.
 */
export const withWarehouseToPlan = <T>(context: Context, config: Config, work: Work<T>): Promise<T> =>
  isEmbedded(config.warehouse.url.reveal())
    ? withWarehouse(context, config, work)
    : withWarehouseToRead(context, config, work);

async function withOpen<T>(
  context: Context,
  { file, warehouse: settings }: Config,
  isReadOnly: boolean,
  work: Work<T>,
): Promise<T> {
  const { openWarehouse } = await import('../warehouse/connect/connect.ts');
  refuseFormerFolder(context, settings, file);
  const opened = await openWarehouse(settings, { ...context, command: `sluice ${context.command}`, isReadOnly });
  const warehouse = context.keepsSchema === true ? { ...opened, keepsSchema: true } : opened;
  const level = warehouse.kind === 'embedded' && !isReadOnly ? 'info' : 'debug';
  context.log[level]('warehouse', { kind: warehouse.kind, place: warehouse.place, schema: warehouse.schema });
  try {
    return await work(warehouse);
  } catch (error) {
    // The error of a canceled statement.
    if (isReadOnly) context.signal.throwIfAborted();
    throw error;
  } finally {
    await warehouse.close();
  }
}

/**
 * Throws a UsageError if the warehouse is not where this version expects it, but where earlier versions put it. Those
 * resolved a relative folder against the working directory, and a new warehouse would buy everything again. In a checkout,
 * or in a working directory with its own config, the warehouse belongs to the quickstart or to that config.
 */
function refuseFormerFolder({ cwd }: Context, { url, relative }: Config['warehouse'], file: string): void {
  const folder = embeddedFolder(url.reveal());
  if (relative === undefined || folder === undefined || existsSync(folder)) return;
  if (existsSync(join(cwd, 'sluice.yaml')) || resolve(cwd) === packageFolder()) return;
  // The config of the quickstart named the folder without its parent.
  const former = [relative, basename(relative)].map((it) => resolve(cwd, it)).find(hasEmbedded);
  if (former === undefined) return;
  throw new UsageError(`There is no embedded warehouse in ${folder}, but there is one in ${former}.`, {
    next: `Relative paths are relative to the folder of ${file}, and no longer to the working directory. To keep the data: mv ${former} ${folder}, or set DATABASE_URL=embedded:${former}. To start with an empty warehouse: mkdir ${folder}`,
  });
}

/** True if the folder has an embedded warehouse. */
export const hasEmbedded = (folder: string): boolean => existsSync(join(folder, 'data'));

async function servedReads({ sleep }: Context, warehouse: Warehouse): Promise<ReadService | undefined> {
  if (warehouse.kind !== 'embedded' || warehouse.place === 'memory') return undefined;
  const { serveReads } = await import('../warehouse/read-server/server.ts');
  return serveReads(warehouse, warehouse.place, { sleep });
}

/**
 * True if the warehouse has the schema of this version; false if it is empty. Migrates an older schema of an embedded
 * warehouse. Throws a SchemaError for an older schema on a server, and for any newer schema.
 */
export async function hasSchema(warehouse: Warehouse): Promise<boolean> {
  const { ensureSchema, migrationStatus } = await import('../warehouse/migrate/migrate.ts');
  if ((await migrationStatus(warehouse)).state === 'empty') return false;
  await ensureSchema(warehouse);
  return true;
}

/** Throws a ConfigError if the variable of one of these settings has no valid value. */
export function requireUsable({ unusable }: Config, settings: readonly OptionalSetting[]): void {
  if (unusable?.settings.some((setting) => settings.includes(setting))) throw unusable.error;
}

/**
 * Throws a CredentialError if the config has no token. Throws a ConfigError if the variable of the token or of the address
 * has no valid value, or that of the webhook, because commands that send requests also send alerts.
 */
export function requireToken(config: Config): void {
  requireUsable(config, ['service.url', 'service.token', 'alerts.webhook']);
  const { file, service } = config;
  if (service.token) return;
  throw new CredentialError(`no token: service.token of ${file} is empty`, {
    next:
      'Set the variable in service.token (SLUICE_SERVICE_TOKEN in the shipped configs) to an API token of the service, ' +
      'or SLUICE_SERVICE_TOKEN_FILE to a file with the token.',
  });
}
