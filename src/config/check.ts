/** Checks a config tree against a schema. Each message says what was found, what is allowed, and where. */
import * as z from 'zod';
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
  const written = coerce(shapeOf(schema, tree), tree);
  const parsed = schema.safeParse(written);
  if (parsed.success) return { written, value: parsed.data };
  const shape = jsonSchemaOf(schema);
  for (const { span, message } of refusalsOf(parsed.error.issues, { shape, tree, keySpan, under }))
    report(span, message);
  return undefined;
}

/** The JSON Schema of the keys that the tree has. Converting all keys of a config takes longer than checking it. */
function shapeOf(schema: z.ZodType, tree: Tree): JsonSchema {
  if (tree.kind !== 'map' || !(schema instanceof z.ZodObject)) return jsonSchemaOf(schema);
  const known = tree.entries.filter(({ key }) => Object.hasOwn(schema.shape, key));
  const properties = known.map(({ key }) => [key, jsonSchemaOf(schema.shape[key] as z.ZodType)] as const);
  return { properties: Object.fromEntries(properties) };
}

interface Refusal {
  readonly span: Span;
  readonly message: string;
}

/** The tree with the issues, and its schema. */
interface Checking {
  readonly shape: JsonSchema;
  readonly tree: Tree;
  readonly keySpan: Span;
  readonly under: string;
}

function refusalsOf(issues: readonly z.core.$ZodIssue[], checking: Checking): Refusal[] {
  const refusals = new Refusals(checking);
  for (const issue of issues) refusals.add(issue);
  return refusals.all();
}

/** The missing keys of one mapping. */
interface MissingKeys {
  readonly span: Span;
  readonly keys: { readonly key: string; readonly words: string }[];
}

/**
 * The problems of a tree. A missing key has no position of its own, so it joins another problem of the same mapping if
 * there is one.
 */
class Refusals {
  readonly #checking: Checking;
  readonly #refused: (Refusal & { readonly parent: string })[] = [];
  /** By the path of their mapping. */
  readonly #missing = new Map<string, MissingKeys>();
  /** The keys that unknown keys are misspellings of, by the path of their mapping. */
  readonly #misspelled = new Map<string, string[]>();
  /** The paths with a refused value. */
  readonly #paths = new Set<string>();

  constructor(checking: Checking) {
    this.#checking = checking;
  }

  add(issue: z.core.$ZodIssue): void {
    const { shape, tree, keySpan } = this.#checking;
    const where = findAt(tree, issue.path, keySpan);
    if (where.tree.kind === 'scalar' && where.tree.hasProblem) return;
    if (issue.code === 'unrecognized_keys') return this.#addUnknownKeys(issue);
    const path = issue.path.join('.');
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    const due = jsonSchemaAt(shape, issue.path) ?? {};
    const isMissing = !where.isComplete && where.tree.kind === 'map' && issue.code === 'invalid_type';
    if (isMissing) this.#addMissing(issue, due, where.keySpan);
    else {
      const parent = ancestor(tree, issue.path);
      if (issue.code === 'invalid_key') this.#refused.push({ span: where.keySpan, parent, message: refusedKey(issue) });
      else this.#refused.push({ span: where.tree.span, parent, message: refused(issue, due, where) });
    }
  }

  all(): Refusal[] {
    const all: Refusal[] = [...this.#refused];
    for (const [parent, { span, keys }] of this.#missing) {
      const meant = this.#misspelled.get(parent) ?? [];
      const left = keys.filter(({ key }) => !meant.includes(key)).map(({ words }) => words);
      if (left.length === 0) continue;
      const beside = this.#refused.findIndex((it) => it.parent === parent);
      const first = all[beside];
      if (first) all[beside] = { ...first, message: `${first.message}. Also missing: ${left.join(', ')}` };
      else all.push({ span, message: `missing: ${left.join(', ')}` });
    }
    return all;
  }

  #addUnknownKeys({ path, keys }: z.core.$ZodIssueUnrecognizedKeys): void {
    const { shape, tree, keySpan } = this.#checking;
    const parent = path.join('.');
    const allowed = Object.keys(jsonSchemaAt(shape, path)?.properties ?? {});
    for (const key of keys) {
      const { keySpan: span } = findAt(tree, [...path, key], keySpan);
      this.#refused.push({ span, parent, message: unknownKey(key, allowed) });
      const meant = nearest(key, allowed);
      if (meant !== undefined) this.#misspelled.set(parent, [...(this.#misspelled.get(parent) ?? []), meant]);
    }
  }

