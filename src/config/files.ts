/** Reads a config and the files that it includes, with their variables filled in. */
import { existsSync } from 'node:fs';
import { glob, open } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { withDefaults } from './defaults.ts';
import { ConfigError, type Problem, problemAt, type ReportProblem } from './document/problem.ts';
import { type SourceFile, WHOLE_FILE, sourceOf } from './document/source.ts';
import { entryOf, type MapTree, type ScalarTree } from './document/tree.ts';
import { treeOfYaml } from './document/yaml.ts';
import { type OptionalProblem, type OptionalReading, optionalReading, withoutRefused } from './optional.ts';
import { type Env, resolveTree } from './resolve.ts';

/** A config file or a file that it includes. */
export interface ConfigFile {
  readonly source: SourceFile;
  readonly report: ReportProblem;
  readonly tree: MapTree;
}

/** Where the files of a config are read. */
export interface ConfigFiles {
  /** The source of the file at a path. Throws a ConfigError if it cannot be read. */
  readonly read: (path: string) => Promise<SourceFile>;
  /** The files that a path or a pattern means in a folder, sorted. */
  readonly find: (pattern: string, folder: string) => Promise<string[]>;
}

/** Reads config files on the disk. */
export const onDisk: ConfigFiles = { read: readSource, find: includedFilesOf };

/** The problems of the files of a config. */
interface FoundProblems {
  readonly problems: Problem[];
  /** Problems of variables in optional settings. */
  readonly optional: OptionalProblem[];
}

/**
 * Returns the config at this path, then the files that it and they include, each once. Adds their problems to those found;
 * files that cannot be parsed are left out. Throws a ConfigError if the config itself cannot be parsed.
 */
export async function readConfigFiles(
  path: string,
  env: Env,
  { problems, optional }: FoundProblems,
  { read: readFile, find }: ConfigFiles,
): Promise<readonly ConfigFile[]> {
  const files: ConfigFile[] = [];
  const seen = new Set<string>();
  const read = async (file: string, chain: readonly string[]): Promise<void> => {
    const isMain = chain.length === 0;
    const source = await readFile(file);
    const report: ReportProblem = (span, message) => {
      problems.push(problemAt(source, span, message));
    };
    seen.add(resolve(file));
    const written = treeOfYaml(source, report);
    if (!written) return;
    const readingOf = (keys: readonly string[]): OptionalReading | undefined =>
      isMain
        ? optionalReading(keys, (setting, span, message) => {
            optional.push({ setting, ...problemAt(source, span, message) });
          })
        : undefined;
    const resolved = await resolveTree(isMain ? withDefaults(written) : written, env, {
      source,
      report,
      readingOf,
    });
    const tree = withoutRefused(resolved, readingOf);
    if (tree.kind !== 'map') {
      const keys = isMain ? 'service, warehouse and syncs' : 'syncs and include';
      return report(WHOLE_FILE, `${isMain ? 'a config' : 'an included file'} is a mapping with the keys ${keys}`);
    }
    files.push({ source, report, tree });
    const through = [...chain, resolve(file)];
    for (const item of includesOf(tree)) {
      const found = await find(item.text, dirname(file));
      if (found.length === 0)
        report(
          item.span,
          `include is ${JSON.stringify(item.text)}, which matches no file in ${resolve(dirname(file))}; allowed are paths and patterns relative to this folder`,
        );
      for (const included of found) {
        const cycle = through.slice(through.indexOf(resolve(included)));
        if (through.includes(resolve(included)))
          report(
            item.span,
            `include forms a cycle: ${[...cycle, resolve(included)].join(' includes ')}; remove one of these`,
          );
        else if (!seen.has(resolve(included))) await read(included, through).catch(addProblems(problems));
      }
    }
  };
  await read(path, []);
  if (files.length === 0) throw new ConfigError(problems);
  return files;
}

/** The texts of `include`, also empty ones; the schema refuses any other value. */
function includesOf(tree: MapTree): ScalarTree[] {
  const written = entryOf(tree, 'include')?.value;
  const items = written?.kind === 'list' ? written.items : written ? [written] : [];
  return items
    .filter((item) => item.kind === 'scalar')
    .filter(({ hasProblem, value }) => !hasProblem && value !== null);
}

/** The files of a path or a pattern in this folder, sorted. A path that exists is no pattern. */
export async function includedFilesOf(pattern: string, folder: string): Promise<string[]> {
  // An empty path, such as that of an empty variable, would be the folder.
  if (pattern === '') return [];
  const pathOf = (name: string): string => (resolve(name) === name ? name : join(folder, name));
  if (existsSync(pathOf(pattern))) return [pathOf(pattern)];
  return (await Array.fromAsync(glob(pattern, { cwd: folder }))).map(pathOf).toSorted();
}

const addProblems =
  (problems: Problem[]) =>
  (error: unknown): void => {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
  };

/** Enough for about ten thousand inputs. Longer lists belong in separate files. */
const MOST_BYTES = 1_000_000;

/** The source of the file at this path. Throws a ConfigError at position 1:1 if the file cannot be read. */
async function readSource(path: string): Promise<SourceFile> {
  const refuse = (message: string): ConfigError =>
    new ConfigError([problemAt(sourceOf(path, ''), WHOLE_FILE, message)]);
  await using handle = await open(path).catch((cause: unknown) => {
    throw refuse(unreadable(path, cause));
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

function unreadable(path: string, cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const where = isAbsolute(path) ? '' : ' in the working directory';
    return `no such file${where}; set --config or SLUICE_CONFIG, or create one with \`sluice init\``;
  }
  return `the file can't be read (${code ?? 'unknown error'})`;
}
