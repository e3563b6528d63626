/** The names of a config's syncs without checking the config, for shell completion. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isMap, isScalar, parseDocument } from 'yaml';
import { includedFilesOf } from './files.ts';

/**
 * The names in the order of the file and of the files that it includes. Empty if the file can't be read; as many as can
 * be parsed if its YAML is broken.
 */
export async function syncNames(path: string, seen = new Set<string>()): Promise<string[]> {
  if (seen.has(resolve(path))) return [];
  seen.add(resolve(path));
  const text = await readFile(path, 'utf8').catch(() => '');
  const document = parseDocument(text, { logLevel: 'silent' });
  const syncs: unknown = document.get('syncs');
  const names = isMap(syncs)
    ? syncs.items.flatMap(({ key }) => (isScalar(key) && typeof key.value === 'string' ? [key.value] : []))
    : [];
  const { include } = (document.toJS() ?? {}) as { readonly include?: unknown };
  const patterns = [include].flat().filter((it) => typeof it === 'string');
  for (const pattern of patterns)
    for (const file of await includedFilesOf(pattern, dirname(path))) names.push(...(await syncNames(file, seen)));
  return names;
}
