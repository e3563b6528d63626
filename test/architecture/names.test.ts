/** Endpoints, resources and tables are data: other code reads their declarations and does not know their names. */
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { catalog } from '../../src/service/catalog.ts';
import { resourcesOf } from '../../src/warehouse/schema/resources.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { sourceFiles } from './imports.ts';

/** Folders that declare or simulate particular endpoints. */
const DECLARING = ['service/', 'sandbox/world/'];

/** Files and folders that may contain such names, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'warehouse/schema/views/': 'a view is written for particular tables',
  'config/starters.ts': 'a first sync of each endpoint, for sluice init',
  'sandbox/answers.ts': 'maps each endpoint to its part of the world',
  'cli/commands/catalog/': 'examples in help',
  'cli/commands/forget.ts': 'examples in help',
  'cli/commands/init.ts': 'examples in help',
  'cli/commands/promote/promote.ts': 'examples in help',
  'cli/commands/query.ts': 'examples in help',
};

const resources = resourcesOf(catalog);

/** Fields that identify an entity of one resource. Words such as `name` or `url` are too common to be looked for. */
const IDENTIFYING = resources
  .flatMap(({ identifiedBy = {} }) => Object.keys(identifiedBy))
  .filter((field) => field.includes('_'));

const NAMES: ReadonlySet<string> = new Set([
  ...catalog.flatMap(({ name, path }) => [name, path]),
  ...resources.map(({ name }) => name),
  ...tables.map(({ name }) => name),
  ...IDENTIFYING,
]);

/** The names in the string literals and templates of a file; a table also after a schema and a dot. */
function namesIn(file: string, text: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, value } = node as { type?: unknown; value?: unknown };
    if (type === 'Literal' && typeof value === 'string') found.push(value);
    if (type === 'TemplateElement') found.push(String((value as { cooked: string | null }).cooked));
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(parseAst(text, { lang: 'ts' }, file));
  return found
    .flatMap((it) => it.match(/[\w./]+/g) ?? [])
    .map((it) => it.replace(/\.$/, ''))
    .flatMap((it) => [it, it.split('.').at(-1) ?? ''])
    .filter((it) => NAMES.has(it));
}

it('only declarations and listed files name an endpoint, a resource, an analyst table or an identifying field', async () => {
  const files = await sourceFiles();
  const naming = files
    .filter(({ path }) => !DECLARING.some((folder) => path.startsWith(folder)))
    .map(({ path, text }) => ({ path, names: [...new Set(namesIn(path, text))] }))
    .filter(({ names }) => names.length > 0);
  const exceptionOf = (path: string) => Object.keys(EXCEPTIONS).find((it) => path.startsWith(it));
  expect(naming.filter(({ path }) => exceptionOf(path) === undefined)).toEqual([]);
  expect([...new Set(naming.map(({ path }) => exceptionOf(path)))].toSorted()).toEqual(
    Object.keys(EXCEPTIONS).toSorted(),
  );
});

it.each([
  "const a = 'token.requests';",
  'const a = sql`select 1 from ${schema}.sec_filings where true`;',
  "const a = 'GET /token/requests.';",
  "if (resource.name === 'PronetPost') run();",
  'const a = sql`select from "sluice".pronet_users`;',
  "const a = value['internal_id'];",
])('a name in code is found: %s', (text) => {
  expect(namesIn('a.ts', text)).not.toEqual([]);
});
