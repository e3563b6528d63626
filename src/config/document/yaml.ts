/**
 * Converts YAML text to a tree with positions. It expands aliases itself, with a limit, so that aliases cannot exhaust
 * memory.
 */
import { type Alias, isAlias, isMap, isScalar, isSeq, parseDocument, type Node as YamlNode } from 'yaml';
import type { ReportProblem } from './problem.ts';
import { positionOf, type SourceFile, type Span, WHOLE_FILE } from './source.ts';
import { type MapEntry, scalarTree, type Tree } from './tree.ts';

/** Limit of nesting: deeper than any config, and far below what overflows the stack. */
const DEEPEST = 40;
const TOO_DEEP = `values are nested more than ${DEEPEST} deep`;
/** Limit of values that aliases may add. */
const MOST_ALIASED = 10_000;

/** The file as a tree, or undefined if its YAML is not valid. Problems go to `report`. */
export function treeOfYaml(source: SourceFile, report: ReportProblem): Tree | undefined {
  const nul = source.text.indexOf('\u0000');
  if (nul !== -1) {
    report({ start: nul, end: nul + 1 }, 'the text contains a NUL character; remove it');
    return undefined;
  }
  const deep = tooDeep(source.text);
  if (deep !== undefined) {
    report({ start: deep, end: deep + 1 }, TOO_DEEP);
    return undefined;
  }
  const document = parseDocument(source.text, {
    prettyErrors: false,
    uniqueKeys: false,
    strict: true,
    logLevel: 'error',
  });
  const problems = [...document.errors, ...document.warnings];
  // The parser reports each level of an overflowed stack.
  const exhausted = problems.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
  // After an unexpected token, the parser reports nearly every token that follows.
  const unexpected = problems.find(({ code }) => code === UNEXPECTED);
  const telling = problems.filter((it) => it.code !== UNEXPECTED || it === unexpected);
  for (const { code, pos, message } of exhausted ? [exhausted] : telling) {
    const isVariable = code === UNEXPECTED && source.text.startsWith('${', pos[0] - 1);
    const words = isVariable ? UNQUOTED_VARIABLE : OWN_WORDS[code];
    report({ start: pos[0], end: pos[1] }, words ?? `the YAML is not valid: ${lowerFirst(message)}`);
  }
  if (problems.length > 0) return undefined;
  if (!document.contents) {
    report(WHOLE_FILE, 'the file is empty; a config has the keys service, warehouse and syncs');
    return undefined;
  }
  return new Builder(source, report).build(document.contents, WHOLE_FILE, 1);
}

const UNEXPECTED = 'UNEXPECTED_TOKEN';
const UNQUOTED_VARIABLE =
  'a value with ${…} needs quotes inside braces and brackets, such as { token: "${SLUICE_SERVICE_TOKEN}" }';

const OWN_WORDS: Readonly<Record<string, string>> = {
  RESOURCE_EXHAUSTION: TOO_DEEP,
  MULTIPLE_DOCS: 'the file contains several documents; allowed is one',
};

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/**
 * The offset of a bracket that is nested too deeply. The parser would take seconds to overflow its stack on such a
 * text. Brackets in quotes and comments count too, so a text with that many unclosed brackets is refused by mistake.
 */
function tooDeep(text: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth = Math.max(0, depth - 1);
    if (depth > 20 * DEEPEST) return at;
  }
  return undefined;
}

class Builder {
  readonly #source: SourceFile;
  readonly #report: ReportProblem;
  readonly #open = new Set<YamlNode>();
  /** The latest node of each anchor: an alias refers to the nearest anchor before it. */
  readonly #anchors = new Map<string, YamlNode>();
  readonly #targets = new Map<Alias, YamlNode>();
  #aliased = 0;
  #stopped = false;

  constructor(source: SourceFile, report: ReportProblem) {
    this.#source = source;
    this.#report = report;
  }

