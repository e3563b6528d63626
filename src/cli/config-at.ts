/** Reads another config: a file, or the same file at a revision of git. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../config/definition.ts';
import { UsageError } from '../errors.ts';
import type { Context } from './context.ts';
import { readConfig, registerSecrets } from './open.ts';

/** Longer texts are no config. */
const MOST_BYTES = 1_000_000;

/**
 * The config in the file that `against` names, otherwise `config` at the revision of that name. Relative paths of the
 * latter are relative to the folder of `config`. Its secrets are redacted from now on. Throws a UsageError if there is
 * neither.
 */
export async function configAt(context: Context, config: Config, against: string): Promise<Config> {
  if (existsSync(against)) return readConfig(context, against);
  const text = await textAt(config.file, against);
  const { parseConfig } = await import('../config/load.ts');
  const { sourceOf } = await import('../config/document/source.ts');
  const found = await parseConfig(sourceOf(config.file, text), context.env).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    const { message, next } = error;
    throw new UsageError(`the config at ${against} is not valid\n${message}`, { ...(next !== undefined && { next }) });
  });
  registerSecrets(context, found);
  return found;
}

/** The text of a file at a revision. The revision is one argument of git, and no shell reads it. */
async function textAt(file: string, revision: string): Promise<string> {
  const next = 'Name a config file, or a revision that has it, such as main or HEAD~1.';
  const refuse = (because: string, cause?: unknown): UsageError =>
    new UsageError(`plan: --against ${JSON.stringify(revision)} is no file, and ${because}`, { next, cause });
  if (revision.startsWith('-')) throw refuse('no revision begins with -');
  const words = ['-C', dirname(resolve(file)), 'show', `${revision}:./${basename(file)}`];
  const options = { maxBuffer: MOST_BYTES, env: { ...process.env, LC_ALL: 'C' } };
  const { stdout } = await promisify(execFile)('git', words, options).catch((cause: unknown) => {
    const { code, stderr = '' } = cause as { readonly code?: unknown; readonly stderr?: string };
    const [line = ''] = stderr.trim().split('\n');
    throw refuse(code === 'ENOENT' ? 'git is not installed' : `git finds no config at this revision (${line})`, cause);
  });
  return stdout;
}
