/** Tools that describe what there is, from the declarations in the code: tables, columns and endpoints. */
import * as z from 'zod';
import { nearest } from '../config/document/nearest.ts';
import { jsonSchemaOf } from '../config/json-schema.ts';
import { UsageError } from '../errors.ts';
import { catalog, endpointNamed } from '../service/catalog.ts';
import type { Endpoint } from '../service/endpoint.ts';
import { type DictionaryEntry, dictionary } from '../warehouse/schema/dictionary.ts';
import { type Tool, tool } from './tool.ts';

/** The names of the schemas, by the area of their tables. */
export type SchemaNames = Readonly<Record<DictionaryEntry['area'], string>>;

/** The tools for a warehouse with these schemas. */
export const declaredTools = (schemas: SchemaNames): readonly Tool[] => {
  const nameOf = ({ area, table }: Pick<DictionaryEntry, 'area' | 'table'>): string =>
    area === 'analyst' ? table : `${schemas[area]}.${table}`;
  return [tablesTool(nameOf), describeTool(nameOf), endpointsTool];
};

type NameOf = (entry: Pick<DictionaryEntry, 'area' | 'table'>) => string;

const kind = z.enum(['table', 'view']);
const ALLOWED = { holds: 'declared', isReadOnly: true } as const;

const tablesTool = (nameOf: NameOf): Tool =>
  tool({
    ...ALLOWED,
    name: 'tables',
    title: 'List tables',
    description:
      'List the tables and views of the warehouse with their meaning. Call it before you write SQL, then describe_table for the columns. Costs no points.',
    input: z.strictObject({
      internal: z
        .boolean()
        .default(false)
        .describe('List the internal tables (runs, requests, answers) instead of those for analysis.'),
    }),
    result: z.object({ tables: z.array(z.object({ name: z.string(), kind, about: z.string() })) }),
    run: async ({ internal }) => ({
      result: {
        tables: dictionary()
          .filter(({ area }) => (area === 'operations') === internal)
          .map((entry) => ({ name: nameOf(entry), kind: entry.kind, about: entry.about })),
      },
    }),
  });

const describeTool = (nameOf: NameOf): Tool =>
  tool({
    ...ALLOWED,
    name: 'describe_table',
    title: 'Describe a table',
    description:
      'Describe one table or view: its key, its references, and each column with type and meaning. Use the names and types in SQL as they are. Costs no points.',
    input: z.strictObject({ name: z.string().min(1).describe('The name of a table or view, as tables returns it.') }),
    result: z.object({
      name: z.string(),
      kind,
      about: z.string(),
      key: z.array(z.string()).describe('The columns that identify a row.'),
      columns: z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          nullable: z.boolean(),
          about: z.string(),
          isPersonal: z.boolean().describe('True if the column holds personal data.'),
        }),
      ),
      references: z.array(
        z.object({ columns: z.array(z.string()), table: z.string(), references: z.array(z.string()) }),
      ),
    }),
    run: async ({ name }) => {
      const entries = dictionary();
      const entry = entries.find((it) => name === nameOf(it) || name.split('.').at(-1) === it.table);
      if (!entry) throw unknownName('table', name, entries.map(nameOf));
      const { area, table, references, ...rest } = entry;
      const named = references.map((it) => ({ ...it, table: nameOf({ area, table: it.table }) }));
      return { result: { name: nameOf({ area, table }), ...rest, references: named } };
    },
  });

const endpointsTool = tool({
  ...ALLOWED,
  name: 'endpoints',
  title: 'List endpoints',
  description:
    'List what a sync can request from the service: each endpoint with its meaning, its first table and the first guess of its price. With a name, also the JSON Schema of its request. Costs no points.',
  input: z.strictObject({
    name: z.string().min(1).optional().describe('Describe only this endpoint, with the schema of its request.'),
  }),
  result: z.object({
    endpoints: z.array(
      z.object({
        name: z.string(),
        about: z.string(),
        table: z.string().describe('The table of the returned items.'),
        price: z
          .object({ points: z.number(), per: z.number().optional() })
          .describe('Guessed points for a request, or for each started `per` results.'),
        splitBy: z.array(z.string()).describe('The request fields that split_by accepts.'),
        request: z.record(z.string(), z.unknown()).optional().describe('The JSON Schema of the request.'),
      }),
    ),
  }),
  run: async ({ name }) => {
    if (name === undefined) return { result: { endpoints: catalog.map(overviewOf) } };
    const endpoint = endpointNamed(name);
    if (!endpoint) {
      const names = catalog.map((it) => it.name);
      throw unknownName('endpoint', name, names);
    }
    return { result: { endpoints: [{ ...overviewOf(endpoint), request: jsonSchemaOf(endpoint.request) }] } };
  },
});

const overviewOf = ({ name, about, returns, price, facets }: Endpoint) => ({
  name,
  about,
  table: returns.table,
  price,
  splitBy: facets,
});

function unknownName(what: 'table' | 'endpoint', name: string, names: readonly string[]): UsageError {
  const meant = nearest(name, names);
  const next = meant === undefined ? `Call ${what}s for the list.` : `Did you mean ${meant}?`;
  return new UsageError(`There is no ${what} ${JSON.stringify(name)}.`, { next });
}
