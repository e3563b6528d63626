/** Where answers wait that the database could not take: what the environment says, else a folder below the current one. */
import { join, resolve } from 'node:path';
import type { Host } from './context.ts';

/** The spool's folder: `SLUICE_SPOOL`, else `.sluice/spool` where the command was started. */
export function spoolFolder({ env, cwd }: Pick<Host, 'env' | 'cwd'>): string {
  const named = env['SLUICE_SPOOL'] ?? '';
  return resolve(cwd, named === '' ? join('.sluice', 'spool') : named);
}
