/** Reads a config file's text and refuses files that cannot be a config. */
import { open } from 'node:fs/promises';
import { ConfigError, problemAt } from './document/problem.ts';
import { sourceOf, type SourceFile, WHOLE_FILE } from './document/source.ts';

/** Enough for about ten thousand inputs. Longer lists belong in separate files. */
const MOST_BYTES = 1_000_000;

/** The source of the file at this path. Throws a ConfigError at position 1:1 if the file cannot be read. */
export async function readSource(path: string): Promise<SourceFile> {
  const refuse = (message: string): ConfigError =>
    new ConfigError([problemAt(sourceOf(path, ''), WHOLE_FILE, message)]);
  await using handle = await open(path).catch((cause: unknown) => {
    throw refuse(unreadable(cause));
  });
  const stat = await handle.stat();
  if (!stat.isFile()) throw refuse('this is not a file; a config is one YAML file');
  if (stat.size > MOST_BYTES) {
    throw refuse(
      `the file has ${stat.size} bytes; at most ${MOST_BYTES} are allowed. Put long lists of inputs in separate files: for_each: { url: { file: urls.csv } }`,
    );
  }
  return sourceOf(path, decoded(await handle.readFile(), refuse));
}

function decoded(bytes: Uint8Array, refuse: (message: string) => ConfigError): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('the file is not UTF-8 text; save it as UTF-8');
  }
}

function unreadable(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return 'no such file; set --config or SLUICE_CONFIG, or create one with `sluice init`';
  }
  return `the file can't be read (${code ?? 'unknown error'})`;
}
