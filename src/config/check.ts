/** Checks a config tree against a schema. Each message says what was found, what is allowed, and where. */
import type * as z from 'zod';
import { coerce } from './values/coerce.ts';
import { insteadOf, nearest } from './document/nearest.ts';
import type { ReportProblem } from './document/problem.ts';
import { allowedBy, jsonSchemaAt, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { masked, type Span } from './document/source.ts';
import { findAt, type TreeMatch, type Tree } from './document/tree.ts';

export interface Checked<T> {
  /** The value as it was written, without defaults. */
  readonly written: unknown;
  /** The value as the schema parses it: with defaults, and with durations and shares as numbers. */
  readonly value: T;
}

/**
 * The tree's value, or undefined if a problem was reported. A missing key of the root is reported at `keySpan`. Its
 * name gets the prefix `under` if that is the position of another mapping.
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

/**
 * The problems of a tree. A missing key has no position of its own, so it joins another problem of the same mapping if
 * there is one.
 */
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
  const reported = new Set<string>();
  for (const issue of issues) {
    const where = findAt(tree, issue.path, keySpan);
    if (where.tree.kind === 'scalar' && where.tree.hasProblem) continue;
    if (issue.code === 'unrecognized_keys') {
      const allowed = Object.keys(jsonSchemaAt(shape, issue.path)?.properties ?? {});
      for (const key of issue.keys) {
        const match = findAt(tree, [...issue.path, key], keySpan);
        refusals.push({ span: match.keySpan, parent: issue.path.join('.'), message: unknownKey(key, allowed) });
        const meant = nearest(key, allowed);
        if (meant !== undefined)
          misspelled.set(issue.path.join('.'), [...(misspelled.get(issue.path.join('.')) ?? []), meant]);
      }
      continue;
    }
    const path = issue.path.join('.');
    if (reported.has(path)) continue;
    reported.add(path);
    const parent = issue.path.slice(0, -1).join('.');
    const due = jsonSchemaAt(shape, issue.path) ?? {};
    if (!where.isComplete && where.tree.kind === 'map' && issue.code === 'invalid_type') {
      const keys = missing.get(parent) ?? { span: where.keySpan, keys: [], words: [] };
      keys.keys.push(String(issue.path.at(-1)));
      keys.words.push(`${parent === '' ? under : ''}${String(issue.path.at(-1))} (${allowedOr(issue, due)})`);
      missing.set(parent, keys);
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
    const left = words.filter((_, index) => !meant.includes(keys[index] ?? ''));
    if (left.length === 0) continue;
    const beside = refusals.findIndex((it) => it.parent === parent);
    const first = all[beside];
    if (first) all[beside] = { ...first, message: `${first.message}. Also missing: ${left.join(', ')}` };
    else all.push({ span, message: `missing: ${left.join(', ')}` });
  }
  return all;
}

/** The path of the mapping that contains the refused value. */
function ancestor(tree: Tree, path: readonly PropertyKey[]): string {
  let depth = path.length - 1;
  while (depth > 0 && findAt(tree, path.slice(0, depth)).tree.kind !== 'map') depth -= 1;
  return path.slice(0, Math.max(0, depth)).join('.');
}

const unknownKey = (key: string, allowed: readonly string[]): string =>
  `unknown key ${JSON.stringify(key)}${insteadOf(key, allowed)}`;

const refused = (issue: z.core.$ZodIssue, due: JsonSchema, { name, tree }: TreeMatch): string =>
  `${name ?? 'this'} is ${(name === undefined ? undefined : UNSHOWN[name]) ?? foundIn(tree)}; ${allowedOr(issue, due)}`;

/** Keys whose values are secrets even if the file contains them, with the words that replace the value. */
const UNSHOWN: Readonly<Record<string, string>> = {
  token: 'not a valid header value',
  webhook: 'not an address to post to',
};

/**
 * Zod's default messages say neither what was found nor all that is allowed. A schema's own message takes precedence.
 */
const STOCK = /^(?:Invalid|Too big|Too small|Unrecognized)/;
const allowedOr = (issue: z.core.$ZodIssue, due: JsonSchema): string =>
  STOCK.test(issue.message) ? `allowed is ${allowedBy(due)}` : issue.message;

const LONGEST = 60;

/** A description of what was found. A text that came from a variable may be a secret and is not shown. */
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
