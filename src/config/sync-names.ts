/** The names of a config's syncs, without checking the rest of it: for completion at a shell's prompt. */
import { readFile } from 'node:fs/promises';
import { isMap, isScalar, parseDocument } from 'yaml';

/** The names in the order of the file; none when the file can't be read, as far as it can be when it is broken. */
export async function syncNames(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const syncs: unknown = parseDocument(text, { logLevel: 'silent' }).get('syncs');
  if (!isMap(syncs)) return [];
  return syncs.items.flatMap(({ key }) => (isScalar(key) && typeof key.value === 'string' ? [key.value] : []));
}
