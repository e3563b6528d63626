/** Reads a config file's text, refusing at once what no config is. */
import { open } from 'node:fs/promises';
import { ConfigError, problemAt } from './document/problem.ts';
import { sourceOf, type SourceFile, WHOLE_FILE } from './document/source.ts';

/** Some ten thousand inputs written out; longer lists belong in files of their own. */
const MOST_BYTES = 1_000_000;

/** The source of the file at this path; throws a ConfigError placed at 1:1 when there is none. */
export async function readSource(path: string): Promise<SourceFile> {
  const refuse = (message: string): ConfigError =>
    new ConfigError([problemAt(sourceOf(path, ''), WHOLE_FILE, message)]);
  const handle = await open(path).catch((cause: unknown) => {
    throw refuse(unreadable(cause));
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw refuse('this is not a file; a config is one YAML file');
    if (stat.size > MOST_BYTES) {
      throw refuse(
        `the file has ${stat.size} bytes; at most ${MOST_BYTES} are allowed. Put long lists of inputs in files of their own: for_each: { url: { file: urls.csv } }`,
      );
    }
    return sourceOf(path, decoded(await handle.readFile(), refuse));
  } finally {
    await handle.close();
  }
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
    return 'no such file; name one with --config or SLUICE_CONFIG, or write one with `sluice init`';
  }
  return `the file can't be read (${code ?? 'unknown trouble'})`;
}
