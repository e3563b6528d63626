/** Opens what most commands work with: the config, and the warehouse that it names. */
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Config } from '../config/definition.ts';
import { embeddedFolder } from '../config/values/paths.ts';
import { UsageError } from '../errors.ts';
import { passwordOf } from '../telemetry/redact-secrets.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { ReadService } from '../warehouse/read-server/server.ts';
import type { Context } from './context.ts';
import { packageFolder } from './package.ts';

/** The config that the flag, the environment or the folder names; its secrets are kept out of what is told from now on. */
export async function readConfig(context: Context, flag: string | undefined): Promise<Config> {
  const [{ configPath }, { loadConfig }] = await Promise.all([
    import('../config/find.ts'),
    import('../config/load.ts'),
  ]);
  const config = await loadConfig(configPath(flag, context.env, existsSync), context.env);
  registerSecrets(context, config);
  context.log.debug('config', { file: config.file });
  return config;
}

/** Keeps the secrets of a config out of what is told. */
export function registerSecrets({ redactor }: Context, { service, warehouse, alerts }: Config): void {
  const secrets = [service.token?.reveal(), passwordOf(warehouse.url.reveal()), alerts?.webhook?.reveal()];
  for (const secret of secrets) {
    if (secret !== undefined) redactor.add(secret);
  }
}

type Work<T> = (warehouse: Warehouse) => Promise<T>;

/**
 * What the work gives; the warehouse is closed after it, also when it fails. Meanwhile others may read an embedded one
 * through this process.
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

/** The same for work that only reads: it goes through the process that has an embedded warehouse, if there is one. */
export const withWarehouseToRead = <T>(context: Context, config: Config, work: Work<T>): Promise<T> =>
  withOpen(context, config, true, work);

async function withOpen<T>(
  context: Context,
  { file, warehouse: settings }: Config,
  isReadOnly: boolean,
  work: Work<T>,
): Promise<T> {
  const { openWarehouse } = await import('../warehouse/connect/connect.ts');
  refuseFormerFolder(context, settings, file);
  const warehouse = await openWarehouse(settings, { ...context, command: `sluice ${context.command}`, isReadOnly });
  const level = warehouse.kind === 'embedded' && !isReadOnly ? 'info' : 'debug';
  context.log[level]('warehouse', { kind: warehouse.kind, place: warehouse.place, schema: warehouse.schema });
  try {
    return await work(warehouse);
  } finally {
    await warehouse.close();
  }
}

/**
 * Earlier versions took a relative folder from the working folder. Throws a UsageError where a warehouse is there and
 * none beside the config: a new one would buy everything again. A working folder with a config of its own, and the
 * checkout, has the warehouse of that config or of the quickstart.
 */
function refuseFormerFolder({ cwd }: Context, { url, relative }: Config['warehouse'], file: string): void {
  const folder = embeddedFolder(url.reveal());
  if (relative === undefined || folder === undefined || existsSync(folder)) return;
  if (existsSync(join(cwd, 'sluice.yaml')) || resolve(cwd) === packageFolder()) return;
  // The quickstart's folder was written without the parent folder.
  const former = [relative, basename(relative)]
    .map((it) => resolve(cwd, it))
    .find((it) => existsSync(join(it, 'data')));
  if (former === undefined) return;
  throw new UsageError(`There is no embedded warehouse in ${folder}, but there is one in ${former}.`, {
    next: `Relative paths are relative to the folder of ${file}, no longer to the working folder. Keep the data: mv ${former} ${folder}, or set DATABASE_URL=embedded:${former}. Begin with an empty warehouse: mkdir ${folder}`,
  });
}

async function servedReads({ sleep }: Context, warehouse: Warehouse): Promise<ReadService | undefined> {
  if (warehouse.kind !== 'embedded' || warehouse.place === 'memory') return undefined;
  const { serveReads } = await import('../warehouse/read-server/server.ts');
  return serveReads(warehouse, warehouse.place, { sleep });
}

/**
 * True when the warehouse holds the schema of this version; false when nothing was ever put there. Throws a SchemaError
 * for a server's schema that is older, and for any that is newer; an embedded one is migrated.
 */
export async function hasSchema(warehouse: Warehouse): Promise<boolean> {
  const { ensureSchema, migrationStatus } = await import('../warehouse/migrate/migrate.ts');
  if ((await migrationStatus(warehouse)).state === 'empty') return false;
  await ensureSchema(warehouse);
  return true;
}
