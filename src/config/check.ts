/** Checks a tree against a schema, and words what is refused: what was found, what is allowed, and where. */
import type * as z from 'zod';
import { coerce } from './values/coerce.ts';
import { insteadOf, nearest } from './document/nearest.ts';
import type { ReportProblem } from './document/problem.ts';
import { allowedBy, jsonSchemaAt, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { masked, type Span } from './document/source.ts';
import { findAt, type TreeMatch, type Tree } from './document/tree.ts';

export interface Checked<T> {
  /** As it was written: nothing that the schema would add. */
  readonly written: unknown;
  /** As the schema gives it back: defaults filled in, texts turned into what they mean. */
  readonly value: T;
}

/**
 * The tree's value, or undefined when something was reported. `keySpan` is where a missing key of the root is told, with
 * `under` before its name where that place is not the root's own.
 */
export function check<T>(
  schema: z.ZodType<T>,
  tree: Tree,
  report: ReportProblem,
  keySpan: Span = tree.span,
  under = '',
): Checked<T> | undefined {
  const shape = jsonSchemaOf(schema);
  const written = coerce(shape, tree);
  const parsed = schema.safeParse(written);
  if (parsed.success) return { written, value: parsed.data };
  for (const { span, message } of refusalsOf(parsed.error.issues, shape, tree, keySpan, under)) report(span, message);
  return undefined;
}

interface Refusal {
  readonly span: Span;
  readonly message: string;
}

/** One of a mapping's refusals: a missing key has no place of its own, so it is told with one that has. */
function refusalsOf(
  issues: readonly z.core.$ZodIssue[],
  shape: JsonSchema,
  tree: Tree,
  keySpan: Span,
  under: string,
): Refusal[] {
  const refusals: (Refusal & { readonly parent: string })[] = [];
  const missing = new Map<string, { readonly span: Span; readonly keys: string[]; readonly words: string[] }>();
  const misspelled = new Map<string, string[]>();
  const told = new Set<string>();
  for (const issue of issues) {
    const where = findAt(tree, issue.path, keySpan);
    if (where.tree.kind === 'scalar' && where.tree.hasProblem) continue;
    if (issue.code === 'unrecognized_keys') {
      const allowed = Object.keys(jsonSchemaAt(shape, issue.path)?.properties ?? {});
      for (const key of issue.keys) {
        const at = findAt(tree, [...issue.path, key], keySpan);
        refusals.push({ span: at.keySpan, parent: issue.path.join('.'), message: unknownKey(key, allowed) });
        const meant = nearest(key, allowed);
        if (meant !== undefined)
          misspelled.set(issue.path.join('.'), [...(misspelled.get(issue.path.join('.')) ?? []), meant]);
      }
      continue;
    }
    const path = issue.path.join('.');
    if (told.has(path)) continue;
    told.add(path);
    const parent = issue.path.slice(0, -1).join('.');
    const due = jsonSchemaAt(shape, issue.path) ?? {};
    if (!where.isComplete && where.tree.kind === 'map' && issue.code === 'invalid_type') {
      const of = missing.get(parent) ?? { span: where.keySpan, keys: [], words: [] };
      of.keys.push(String(issue.path.at(-1)));
      of.words.push(`${parent === '' ? under : ''}${String(issue.path.at(-1))} (${allowedOr(issue, due)})`);
      missing.set(parent, of);
    } else {
      refusals.push({ span: where.tree.span, parent: ancestor(tree, issue.path), message: refused(issue, due, where) });
    }
  }
  return withMissing(refusals, missing, misspelled);
}

function withMissing(
  refusals: readonly (Refusal & { readonly parent: string })[],
  missing: ReadonlyMap<
    string,
    { readonly span: Span; readonly keys: readonly string[]; readonly words: readonly string[] }
  >,
  misspelled: ReadonlyMap<string, readonly string[]>,
): Refusal[] {
  const all: Refusal[] = [...refusals];
  for (const [parent, { span, keys, words }] of missing) {
    const meant = misspelled.get(parent) ?? [];
    const left = words.filter((_, at) => !meant.includes(keys[at] ?? ''));
    if (left.length === 0) continue;
    const beside = refusals.findIndex((it) => it.parent === parent);
    const first = all[beside];
    if (first) all[beside] = { ...first, message: `${first.message}. Missing beside it: ${left.join(', ')}` };
    else all.push({ span, message: `missing: ${left.join(', ')}` });
  }
  return all;
}

/** The path of the mapping that the refused value was written in. */
function ancestor(tree: Tree, path: readonly PropertyKey[]): string {
  let depth = path.length - 1;
  while (depth > 0 && findAt(tree, path.slice(0, depth)).tree.kind !== 'map') depth -= 1;
  return path.slice(0, Math.max(0, depth)).join('.');
}

const unknownKey = (key: string, allowed: readonly string[]): string =>
  `unknown key ${JSON.stringify(key)}${insteadOf(key, allowed)}`;

const refused = (issue: z.core.$ZodIssue, due: JsonSchema, { name, tree }: TreeMatch): string =>
  `${name ?? 'this'} is ${(name === undefined ? undefined : UNSHOWN[name]) ?? foundIn(tree)}; ${allowedOr(issue, due)}`;

/** Keys whose values are secrets also where they stand in the file, with what is said instead. */
const UNSHOWN: Readonly<Record<string, string>> = {
  token: 'not what a header takes',
  webhook: 'no address to post to',
};

/** Zod's own wording says neither what was found nor all that is allowed; a schema's own wording says it best. */
const STOCK = /^(?:Invalid|Too big|Too small|Unrecognized)/;
const allowedOr = (issue: z.core.$ZodIssue, due: JsonSchema): string =>
  STOCK.test(issue.message) ? `allowed is ${allowedBy(due)}` : issue.message;

const LONGEST = 60;

/** What was found, in words; a text that came from a variable may be a secret and is not shown. */
export function foundIn(tree: Tree): string {
  if (tree.kind === 'list') return tree.items.length === 0 ? 'an empty list' : 'a list';
  if (tree.kind === 'map') return 'a mapping';
  const { value, text, variables, isUntyped } = tree;
  if (variables.length > 0 && !/^[-+.\d]{1,12}$|^(?:true|false)$/.test(text)) {
    return `${text === '' ? 'empty, ' : ''}the value of ${variables.map((it) => `\${${it}}`).join(', ')}`;
  }
  if (value === null) return 'null';
  const plain = masked(text);
  const shown = plain.length > LONGEST ? `${plain.slice(0, LONGEST)}… (${plain.length} characters)` : plain;
  return typeof value === 'string' && (!isUntyped || /\p{Cc}/u.test(shown)) ? JSON.stringify(shown) : shown;
}
