/** A config as written: scalars, lists and mappings, each with its position. Rows of input files have the same form. */
import { memoizeByObject } from '../../async/memoize.ts';
import { type Span, WHOLE_FILE } from './source.ts';

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** The source text, used where text is expected: `3.10` stays `3.10`. */
  readonly text: string;
  /** True if the schema decides the type, because the value comes from a variable or from a cell of a file. */
  readonly isUntyped: boolean;
  /** Names of the variables in it. */
  readonly variables: readonly string[];
  /** True if a problem was already reported here, so that its consequences are not reported. */
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

const indexOf = memoizeByObject(({ entries }: MapTree) => new Map(entries.map((it) => [it.key, it])));

/** The entry of a mapping with that key, or undefined. */
export const entryOf = (tree: Tree | undefined, key: string): MapEntry | undefined =>
  tree?.kind === 'map' ? indexOf(tree).get(key) : undefined;

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

/** True for a null that was written. */
export const isNull = (tree: Tree): boolean => tree.kind === 'scalar' && tree.value === null && !tree.hasProblem;

/** An empty mapping, for a section that the config omits. */
export const emptyMap = (span: Span): MapTree => ({ kind: 'map', entries: [], span });

export interface TreeMatch {
  /** The deepest tree on the path that exists. */
  readonly tree: Tree;
  /** The position of its key, or its own. */
  readonly keySpan: Span;
  /** True if the complete path exists. */
  readonly isComplete: boolean;
  /** Its key, or the key of the list that contains it. */
  readonly name: string | undefined;
}

/** The tree at a path, or the deepest tree on the way to it. */
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

/** The tree of a value that does not come from YAML: a cell of a file or a row of a query. */
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