  /** The tree of a node; undefined if the node or a descendant was refused. */
  build(node: YamlNode | null, fallback: Span, depth: number, aliased = false): Tree | undefined {
    if (this.#stopped) return undefined;
    const span = spanOf(node) ?? fallback;
    if (depth > DEEPEST) return this.#stop(span, TOO_DEEP);
    if (aliased && ++this.#aliased > MOST_ALIASED) {
      return this.#stop(span, `aliases add more than ${MOST_ALIASED} values; write the list once, in a separate file`);
    }
    if (node === null) return scalarTree(null, '', span);
    if (isAlias(node)) {
      const target = this.#targets.get(node) ?? this.#anchors.get(node.source);
      if (!target) return this.#stop(span, `*${node.source} refers to no anchor`);
      if (this.#open.has(target)) return this.#stop(span, `*${node.source} contains itself`);
      this.#targets.set(node, target);
      return this.build(target, span, depth + 1, true);
    }
    if (!aliased && 'anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const built = this.#value(node, span, depth, aliased);
    this.#open.delete(node);
    return built;
  }

  #value(node: YamlNode, span: Span, depth: number, aliased: boolean): Tree | undefined {
    if (isScalar(node)) {
      const { value, source = '' } = node;
      const plain =
        typeof value === 'number' || typeof value === 'boolean' || value === null ? value : textOf(value, source);
      const text = typeof plain === 'string' ? plain : source;
      if (!this.#sound(text, span)) return undefined;
      return scalarTree(plain, text, span);
    }
    if (isSeq(node)) {
      const items = node.items.map((it) => this.build(it as YamlNode | null, span, depth + 1, aliased));
      return items.includes(undefined) ? undefined : { kind: 'list', items: items as Tree[], span };
    }
    if (isMap(node)) {
      const entries = this.#entries(
        node.items as { key: YamlNode | null; value: YamlNode | null }[],
        span,
        depth,
        aliased,
      );
      return entries && { kind: 'map', entries, span };
    }
    return this.#stop(span, 'a scalar, a list or a mapping is allowed here');
  }

  #entries(
    pairs: readonly { key: YamlNode | null; value: YamlNode | null }[],
    span: Span,
    depth: number,
    aliased: boolean,
  ): MapEntry[] | undefined {
    const seen = new Map<string, Span>();
    const entries: MapEntry[] = [];
    let sound = true;
    for (const { key, value } of pairs) {
      const keySpan = spanOf(key) ?? span;
      const name = keyText(key);
      const first = name === undefined ? undefined : seen.get(name);
      if (name === undefined) {
        this.#report(keySpan, 'a key must be text');
        sound = false;
      } else if (first) {
        const { line } = positionOf(this.#source, first.start);
        this.#report(keySpan, `the key ${JSON.stringify(name)} is written twice; the first is on line ${line}`);
        sound = false;
      } else if (this.#sound(name, keySpan)) {
        seen.set(name, keySpan);
        const built = this.build(value, keySpan, depth + 1, aliased);
        if (built) entries.push({ key: name, keySpan, value: built });
        else sound = false;
      } else sound = false;
    }
    return sound ? entries : undefined;
  }

  #sound(text: string, span: Span): boolean {
    const problem = unstorable(text);
    if (problem !== undefined) this.#report(span, problem);
    return problem === undefined;
  }

  #stop(span: Span, message: string): undefined {
    this.#stopped = true;
    this.#report(span, message);
    return undefined;
  }
}

/** A message about the character that Postgres cannot store in a text; undefined if there is none. */
export function unstorable(text: string): string | undefined {
  if (text.includes('\u0000')) return 'the text contains a NUL character; remove it';
  return text.isWellFormed() ? undefined : 'the text contains half of a surrogate pair; write the complete character';
}

function spanOf(node: YamlNode | null): Span | undefined {
  const range = node?.range;
  return range ? { start: range[0], end: Math.max(range[1], range[0] + 1) } : undefined;
}

function keyText(key: YamlNode | null): string | undefined {
  if (!isScalar(key) || key.value === null) return undefined;
  return typeof key.value === 'string' ? key.value : textOf(key.value, key.source ?? '');
}

/**
 * The text of a scalar. Only a tag produces other types than text, number, boolean and null; then the source text is
 * used.
 */
const textOf = (value: unknown, source: string): string => (typeof value === 'string' ? value : source);
