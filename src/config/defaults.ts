/** What a config says by leaving it out: the variables that every shipped config uses for the service and the warehouse. */
import { WHOLE_FILE } from './document/source.ts';
import { emptyMap, entryOf, scalarTree, type Tree } from './document/tree.ts';

/** By mapping and key, the text that stands for what was left out. */
export const DEFAULTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  service: { url: '${SLUICE_SERVICE_URL:-http://127.0.0.1:8787}', token: '${SLUICE_SERVICE_TOKEN}' },
  warehouse: { url: '${DATABASE_URL:-embedded:.sluice}' },
};

/** The tree with what it leaves out of these; anything else is returned as it is. */
export function withDefaults(tree: Tree): Tree {
  if (tree.kind !== 'map') return tree;
  const untouched = tree.entries.filter(({ key }) => !Object.hasOwn(DEFAULTS, key));
  const filled = Object.entries(DEFAULTS).map(([key, usual]) => {
    const entry = entryOf(tree, key) ?? { key, keySpan: WHOLE_FILE, value: emptyMap(WHOLE_FILE) };
    return { ...entry, value: completed(entry.value, usual) };
  });
  return { ...tree, entries: [...filled, ...untouched] };
}

function completed(tree: Tree, usual: Readonly<Record<string, string>>): Tree {
  if (tree.kind !== 'map') return tree;
  const missing = Object.entries(usual).filter(([key]) => !entryOf(tree, key));
  const added = missing.map(([key, text]) => ({ key, keySpan: WHOLE_FILE, value: scalarTree(text, text, WHOLE_FILE) }));
  return { ...tree, entries: [...tree.entries, ...added] };
}
