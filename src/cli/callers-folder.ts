/** The folder from which the user runs the program. */
import { join } from 'node:path';
import { packageFolder } from './package.ts';

/**
 * The folder in which npm was called to run the program of a checkout; paths on the command line are relative to it.
 * Needed because npm runs the program in the folder of the checkout. Undefined without npm, and for another package.
 */
export function callersFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const isOurs = env['npm_package_json'] === join(packageFolder(), 'package.json');
  return isOurs && env['npm_lifecycle_event'] === 'sluice' ? env['INIT_CWD'] : undefined;
}
