/** Tools that read the warehouse and spend nothing. */
import * as z from 'zod';
import type { QueryResult } from '../warehouse/connect/query.ts';
import { limitLists, limitRows, MOST_ROWS } from './answer-limits.ts';
import { type Tool, tool } from './tool.ts';

/** The functions behind the tools. Each opens the warehouse for one call. */
export interface Readings {
  /** Reads at most so many rows of a read-only statement. */
  readonly query: (sql: string, mostRows: number, signal: AbortSignal) => Promise<QueryResult>;
  readonly status: (signal: AbortSignal) => Promise<object>;
  readonly costs: (since: string | undefined, signal: AbortSignal) => Promise<object>;
  readonly plan: (names: readonly string[], signal: AbortSignal) => Promise<object>;
  /** The newest entries, at most so many. */
  readonly quarantine: (most: number, signal: AbortSignal) => Promise<readonly object[]>;
}

const READ_ONLY = { holds: 'data', isReadOnly: true } as const;
/** Objects whose further keys `sluice COMMAND --json` has too; `docs/json.md` lists their schemas. */
const objects = z.array(z.looseObject({}));
/** Newest entries that are returned. */
const MOST_ENTRIES = 200;

/** The tools that read through these functions. */
export const dataTools = ({ query, status, costs, plan, quarantine }: Readings): readonly Tool[] => [
  tool({
    ...READ_ONLY,
    name: 'query',
    title: 'Query the warehouse',
    description:
      'Run one read-only PostgreSQL statement on the warehouse and return its rows. It begins with SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN; anything else is refused. ' +
      'Call tables and describe_table first for the names. Aggregate in SQL instead of reading many rows. Costs no points.',
    input: z.strictObject({
      sql: z.string().min(1).describe('One statement. Names without a schema are those that tables returns.'),
      limit: z.int().min(1).max(MOST_ROWS).default(100).describe('The most rows to return.'),
    }),
    result: z.object({ columns: z.array(z.string()), rows: z.array(z.record(z.string(), z.unknown())) }),
    // One row more shows whether there are more.
    run: async ({ sql, limit }, signal) => limitRows(await query(sql, limit + 1, signal), limit),
  }),
  tool({
    ...READ_ONLY,
    name: 'status',
    title: 'Show the status of syncs',
    description:
      'Show the status of all syncs that ever ran: last run with its state and exit code, freshness, open requests, failures, truncated slices, and differences from the contract. Use it to judge whether the data is complete and current. Costs no points.',
    input: z.strictObject({}),
    result: z.looseObject({ syncs: objects, failures: objects, gaps: objects, lowerBounds: objects, drift: objects }),
    run: async (_args, signal) => limitLists(await status(signal)),
  }),
  tool({
    ...READ_ONLY,
    name: 'costs',
    title: 'Show costs',
    description:
      'Show the points spent by day, endpoint, plan of the account, sync and run, the balance, budgets, learned prices, and advice in next. Costs no points.',
    input: z.strictObject({ since: z.iso.date().optional().describe('Count from this UTC day on, YYYY-MM-DD.') }),
    result: z.looseObject({ total: z.looseObject({}), syncs: objects, balances: objects, next: z.array(z.string()) }),
    run: async ({ since }, signal) => limitLists(await costs(since, signal)),
  }),
  tool({
    ...READ_ONLY,
    name: 'plan',
    title: 'Plan syncs',
    description:
      'Show what syncs would request now and what they would cost: for each sync the number of requests, those that fresh answers serve, and the likely cost and most points. Sends nothing to the service. Without names, it lists all syncs of the config. Costs no points.',
    input: z.strictObject({ names: z.array(z.string()).default([]).describe('Syncs of the config; empty means all.') }),
    result: z.looseObject({
      syncs: z.array(z.looseObject({ sync: z.string(), requests: z.number(), likely: z.number(), most: z.number() })),
      total: z.looseObject({}),
    }),
    run: async ({ names }, signal) => limitLists(await plan(names, signal)),
  }),
  tool({
    ...READ_ONLY,
    name: 'quarantine',
    title: 'List the quarantine',
    description: `List the newest items and answers that could not be loaded, at most ${MOST_ENTRIES}, each with its sync, its position and the reason. Costs no points.`,
    input: z.strictObject({}),
    result: z.object({ entries: objects }),
    run: async (_args, signal) => ({ result: { entries: await quarantine(MOST_ENTRIES, signal) } }),
  }),
];
