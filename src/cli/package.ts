/** The package that this program is: where its files lie, and its version. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute folder of the package, told by its configs: the sources and what is built from them lie at different depths. */
export function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'configs')) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** True of the root of a checkout of this package: it holds the sources. */
export const isCheckout = (folder: string): boolean =>
  existsSync(join(folder, 'src', 'main.ts')) && existsSync(join(folder, 'configs', 'sync.schema.json'));
