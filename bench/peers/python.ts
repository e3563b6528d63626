/** Python environments for peers, installed once from the package index and kept in `bench/.cache`. */
import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));
const WITHIN_MS = 600_000;
const execute = promisify(execFile);

/** The folder of an environment with this requirement installed. Throws an Error with the reason if that fails. */
export async function pythonWith(requirement: string): Promise<string> {
  const folder = join(CACHE, requirement.replaceAll(/[^\w.=-]+/g, '_'));
  const complete = join(folder, 'complete');
  if (await exists(complete)) return folder;
  await mkdir(CACHE, { recursive: true });
  await rm(folder, { recursive: true, force: true });
  try {
    await execute('python3', ['-m', 'venv', folder], { timeout: WITHIN_MS });
    const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
    await execute(join(folder, 'bin/pip'), ['install', ...quiet, requirement], { timeout: WITHIN_MS });
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    const because = (stderr ?? '').trim() === '' ? message : (stderr ?? '').trim();
    throw new Error(`${requirement} cannot be installed: ${because.split('\n').at(-1)}`, { cause: error });
  }
  await writeFile(complete, '');
  return folder;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
