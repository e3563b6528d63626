/** Finds the object literal in the source files that declares the fields of an object: only a checkout has them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../src/errors.ts';

/** A node of the syntax tree. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [property: string]: unknown;
}

/** A source file with the names that it declares and imports. */
export interface SourceModule {
  /** The path below the root of the checkout. */
  readonly path: string;
  readonly text: string;
  readonly constants: ReadonlyMap<string, SyntaxNode>;
  readonly imports: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
  /** The import of the constructors of fields. */
  readonly constructors: SyntaxNode | undefined;
}

/** A node in its file. */
export interface NodeInFile {
  readonly file: SourceModule;
  readonly node: SyntaxNode;
}

const FOLDER = ['src', 'service', 'resources'];

/** The files that declare resources, by name. Throws a UsageError if the packages for development are not installed. */
export async function readDeclarations(root: string): Promise<ReadonlyMap<string, SourceModule>> {
  const { parseAst } = await import('rolldown/parseAst').catch((error: unknown) => {
    throw new UsageError('promote: the packages for development are not installed, so sources cannot be read', {
      next: 'Run npm ci in the checkout.',
      cause: error,
    });
  });
  const folder = join(root, ...FOLDER);
  const names = (await readdir(folder)).filter((it) => it.endsWith('.ts'));
  const modules = names.map(async (name) => {
    const text = await readFile(join(folder, name), 'utf8');
    return [name, moduleOf([...FOLDER, name].join('/'), text, parseAst(text, { lang: 'ts' }, name))] as const;
  });
  return new Map(await Promise.all(modules));
}

function moduleOf(path: string, text: string, program: unknown): SourceModule {
  const constants = new Map<string, SyntaxNode>();
  const imports = new Map<string, { from: string; name: string }>();
  let constructors: SyntaxNode | undefined;
  for (const statement of nodesIn(program, 'body')) {
    const declaration = nodeIn(statement, 'declaration') ?? statement;
    for (const it of nodesIn(declaration, 'declarations')) {
      const init = nodeIn(it, 'init');
      if (init) constants.set(nameOf(nodeIn(it, 'id')) ?? '', init);
    }
    if (statement.type !== 'ImportDeclaration') continue;
    const from = valueOf(nodeIn(statement, 'source'));
    if (from.endsWith('/field.ts')) constructors = statement;
    for (const it of nodesIn(statement, 'specifiers'))
      imports.set(nameOf(nodeIn(it, 'local')) ?? '', {
        from: from.replace(/^.*\//, ''),
        name: nameOf(nodeIn(it, 'imported')) ?? '',
      });
  }
  return { path, text, constants, imports, constructors };
}

/** The literal of the fields of a resource; undefined if no file has it. */
export function fieldsOfResource(modules: ReadonlyMap<string, SourceModule>, name: string): NodeInFile | undefined {
  for (const file of modules.values()) {
    for (const init of file.constants.values()) {
      const options = optionsOfResource(init);
      if (!options || valueOf(valueIn(options, 'name')) !== name) continue;
      const node = valueIn(options, 'fields');
      return node && { file, node };
    }
  }
  return undefined;
}

const optionsOfResource = (node: SyntaxNode): SyntaxNode | undefined =>
  nameOf(nodeIn(node, 'callee')) === 'resource' ? nodesIn(node, 'arguments')[0] : undefined;

/**
 * The expression of the fields of the object or list at this path; undefined where the code does not show it, as for URNs.
 */
export function fieldsAt(
  modules: ReadonlyMap<string, SourceModule>,
  fields: NodeInFile,
  [name, ...rest]: readonly string[],
): NodeInFile | undefined {
  if (name === undefined) return fields;
  const value = propertyOf(modules, fields, name);
  const inner = value && fieldsInValue(modules, value);
  return inner && fieldsAt(modules, inner, rest);
}

/** The value of a property, also one that the literal spreads. */
function propertyOf(
  modules: ReadonlyMap<string, SourceModule>,
  from: NodeInFile,
  name: string,
): NodeInFile | undefined {
  const literal = resolved(modules, from);
  if (literal?.node.type !== 'ObjectExpression') return undefined;
  const own = valueIn(literal.node, name);
  if (own) return { file: literal.file, node: own };
  for (const it of nodesIn(literal.node, 'properties').toReversed()) {
    const spread = it.type === 'SpreadElement' ? nodeIn(it, 'argument') : undefined;
    const found = spread && propertyOf(modules, { file: literal.file, node: spread }, name);
    if (found) return found;
  }
  return undefined;
}

/** The fields of an object or a list, inside constructors such as `required(...)`. */
function fieldsInValue(modules: ReadonlyMap<string, SourceModule>, from: NodeInFile): NodeInFile | undefined {
  const value = resolved(modules, from);
  if (value?.node.type !== 'CallExpression') return undefined;
  const constructor = nameOf(nodeIn(value.node, 'callee')) ?? '';
  const [first, second] = nodesIn(value.node, 'arguments');
  if (constructor === 'object' || constructor === 'objects') return second && { file: value.file, node: second };
  return first && fieldsInValue(modules, { file: value.file, node: first });
}

/** The expression behind names, and behind `resource.fields`. */
function resolved(modules: ReadonlyMap<string, SourceModule>, from: NodeInFile): NodeInFile | undefined {
  const { file, node } = from;
  if (node.type === 'MemberExpression' && nameOf(nodeIn(node, 'property')) === 'fields') {
    const object = nodeIn(node, 'object');
    const owner = object && resolved(modules, { file, node: object });
    const options = owner && optionsOfResource(owner.node);
    const fields = options && valueIn(options, 'fields');
    return owner && fields && resolved(modules, { file: owner.file, node: fields });
  }
  const name = nameOf(node);
  if (name === undefined) return from;
  const constant = constantNamed(modules, file, name);
  return constant && resolved(modules, constant);
}

/** The constant of this name in the file, or in the file that it is imported from. */
function constantNamed(
  modules: ReadonlyMap<string, SourceModule>,
  file: SourceModule,
  name: string,
): NodeInFile | undefined {
  const imported = file.imports.get(name);
  const other = imported ? modules.get(imported.from) : file;
  const node = other?.constants.get(imported?.name ?? name);
  return other && node && { file: other, node };
}

const isSyntaxNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

/** The node at this property of a node. */
function nodeIn(node: SyntaxNode | undefined, property: string): SyntaxNode | undefined {
  const value = node?.[property];
  return isSyntaxNode(value) ? value : undefined;
}

/** The nodes in this property of a node, which is an array. */
export function nodesIn(node: unknown, property: string): SyntaxNode[] {
  const value = typeof node === 'object' && node !== null ? (node as Readonly<Record<string, unknown>>)[property] : [];
  return Array.isArray(value) ? value.filter(isSyntaxNode) : [];
}

/** The name of an identifier. */
export const nameOf = (node: SyntaxNode | undefined): string | undefined =>
  node?.type === 'Identifier' && typeof node['name'] === 'string' ? node['name'] : undefined;

const valueOf = (node: SyntaxNode | undefined): string => (typeof node?.['value'] === 'string' ? node['value'] : '');

const valueIn = (literal: SyntaxNode, name: string): SyntaxNode | undefined =>
  nodeIn(
    nodesIn(literal, 'properties').find((it) => {
      const key = nodeIn(it, 'key');
      return nameOf(key) === name || valueOf(key) === name;
    }),
    'value',
  );
