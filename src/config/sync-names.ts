/** The names of a config's syncs without checking the config, for shell completion. */
import { readFile } from 'node:fs/promises';
import { isMap, isScalar, parseDocument } from 'yaml';

/**
 * The names in the order of the file. Empty if the file can't be read; as many as can be parsed if its YAML is broken.
 */
export async function syncNames(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const syncs: unknown = parseDocument(text, { logLevel: 'silent' }).get('syncs');
  if (!isMap(syncs)) return [];
  return syncs.items.flatMap(({ key }) => (isScalar(key) && typeof key.value === 'string' ? [key.value] : []));
}