  #addMissing(issue: z.core.$ZodIssue, due: JsonSchema, span: Span): void {
    const parent = issue.path.slice(0, -1).join('.');
    const key = String(issue.path.at(-1));
    const missing = this.#missing.get(parent) ?? { span, keys: [] };
    const prefix = parent === '' ? this.#checking.under : '';
    missing.keys.push({ key, words: `${prefix}${key} (${allowedOr(issue, due)})` });
    this.#missing.set(parent, missing);
  }
}

/** The path of the mapping that contains the refused value. */
function ancestor(tree: Tree, path: readonly PropertyKey[]): string {
  let depth = path.length - 1;
  while (depth > 0 && findAt(tree, path.slice(0, depth)).tree.kind !== 'map') depth -= 1;
  return path.slice(0, Math.max(0, depth)).join('.');
}

const unknownKey = (key: string, allowed: readonly string[]): string =>
  `unknown key ${JSON.stringify(key)}${insteadOf(key, allowed)}`;

/** The name of an entry that the schema of a mapping's names does not accept; that schema has its own message. */
const refusedKey = ({ path, issues }: z.core.$ZodIssueInvalidKey): string =>
  `${JSON.stringify(path.at(-1))} can't be a name here; ${issues[0]?.message ?? ''}`;

const refused = (issue: z.core.$ZodIssue, due: JsonSchema, { name, tree }: TreeMatch): string => {
  const meant = tree.kind === 'scalar' ? nearest(tree.text, (due.enum ?? []).map(String)) : undefined;
  const guess = meant === undefined ? '' : `did you mean ${JSON.stringify(meant)}? `;
  const found = (name === undefined ? undefined : UNSHOWN[name]) ?? foundIn(tree);
  return `${name ?? 'this'} is ${found}; ${guess}${allowedOr(issue, due)}`;
};

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
  STOCK.test(issue.message) ? `allowed is ${allowedBy(due)}${limitOfAll(issue)}` : issue.message;

/** The limit of all whole numbers, which only a message about a greater one needs. */
const limitOfAll = (issue: z.core.$ZodIssue): string =>
  issue.code === 'too_big' && issue.maximum === Number.MAX_SAFE_INTEGER ? ` and at most ${issue.maximum}` : '';

const LONGEST = 60;

/** A description of what was found. A text that came from a variable may be a secret and is not shown. */
export function foundIn(tree: Tree): string {
  if (tree.kind === 'list') return tree.items.length === 0 ? 'an empty list' : 'a list';
  if (tree.kind === 'map') return tree.entries.length === 0 ? 'an empty mapping' : 'a mapping';
  const { value, text, variables, isUntyped } = tree;
  if (variables.length > 0 && !/^[-+.\d]{1,12}$|^(?:true|false)$/.test(text)) {
    return `${text === '' ? 'empty, ' : ''}the value of ${variables.map((it) => `\${${it}}`).join(', ')}`;
  }
  if (value === null) return 'null';
  const plain = masked(text);
  const shown = plain.length > LONGEST ? `${plain.slice(0, LONGEST)}… (${plain.length} characters)` : plain;
  return typeof value === 'string' && (!isUntyped || /\p{Cc}/u.test(shown)) ? JSON.stringify(shown) : shown;
}
