/** Reads another config: a file, or the same file at a revision of git. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, matchesGlob, posix, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config/definition.ts';
import type { ConfigFiles } from '../config/files.ts';
import { UsageError } from '../errors.ts';
import type { Context } from './context.ts';
import { readConfig, registerSecrets } from './open.ts';

/** Longer texts are no config. */
const MOST_BYTES = 10_000_000;

/**
 * The config in the file that `against` names, otherwise `config` at the revision of that name. Relative paths of the
 * latter are relative to the folder of `config`. Its secrets are redacted from now on. Throws a UsageError if there is
 * neither.
 */
export async function configAt(context: Context, config: Config, against: string): Promise<Config> {
  if (existsSync(against)) return readConfig(context, against);
  const files = await filesAt(config.file, against);
  const { loadConfig } = await import('../config/load.ts');
  const found = await loadConfig(config.file, context.env, files).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    const { message, next } = error;
    throw new UsageError(`the config at ${against} is not valid\n${message}`, { ...(next !== undefined && { next }) });
  });
  registerSecrets(context, found);
  return found;
}

/**
 * The files of the repository of `file` at a revision, under the paths that they have on the disk. The revision is a part
 * of one argument of git, and no shell reads it. Throws a UsageError if the revision does not have `file`.
 */
async function filesAt(file: string, revision: string): Promise<ConfigFiles> {
  const { sourceOf } = await import('../config/document/source.ts');
  const folder = dirname(resolve(file));
  const next = 'Name a config file, or a revision that has it, such as main or HEAD~1.';
  const refuse = (because: string, cause?: unknown): UsageError =>
    new UsageError(`plan: --against ${JSON.stringify(revision)} is no file, and ${because}`, { next, cause });
  if (revision.startsWith('-')) throw refuse('no revision begins with -');
  const git = async (...words: readonly string[]): Promise<string> => {
    const options = { maxBuffer: MOST_BYTES, env: { ...process.env, LC_ALL: 'C' } };
    const { stdout } = await promisify(execFile)('git', ['-C', folder, ...words], options).catch((cause: unknown) => {
      const { code, stderr = '' } = cause as { readonly code?: unknown; readonly stderr?: string };
      const [line = ''] = stderr.trim().split('\n');
      throw refuse(
        code === 'ENOENT' ? 'git is not installed' : `git finds no config at this revision (${line})`,
        cause,
      );
    });
    return stdout;
  };
  const prefix = (await git('rev-parse', '--show-prefix')).trim();
  const nameOf = (path: string): string => posix.join(prefix, relative(folder, resolve(path)).replaceAll(sep, '/'));
  const read = async (path: string) => sourceOf(path, await git('show', `${revision}:${nameOf(path)}`));
  await read(resolve(folder, basename(file)));
  const names = (await git('ls-tree', '-r', '-z', '--full-tree', '--name-only', revision)).split('\0');
  return {
    read,
    find: async (pattern, from) => {
      const wanted = nameOf(resolve(from, pattern));
      const found = names.includes(wanted) ? [wanted] : names.filter((name) => matchesGlob(name, wanted));
      return found.map((name) => resolve(folder, relative(`/${prefix}`, `/${name}`))).toSorted();
    },
  };
}
