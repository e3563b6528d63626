/** A config as it was written: scalars, lists and mappings, each with its place. Rows of input files take the same form. */
import { type Span, WHOLE_FILE } from './source.ts';

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** What was written, for where text is due: `3.10` stays `3.10`. */
  readonly text: string;
  /** Its type isn't known from how it was written (a variable, a cell of a file): the schema decides. */
  readonly isUntyped: boolean;
  /** Variables that it was filled from. */
  readonly variables: readonly string[];
  /** A problem was reported here already, so what follows from it is not told. */
  readonly hasProblem: boolean;
  readonly span: Span;
}

export interface ListTree {
  readonly kind: 'list';
  readonly items: readonly Tree[];
  readonly span: Span;
}

export interface MapEntry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: Tree;
}

export interface MapTree {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
  readonly span: Span;
}

export type Tree = ScalarTree | ListTree | MapTree;

const indexes = new WeakMap<MapTree, ReadonlyMap<string, MapEntry>>();

/** The entry of a mapping with that key, or undefined. */
export function entryOf(tree: Tree | undefined, key: string): MapEntry | undefined {
  if (tree?.kind !== 'map') return undefined;
  const index = indexes.get(tree) ?? new Map(tree.entries.map((it) => [it.key, it]));
  indexes.set(tree, index);
  return index.get(key);
}

/** A scalar as it was written. */
export const scalarTree = (value: ScalarTree['value'], text: string, span: Span): ScalarTree => ({
  kind: 'scalar',
  value,
  text,
  isUntyped: false,
  variables: [],
  hasProblem: false,
  span,
});

/** An empty mapping at a place, for a part of the config that was left out. */
export const emptyMap = (span: Span): MapTree => ({ kind: 'map', entries: [], span });

export interface TreeMatch {
  /** The deepest tree on the path that exists. */
  readonly tree: Tree;
  /** Its key's place, or its own. */
  readonly keySpan: Span;
  /** The path led to the end. */
  readonly isComplete: boolean;
  /** The key that it stands at, or that its list stands at. */
  readonly name: string | undefined;
}

/** What is at a path, or the deepest tree on the way to it. */
export function findAt(root: Tree, path: readonly PropertyKey[], rootSpan: Span = root.span): TreeMatch {
  let [tree, keySpan] = [root, rootSpan];
  let name: string | undefined;
  for (const step of path) {
    const entry = typeof step === 'string' ? entryOf(tree, step) : undefined;
    const next = entry?.value ?? (tree.kind === 'list' && typeof step === 'number' ? tree.items[step] : undefined);
    if (!next) return { tree, keySpan, isComplete: false, name };
    name = entry?.key ?? name;
    [tree, keySpan] = [next, entry?.keySpan ?? next.span];
  }
  return { tree, keySpan, isComplete: true, name };
}

/** The tree of a value that no YAML was written for: a cell of a file, a row of a query. */
export function treeOfValue(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOfValue), span: WHOLE_FILE };
  if (value === null || value === undefined) return scalarTree(null, '', WHOLE_FILE);
  if (typeof value === 'object' && !(value instanceof Date) && !isRaw(value)) {
    const entries = Object.entries(value).map(([key, inner]) => ({
      key,
      keySpan: WHOLE_FILE,
      value: treeOfValue(inner),
    }));
    return { kind: 'map', entries, span: WHOLE_FILE };
  }
  const text = textOf(value);
  return { ...scalarTree(typeof value === 'boolean' ? value : text, text, WHOLE_FILE), isUntyped: true };
}

const isRaw = (value: unknown): value is { readonly rawJSON: string } => JSON.isRawJSON(value);

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return isRaw(value) ? value.rawJSON : String(value);
}
