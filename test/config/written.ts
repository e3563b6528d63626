/** Writes sync files into a folder of their own and loads them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config, SyncDefinition } from '../../src/config/definition.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError, type Problem } from '../../src/config/document/problem.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The first three lines of a config; what a test writes begins at line 4. */
export const HEAD = 'service: { url: "http://127.0.0.1:8787" }\nwarehouse: { url: "embedded:wh" }\nsyncs:\n';

/** Runs with a folder that holds these files; the folder is gone afterwards. */
export async function inFolder<T>(
  files: Readonly<Record<string, string | Uint8Array>>,
  act: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-config-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    return await act(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The config that a text says. */
export const load = (text: string | Uint8Array, env: Env = {}): Promise<Config> =>
  inFolder({ 'sluice.yaml': text }, (folder) => loadConfig(join(folder, 'sluice.yaml'), env));

/** The problems of a text, also those that only some commands report. */
export async function problemsIn(text: string | Uint8Array, env: Env = {}): Promise<readonly Problem[]> {
  try {
    return (await load(text, env)).unusable?.error.problems ?? [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** `line:column: message` of each problem. */
export const fileProblems = async (text: string | Uint8Array, env: Env = {}): Promise<string[]> =>
  (await problemsIn(text, env)).map(({ line, column, message }) => `${line}:${column}: ${message}`);

/** The only sync of a config whose first three lines are the usual ones. */
export async function loadSync(lines: string, env: Env = {}): Promise<SyncDefinition> {
  const [sync] = (await load(`${HEAD}${lines}\n`, env)).syncs;
  if (!sync) throw new Error('no sync');
  return sync;
}

/** The problems of syncs that follow the usual three lines. */
export const problemsOf = (lines: string, env: Env = {}): Promise<string[]> => fileProblems(`${HEAD}${lines}\n`, env);

/** Lines of syncs without their « marks, and the positions of the marks as `line:column`. */
export function unmarked(lines: string): { readonly text: string; readonly places: readonly string[] } {
  const places = lines.split('\n').flatMap((line, row) =>
    line
      .split('«')
      .slice(0, -1)
      .map((_, mark, parts) => `${row + 4}:${parts.slice(0, mark + 1).join('').length + 1}`),
  );
  return { text: lines.replaceAll('«', ''), places };
}
