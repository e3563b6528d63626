/** Reads another config: a file, or the same file at a revision of git. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { basename, dirname, matchesGlob, posix, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Config, SyncDefinition } from '../config/definition.ts';
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
  if (existsSync(against)) return readConfig(context, against, []);
  const files = await filesAt(config.file, against);
  const { loadConfig } = await import('../config/load.ts');
  const found = await loadConfig(config.file, context.env, files).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    const { message, next } = error;
    throw new UsageError(`the config at ${against} is not valid\n${message}`, { ...(next !== undefined && { next }) });
  });
  registerSecrets(context, found);
  return { ...found, syncs: found.syncs.map((sync) => withInputsAt(sync, files)) };
}

/** The files of a repository at a revision. */
interface RevisionFiles extends ConfigFiles {
  /** Reads a file of any size; undefined if the revision does not have it. */
  readonly textOf: (path: string) => (() => AsyncIterable<string>) | undefined;
}

/** The sync with its input files at the revision. Files that the repository does not hold are read as they are now. */
function withInputsAt(sync: SyncDefinition, { textOf }: RevisionFiles): SyncDefinition {
  const forEach = sync.forEach?.map((source) => {
    const read = source.from === 'file' ? textOf(source.path) : undefined;
    return read ? { ...source, read } : source;
  });
  return { ...sync, ...(forEach && { forEach }) };
}

/**
 * The files of the repository of `file` at a revision, under the paths that they have on the disk. The revision is a part
 * of one argument of git, and no shell reads it. Throws a UsageError if the revision does not have `file`.
 */
async function filesAt(file: string, revision: string): Promise<RevisionFiles> {
  const { sourceOf } = await import('../config/document/source.ts');
  const folder = dirname(resolve(file));
  const next = 'Name a config file, or a revision that has it, such as main or HEAD~1.';
  const refuse = (because: string, cause?: unknown): UsageError =>
    new UsageError(`plan: --against ${JSON.stringify(revision)} is not a file, and ${because}`, { next, cause });
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
    textOf: (path) => {
      const name = nameOf(path);
      if (!names.includes(name)) return undefined;
      return () => outputOf(['-C', folder, 'show', `${revision}:${name}`]);
    },
    find: async (pattern, from) => {
      const wanted = nameOf(resolve(from, pattern));
      const found = names.includes(wanted) ? [wanted] : names.filter((name) => matchesGlob(name, wanted));
      return found.map((name) => resolve(folder, relative(`/${prefix}`, `/${name}`))).toSorted();
    },
  };
}

/** The output of git as a stream. Throws an error if git fails. */
async function* outputOf(words: readonly string[]): AsyncGenerator<string> {
  const child = spawn('git', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  // A reader that stops early does not wait for the end.
  closed.catch(() => undefined);
  yield* child.stdout.setEncoding('utf8') as AsyncIterable<string>;
  const [code] = await closed;
  if (code !== 0) throw Object.assign(new Error(`git ended with ${code}`), { code: 'git' });
}
