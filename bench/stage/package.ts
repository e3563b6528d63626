/** The program in its two forms: the sources of the checkout, and the JavaScript of the published package. */
import { execFile } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = join(ROOT, 'bench/.cache/package');

/** The entry of the sources. */
export const SOURCES = join(ROOT, 'src/main.js');

let building: Promise<string> | undefined;

/** The entry of the package as `npm pack` would contain it, built at the first call. */
export function packaged(): Promise<string> {
  building ??= build();
  return building;
}

async function build(): Promise<string> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  const bundler = join(ROOT, 'node_modules/rolldown/bin/cli.mjs');
  const built = join(FOLDER, 'dist');
  await promisify(execFile)(process.execPath, [bundler, '--config', 'rolldown.config.ts', '--dir', built], {
    cwd: ROOT,
  });
  for (const name of ['node_modules', 'configs', 'package.json']) await symlink(join(ROOT, name), join(FOLDER, name));
  return join(built, 'src/main.js');
}
