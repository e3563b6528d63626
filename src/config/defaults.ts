/** The defaults of the keys that a config may omit: the variables that every shipped config uses. */
import { WHOLE_FILE } from './document/source.ts';
import { emptyMap, entryOf, scalarTree, type Tree } from './document/tree.ts';

/** The default text of each key that may be omitted, by mapping and key. */
export const DEFAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  service: { url: '${SLUICE_SERVICE_URL:-http://127.0.0.1:8787}', token: '${SLUICE_SERVICE_TOKEN}' },
  warehouse: { url: '${DATABASE_URL:-embedded:.sluice}' },
};

/** The tree with these defaults for omitted keys. A tree that is not a mapping is returned unchanged. */
export function withDefaults(tree: Tree): Tree {
  if (tree.kind !== 'map') return tree;
  const untouched = tree.entries.filter(({ key }) => !Object.hasOwn(DEFAULTS, key));
  const filled = Object.entries(DEFAULTS).map(([key, defaults]) => {
    const entry = entryOf(tree, key) ?? { key, keySpan: WHOLE_FILE, value: emptyMap(WHOLE_FILE) };
    return { ...entry, value: completed(entry.value, defaults) };
  });
  return { ...tree, entries: [...filled, ...untouched] };
}

function completed(tree: Tree, defaults: Readonly<Record<string, string>>): Tree {
  if (tree.kind !== 'map') return tree;
  const missing = Object.entries(defaults).filter(([key]) => !entryOf(tree, key));
  const added = missing.map(([key, text]) => ({ key, keySpan: WHOLE_FILE, value: scalarTree(text, text, WHOLE_FILE) }));
  return { ...tree, entries: [...tree.entries, ...added] };
}
