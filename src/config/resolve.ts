/** Fills the variables of a tree's scalars from the environment, or from the files that `VAR_FILE` names. */
import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { interpolate, type TemplatePart, parseTemplate, type Variable, variablesOf } from './document/interpolate.ts';
import type { ReportProblem } from './document/problem.ts';
import type { SourceFile, Span } from './document/source.ts';
import type { Tree } from './document/tree.ts';
import type { OptionalReading } from './optional.ts';
import { unstorable } from './document/yaml.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** A variable's value, or the reason why there is none. */
type Value = { readonly value: string | undefined } | { readonly problem: string };
type Values = ReadonlyMap<string, Value>;

/** The longest file that `VAR_FILE` may name. A secret has a line or two, so a longer file is a mistake. */
const LONGEST_SECRET = 65_536;

export interface ResolveOptions {
  readonly source: SourceFile;
  readonly report: ReportProblem;
  /** How a setting is read that some commands do without; undefined for any other setting. */
  readonly readingOf: (path: readonly string[]) => OptionalReading | undefined;
}

/**
 * The tree with every variable filled in. An optional setting has no value if it is only an unset `${VAR}` and may be, or
 * if a problem of its variables was reported.
 */
export async function resolveTree(tree: Tree, env: Env, options: ResolveOptions): Promise<Tree> {
  const values = await valuesOf(namesIn(tree), env);
  return resolved(tree, [], { ...options, values });
}

interface Context extends ResolveOptions {
  readonly values: Values;
}

function namesIn(tree: Tree): Set<string> {
  if (tree.kind === 'map') return new Set(tree.entries.flatMap((it) => [...namesIn(it.value)]));
  if (tree.kind === 'list') return new Set(tree.items.flatMap((it) => [...namesIn(it)]));
  const parts = parseTemplate(tree.text);
  return new Set('malformed' in parts ? [] : variablesOf(parts));
}

async function valuesOf(names: ReadonlySet<string>, env: Env): Promise<Values> {
  const found = await Promise.all([...names].map(async (name) => [name, await readVariable(name, env)] as const));
  return new Map(found);
}

/**
 * The value of a variable. An empty variable counts as unset if `VAR_FILE` is set, because containers clear it that
 * way.
 */
export async function readVariable(name: string, env: Env): Promise<Value> {
  const value = env[name];
  const path = env[`${name}_FILE`] ?? '';
  if ((value !== undefined && value !== '') || path === '') return { value };
  try {
    const bytes = await readFile(path);
    if (!isUtf8(bytes)) return { problem: `${name}_FILE names ${JSON.stringify(path)}, which is not UTF-8 text` };
    const text = bytes.toString();
    if (text.length > LONGEST_SECRET)
      return { problem: `${name}_FILE names a file of more than ${LONGEST_SECRET} characters` };
    // Editors on Windows begin a file with a byte order mark.
    return { value: text.replace(/^\uFEFF|[\r\n]+$/g, '') };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return { problem: `${name}_FILE names ${JSON.stringify(path)}, which can't be read (${code})` };
  }
}

function resolved(tree: Tree, path: readonly string[], context: Context): Tree {
  if (tree.kind === 'list') return { ...tree, items: tree.items.map((it) => resolved(it, [...path, '*'], context)) };
  if (tree.kind === 'map') {
    const entries = tree.entries.map((it) => ({ ...it, value: resolved(it.value, [...path, it.key], context) }));
    return { ...tree, entries };
  }
  if (!tree.text.includes('$')) return tree;
  const parts = parseTemplate(tree.text);
  if ('malformed' in parts) {
    context.report(tree.span, parts.malformed);
    return { ...tree, hasProblem: true };
  }
  const optional = context.readingOf(path);
  const refuse = (message: string, name?: string): Tree => {
    const { report } = optional ?? context;
    report(name === undefined ? tree.span : spanOfVariable(context.source, tree.span, name), message);
    return optional?.without(tree) ?? { ...tree, hasProblem: true };
  };
  const names = variablesOf(parts);
  for (const name of names) {
    const value = context.values.get(name);
    if (value && 'problem' in value) return refuse(value.problem, name);
  }
  const filled = interpolate(parts, (name) => plainValue(context.values.get(name)));
  if ('unset' in filled) {
    const mayBeUnset = isAlone(parts) && filled.unset.message === undefined && optional?.mayBeUnset === true;
    return mayBeUnset ? optional.without(tree) : refuse(unsetMessage(filled.unset), filled.unset.name);
  }
  const problem = unstorable(filled.text);
  if (problem !== undefined) return refuse(`${names.map((it) => `\${${it}}`).join(', ')}: ${problem}`);
  const isUntyped = tree.isUntyped || names.length > 0;
  return { ...tree, value: filled.text, text: filled.text, isUntyped, variables: names };
}

const isAlone = (parts: readonly TemplatePart[]): boolean => parts.length === 1;
const plainValue = (value: Value | undefined): string | undefined =>
  value && 'value' in value ? value.value : undefined;

function unsetMessage({ name, message: complaint }: Variable): string {
  if (complaint === undefined)
    return `the variable ${name} is not set; set it (or ${name}_FILE), or write \${${name}:-default}`;
  return `the variable ${name} is not set${complaint === '' ? '' : `: ${complaint}`}`;
}

/** The position of the variable in the file; that of the scalar if escapes hide the variable. */
function spanOfVariable({ text }: SourceFile, span: Span, name: string): Span {
  const at = text.indexOf(`\${${name}`, span.start);
  return at === -1 || at >= span.end ? span : { start: at, end: at + name.length + 2 };
}
