/** The package of this program: its folder and its version, and the folder from which npm runs it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The absolute folder of the package, found by its `configs`: sources and built files are at different depths. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'configs')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** True if the folder is the root of a checkout, which contains the sources. */
export const isCheckout = (folder: string): boolean =>
  existsSync(join(folder, 'src', 'main.ts')) && existsSync(join(folder, 'configs', 'sync.schema.json'));

/**
 * The folder in which npm was called to run the program of a checkout; paths on the command line are relative to it.
 * Needed because npm runs the program in the folder of the checkout. Undefined without npm, and for another package.
 */
export function callersFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const isOurs = env['npm_package_json'] === join(packageFolder(), 'package.json');
  return isOurs && env['npm_lifecycle_event'] === 'sluice' ? env['INIT_CWD'] : undefined;
}
