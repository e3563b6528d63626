/** Determines the folder of the spool. */
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/definition.ts';
import { embeddedFolder } from '../config/values/paths.ts';
import type { Host } from './context.ts';

type Places = Pick<Config, 'file' | 'warehouse'>;

/**
 * The folder of the spool: `SLUICE_SPOOL`, relative to the folder of the config. Without it, `spool` in the folder of an
 * embedded warehouse, otherwise `.sluice/spool` beside the config.
 */
export function spoolFolder({ env }: Pick<Host, 'env'>, { file, warehouse }: Places): string {
  const named = env['SLUICE_SPOOL'] ?? '';
  const folder = dirname(file);
  if (named !== '') return resolve(folder, named);
  return join(embeddedFolder(warehouse.url.reveal()) ?? join(folder, '.sluice'), 'spool');
}

/** The folder in which earlier versions kept the spool: relative to the working directory. */
export function formerSpoolFolder({ env, cwd }: Pick<Host, 'env' | 'cwd'>): string {
  const named = env['SLUICE_SPOOL'] ?? '';
  return resolve(cwd, named === '' ? join('.sluice', 'spool') : named);
}
