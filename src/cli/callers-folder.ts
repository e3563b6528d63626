/** The folder of whoever runs the program. */
import { join } from 'node:path';
import { packageFolder } from './package.ts';

/**
 * Where npm was asked to run the program of a checkout, which it runs in the checkout's own folder: paths are the
 * caller's. Undefined when it was not npm, or a script of another package.
 */
export function callersFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const isOurs = env['npm_package_json'] === join(packageFolder(), 'package.json');
  return isOurs && env['npm_lifecycle_event'] === 'sluice' ? env['INIT_CWD'] : undefined;
}
