/**
 * Writes a JSON Schema to `docs/schemas/` for each output that the commands print with `show`, `showGenerated`, `versioned` or `logged`,
 * and the page that lists them. The schemas are the types of the printed values, so a type and its schema cannot differ. With `--check`,
 * it lists stale files instead.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCallExpression, isIdentifier, isStringLiteral } from 'typescript/unstable/ast/is';
import type { Expression, Node } from 'typescript/unstable/ast';
import {
  API,
  type Checker,
  type Symbol as Property,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync';
import { generated, markdownTable, page } from '../src/cli/reference/markdown.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Declared {
  readonly name: string;
  readonly value: Expression;
  readonly isLogged: boolean;
}

/** The fields of each line of the log. */
const LINE = {
  level: { enum: ['debug', 'info', 'warn', 'error'] },
  time: { type: 'string', format: 'date-time' },
  message: { type: 'string' },
};

const ROOT = join(import.meta.dirname, '..');

/** The schemas of all outputs by name. */
function outputSchemas(): ReadonlyMap<string, Schema> {
  const api = new API({ cwd: ROOT });
  try {
    const project = api.updateSnapshot({ openProjects: [join(ROOT, 'tsconfig.json')] }).getProjects()[0];
    if (!project) throw new Error('tsconfig.json is not a project');
    const { checker, program } = project;
    const schemas = new Map<string, Schema>();
    for (const file of program.getSourceFileNames().filter((it) => it.startsWith(join(ROOT, 'src/cli/')))) {
      for (const declared of declaredIn(program.getSourceFile(file))) {
        const schema = schemaOfOutput(declared, checker);
        const other = schemas.get(declared.name);
        if (other && JSON.stringify(other) !== JSON.stringify(schema))
          throw new Error(`${file}: another value is printed as ${declared.name}; give one of them its own name`);
        schemas.set(declared.name, schema);
      }
    }
    return new Map([...schemas].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  } finally {
    api.close();
  }
}

/** The functions that print a value, each with the position of its name; the value follows. */
const PRINTS: Readonly<Record<string, number>> = { show: 1, showGenerated: 1, versioned: 0, logged: 0 };

/** The values with a name that a file prints. */
function declaredIn(node: Node | undefined): Declared[] {
  const found: Declared[] = [];
  const visit = (it: Node): void => {
    if (isCallExpression(it) && isIdentifier(it.expression)) {
      const { text } = it.expression;
      const [name, value] = it.arguments.slice(PRINTS[text] ?? it.arguments.length);
      if (name && value && isStringLiteral(name)) found.push({ name: name.text, value, isLogged: text === 'logged' });
    }
    it.forEachChild(visit);
  };
  node?.forEachChild(visit);
  return found;
}

function schemaOfOutput({ name, value, isLogged }: Declared, checker: Checker): Schema {
  const type = checker.getTypeAtLocation(value);
  const [output = '', version = ''] = name.split('/');
  const {
    properties,
    required = [],
    ...schema
  }: Schema & { properties?: object; required?: readonly string[] } = type ? schemaOf(type, checker, name) : {};
  if (properties && 'format' in properties) throw new Error(`${name}: the key format is taken`);
  const added = { ...(isLogged && LINE), format: { const: name } };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:sluice:output:${output}:${version}`,
    ...schema,
    ...(schema['type'] === 'object' && {
      properties: { ...added, ...properties },
      required: [...Object.keys(added), ...required],
    }),
  };
}

const is = ({ flags }: Type, wanted: number): boolean => (flags & wanted) !== 0;

/** The schema of the JSON of a value of this type. Throws an error for a type that JSON cannot represent. */
function schemaOf(type: Type, checker: Checker, path: string): Schema {
  if (is(type, TypeFlags.Unknown) || type.getAliasSymbol()?.name === 'JsonValue') return {};
  if (type.isUnionType()) return unionOf(type.getTypes(), checker, path);
  if (type.isLiteralType()) return { const: type.value };
  if (is(type, TypeFlags.Null)) return { type: 'null' };
  if (is(type, TypeFlags.String | TypeFlags.TemplateLiteral | TypeFlags.BigInt)) return { type: 'string' };
  if (is(type, TypeFlags.Number)) return { type: 'number' };
  if (is(type, TypeFlags.Boolean)) return { type: 'boolean' };
  if (type.getSymbol()?.name === 'Date') return { type: 'string', format: 'date-time' };
  if (checker.isArrayType(type) && type.isTypeReference()) {
    const [item] = checker.getTypeArguments(type);
    return { type: 'array', ...(item && { items: schemaOf(item, checker, `${path}[]`) }) };
  }
  if (type.isObjectType() || type.isIntersectionType()) return objectOf(type, checker, path);
  throw new Error(`${path}: ${checker.typeToString(type)} has no JSON Schema`);
}

function unionOf(types: readonly Type[], checker: Checker, path: string): Schema {
  // An empty array adds nothing to the arrays beside it.
  const members = types.filter((it) => !is(it, TypeFlags.Undefined) && checker.typeToString(it) !== 'never[]');
  const isBoolean = members.filter((it) => it.isBooleanLiteralType()).length === 2;
  const literals = members.filter((it) => it.isLiteralType() && !(isBoolean && it.isBooleanLiteralType()));
  const others = members.filter((it) => !it.isLiteralType()).map((it) => schemaOf(it, checker, path));
  const schemas = [
    ...(literals.length > 0 ? [{ enum: literals.map((it) => (it.isLiteralType() ? it.value : null)) }] : []),
    ...(isBoolean ? [{ type: 'boolean' }] : []),
    ...others,
  ];
  return schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };
}

function objectOf(type: Type, checker: Checker, path: string): Schema {
  const [index] = checker.getIndexInfosOfType(type);
  const properties = checker.getPropertiesOfType(type);
  const read = properties.map((property) => {
    const own = checker.getTypeOfSymbol(property);
    if (!own || checker.getSignaturesOfType(own, 0).length > 0)
      throw new Error(`${path}.${property.name} is a function`);
    const about = property.getDocumentationComment(checker);
    const schema = {
      ...(about !== '' && { description: about }),
      ...schemaOf(own, checker, `${path}.${property.name}`),
    };
    return { name: property.name, schema, isRequired: !isOptional(property, own) };
  });
  const required = read.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    ...(read.length > 0 && { properties: Object.fromEntries(read.map(({ name, schema }) => [name, schema])) }),
    ...(required.length > 0 && { required }),
    ...(index && { additionalProperties: schemaOf(index.valueType, checker, `${path}.*`) }),
  };
}

const isOptional = (property: Property, type: Type): boolean =>
  (property.flags & SymbolFlags.Optional) !== 0 ||
  (type.isUnionType() && type.getTypes().some((it) => is(it, TypeFlags.Undefined)));

/** The files by path: one for each schema, and the page that lists them. */
function filesOf(schemas: ReadonlyMap<string, Schema>): ReadonlyMap<string, string> {
  const rows = [...schemas].map(([name, schema]) => {
    const [output = '', version = ''] = name.split('/');
    const form = 'level' in ((schema['properties'] as object | undefined) ?? {}) ? 'line of the log' : schema['type'];
    return {
      path: `${FOLDER}/${output}.json`,
      schema,
      cells: [`[${output}](schemas/${output}.json)`, version, String(form)],
    };
  });
  return new Map([
    ...rows.map(({ path, schema }) => [path, `${JSON.stringify(schema, null, 2)}\n`] as const),
    [
      'docs/json.md',
      page([
        ...TEXT,
        markdownTable(
          ['Output', 'Version', 'Form'],
          rows.map(({ cells }) => cells),
        ),
      ]),
    ],
  ]);
}

const FOLDER = 'docs/schemas';
const TEXT = [
  generated('JSON outputs'),
  'With `--json`, a command prints its result as JSON to standard output. Each output has a JSON Schema in `schemas/`, which the npm package contains too.',
  'An object has its name and the version of its schema in `format`, such as `sync/1`; results of `status`, `costs`, `plan` and `sync` of `sluice mcp` have it too. Arrays have no version. An incompatible change replaces the array with an object.',
  'A new version of Sluice can add keys and values without a new version of the schema, so ignore those that you do not know. The version increases if a key is removed or renamed, or changes its type or meaning.',
  '`schema` prints a JSON Schema, and `dbt` a sources file for dbt. These documents have neither `format` nor a schema here.',
  'With `--json`, a command that ends with an error instead of a result prints the output `error` as the last line of standard error, unless that is a terminal. A command that prints a result prints no such line, whatever its exit code: the result of `sync`, `check` or `alerts test` shows what failed. `sync`, `replay`, `schedule`, `worker` and `mcp` print it without `--json` too, except for errors of the command line and in CI jobs (`CI` is set), where errors are plain text. A signal is no error: only the exit code 128+n reports it. `retryable` is true for exit codes 5, 7 and 128+n: a scheduler may run the same command again. The summary of `sync` and the output `run` have it too.',
  '`run` is a line that `schedule` and `worker` print for each run that ends. `progress` is a line of the log of a long-running command.',
];

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

const files = filesOf(outputSchemas());
const unknown = readdirSync(join(ROOT, FOLDER)).filter((name) => !files.has(`${FOLDER}/${name}`));
const stale = [...files].filter(([path, content]) => textOf(join(ROOT, path)) !== content);
const isCheck = process.argv.includes('--check');
for (const name of unknown) {
  if (!isCheck) rmSync(join(ROOT, FOLDER, name));
  process.stdout.write(`${FOLDER}/${name} ${isCheck ? 'is stale' : 'removed'}\n`);
}
for (const [path, content] of stale) {
  if (!isCheck) writeFileSync(join(ROOT, path), content);
  process.stdout.write(`${path} ${isCheck ? 'is stale' : 'written'}\n`);
}
if (isCheck && stale.length + unknown.length > 0) process.exitCode = 1;
