/** Reads the variables of `--env-file`. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import { secretsIn } from '../telemetry/redact-secrets.ts';
import type { Host } from './context.ts';

/**
 * Adds the variables of a file in dotenv syntax to the environment, as `node --env-file` does: a variable that is set
 * wins, even if it is empty. They go to the environment itself, because the database driver reads it too. Secrets among
 * them are redacted from now on. Throws a UsageError if the file cannot be read or is not UTF-8.
 */
export async function addEnvFile({ env, cwd, redactor }: Host, file: string): Promise<void> {
  const bytes = await readFile(resolve(cwd, file)).catch((cause: unknown) => {
    throw new UsageError(
      `--env-file: ${file} can't be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown error'}); allowed is a readable file with lines NAME=VALUE`,
      { next: 'Name an existing file. Its path is relative to the working directory.', cause },
    );
  });
  if (!isUtf8(bytes))
    throw new UsageError(`--env-file: ${file} is not UTF-8 text`, { next: 'Save the file as UTF-8.' });
  // Editors on Windows begin a file with a byte order mark, which would be a part of the first name.
  const added = Object.entries(parseEnv(bytes.toString().replace(/^\uFEFF/, ''))).filter(
    ([name]) => env[name] === undefined,
  );
  Object.assign(env, Object.fromEntries(added));
  for (const secret of secretsIn(env)) redactor.add(secret);
}
