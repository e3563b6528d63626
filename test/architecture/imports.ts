/** The source files and what each imports, read from their text. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

export interface Import {
  /** A path below `src` of what is ours, else the name of a package or of something beside `src`. */
  readonly to: string;
  readonly isOurs: boolean;
  readonly isType: boolean;
}

export interface SourceFile {
  /** Below `src`, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** Every file of `src`. */
export async function sourceFiles(): Promise<readonly SourceFile[]> {
  const paths = (await readdir(SOURCE, { recursive: true })).filter(
    (it) => it.endsWith('.ts') && !it.endsWith('.d.ts'),
  );
  return Promise.all(
    paths.toSorted().map(async (path) => {
      const text = await readFile(join(SOURCE, path), 'utf8');
      return { path: path.replaceAll('\\', '/'), text, imports: importsOf(path, text) };
    }),
  );
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:([^;'"]*?)\s+from\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]/g;

function importsOf(path: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '');
  const fixed = [...code.matchAll(STATEMENT)].map(([, type, names = '', to = '']) =>
    importOf(path, to, type !== undefined || namesTypesOnly(names)),
  );
  return [...fixed, ...[...code.matchAll(DYNAMIC)].map(([, to = '']) => importOf(path, to, false))];
}

const namesTypesOnly = (names: string): boolean => {
  const listed = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
  const each =
    listed
      ?.split(',')
      .map((it) => it.trim())
      .filter(Boolean) ?? [];
  return each.length > 0 && each.every((it) => it.startsWith('type '));
};

function importOf(path: string, to: string, isType: boolean): Import {
  if (!to.startsWith('.')) return { to, isOurs: false, isType };
  const target = normalize(join(dirname(join(SOURCE, path)), to));
  const below = relative(SOURCE, target).replaceAll('\\', '/');
  return { to: below, isOurs: !below.startsWith('../'), isType };
}

/** The part of the source that a path belongs to: its folder, or the file itself at the top. */
export const partOf = (path: string): string => path.split('/')[0] ?? path;
