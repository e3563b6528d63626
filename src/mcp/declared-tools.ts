/** Tools that describe what there is, from the declarations in the code: tables, columns and endpoints. */
import * as z from 'zod';
import { type Tool, tool } from './tool.ts';

/** The functions behind the tools. */
export interface Declarations {
  /** The tables and views for analysis, or the internal ones. */
  readonly tables: (isInternal: boolean) => Promise<readonly object[]>;
  readonly table: (name: string) => Promise<object>;
  readonly endpoints: () => readonly object[];
  readonly endpoint: (name: string) => object;
}

const ALLOWED = { holds: 'declared', isReadOnly: true } as const;
const texts = z.array(z.string());
const named = { name: z.string(), about: z.string() };

/** The tools that describe what these functions return. */
export const declaredTools = ({ tables, table, endpoints, endpoint }: Declarations): readonly Tool[] => [
  tool({
    ...ALLOWED,
    name: 'tables',
    title: 'List tables',
    description:
      'List the tables and views of the warehouse with their keys and their meaning. Call it before you write SQL, then describe_table for the columns. Costs no points.',
    input: z.strictObject({
      internal: z
        .boolean()
        .default(false)
        .describe('List the internal tables (runs, requests, answers) instead of those for analysis.'),
    }),
    result: z.object({ tables: z.array(z.looseObject({ ...named, kind: z.string(), key: texts })) }),
    run: async ({ internal }) => ({ result: { tables: await tables(internal) } }),
  }),
  tool({
    ...ALLOWED,
    name: 'describe_table',
    title: 'Describe a table',
    description:
      'Describe one table or view: its key, its foreign keys, each column with type and meaning, and which parts of which answers feed it. Use the names and types in SQL as they are. Costs no points.',
    input: z.strictObject({ name: z.string().min(1).describe('The name of a table or view, as tables returns it.') }),
    result: z.looseObject({
      ...named,
      kind: z.string(),
      key: texts,
      columns: z.array(z.looseObject({ ...named, type: z.string(), nullable: z.boolean(), isPersonal: z.boolean() })),
      references: z.array(z.looseObject({ columns: texts, table: z.string(), references: texts })),
    }),
    run: async ({ name }) => ({ result: await table(name) }),
  }),
  tool({
    ...ALLOWED,
    name: 'endpoints',
    title: 'List endpoints',
    description:
      'List what a sync can request from the service: each endpoint with its meaning, its table, how full answers are split, and the first guess of its price. With a name, also its request fields with types and bounds, the tables that it feeds, and a config to begin with. Costs no points.',
    input: z.strictObject({
      name: z.string().min(1).optional().describe('Describe only this endpoint, in detail.'),
    }),
    result: z.object({ endpoints: z.array(z.looseObject({ ...named, table: z.string() })) }),
    run: async ({ name }) => ({ result: { endpoints: name === undefined ? endpoints() : [endpoint(name)] } }),
  }),
];
