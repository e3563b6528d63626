/** Normalizes and loads stored answers again, with no request to the service. */
import { hostname } from 'node:os';
import { sql } from 'kysely';
import { EXIT } from './errors.ts';
import { hold, type Hold } from './flow/hold.ts';
import { takeIn } from './flow/intake.ts';
import { acquireLease } from './ops/lease.ts';
import { type Ops, operationsOf } from './ops/schema.ts';
import type { Warehouse } from './warehouse/connect.ts';
import { createTables } from './warehouse/ddl.ts';
import { quoted } from './warehouse/identifier.ts';
import { tables } from './warehouse/table.ts';

export interface ReplayOptions {
  /** Syncs whose answers are loaded again; empty means all. */
  readonly names: readonly string[];
  /** Fill new tables from all stored answers and put them in place of the old, in one transaction. */
  readonly rebuild: boolean;
  /** Only answers with something in quarantine. */
  readonly quarantined: boolean;
}

export interface ReplayEffects {
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly newId: () => string;
  readonly onProgress: (done: number, total: number) => void;
}

/** Items obey `received = loaded + unchanged + superseded + quarantined`. */
export interface ReplaySummary {
  readonly exitCode: number;
  readonly answers: number;
  readonly received: number;
  readonly loaded: number;
  readonly unchanged: number;
  readonly superseded: number;
  readonly quarantined: number;
  /** Rows written, by table. */
  readonly written: Readonly<Record<string, number>>;
  /** Answers left when the signal ended the replay; their rows stand as they were. */
  readonly left: number;
  readonly tookMs: number;
}

/**
 * Loads stored answers again in the order of their ids. In place, what did not change is only read; a rebuild shows
 * nothing until all of it is there. Throws a HeldError when a run of one of the syncs is under way.
 */
export async function replayAnswers(
  warehouse: Warehouse,
  options: ReplayOptions,
  effects: ReplayEffects,
  signal: AbortSignal,
): Promise<ReplaySummary> {
  const startedAt = effects.now();
  const ops = operationsOf(warehouse);
  const due = await answersOf(ops, options);
  const held = await holdAll(warehouse, [...new Set(due.map(({ sync }) => sync))].sort(), effects);
  const sums = { answers: 0, received: 0, loaded: 0, unchanged: 0, superseded: 0, quarantined: 0 };
  const written: Record<string, number> = {};
  const into = `${warehouse.schema}_rebuild`;
  try {
    if (options.rebuild) await createEmpty(warehouse, into);
    for (const [at, { answerId, sync }] of due.entries()) {
      if (signal.aborted) break;
      const { receipt } = await takeIn(warehouse, answerId, { ...effects, sync, ...(options.rebuild && { into }) });
      sums.answers += 1;
      for (const name of ['received', 'loaded', 'unchanged', 'superseded', 'quarantined'] as const)
        sums[name] += receipt[name];
      for (const [table, rows] of Object.entries(receipt.written)) written[table] = (written[table] ?? 0) + rows;
      effects.onProgress(at + 1, due.length);
    }
    if (options.rebuild && !signal.aborted) await swap(warehouse, into);
  } finally {
    if (options.rebuild) await sql`drop schema if exists ${sql.id(into)} cascade`.execute(warehouse.db);
    for (const it of held) await it.end();
  }
  const left = due.length - sums.answers;
  return {
    exitCode: left > 0 ? EXIT.transient : EXIT.complete,
    ...sums,
    written,
    left,
    tookMs: effects.now().getTime() - startedAt.getTime(),
  };
}

/** Each answer once for every sync that it served: the bridges of each are made of it. */
async function answersOf(
  ops: Ops,
  options: ReplayOptions,
): Promise<{ readonly answerId: string; readonly sync: string }[]> {
  let query = ops
    .selectFrom('requests as r')
    .innerJoin('answers as a', 'a.id', 'r.answer_id')
    .select(['a.id as answerId', 'r.sync'])
    .groupBy(['a.id', 'r.sync'])
    .orderBy('a.id')
    .orderBy('r.sync');
  if (options.names.length > 0) query = query.where('r.sync', 'in', [...options.names]);
  if (options.quarantined)
    query = query.where(
      'a.id',
      'in',
      ops.selectFrom('quarantine').select('answer_id').where('resolved_at', 'is', null),
    );
  return query.execute();
}

async function holdAll(warehouse: Warehouse, syncs: readonly string[], effects: ReplayEffects): Promise<Hold[]> {
  const ops = operationsOf(warehouse);
  const held: Hold[] = [];
  try {
    for (const sync of syncs) {
      const lease = await acquireLease(
        ops,
        `sync:${sync}`,
        `${hostname()}/${process.pid}/${effects.newId()}`,
        warehouse.kind === 'embedded',
      );
      held.push(hold(ops, lease, effects.sleep));
    }
    return held;
  } catch (error) {
    for (const it of held) await it.end();
    throw error;
  }
}

async function createEmpty(warehouse: Warehouse, schema: string): Promise<void> {
  await warehouse.db.transaction().execute(async (tx) => {
    await sql`drop schema if exists ${sql.id(schema)} cascade`.execute(tx);
    await sql`create schema ${sql.id(schema)}`.execute(tx);
    await sql`set local search_path to ${sql.id(schema)}`.execute(tx);
    for (const statement of createTables(tables)) await sql.raw(statement).execute(tx);
  });
}

/** The tables stay and take the new rows, so that views, grants and comments on them stay too. */
async function swap(warehouse: Warehouse, from: string): Promise<void> {
  await warehouse.db.transaction().execute(async (tx) => {
    const all = tables.map(({ name }) => `${quoted(warehouse.schema)}.${quoted(name)}`).join(', ');
    await sql.raw(`truncate ${all}`).execute(tx);
    for (const table of tables) {
      const columns = table.columns.map(({ name }) => quoted(name)).join(', ');
      await sql
        .raw(
          `insert into ${quoted(warehouse.schema)}.${quoted(table.name)} (${columns}) select ${columns} from ${quoted(from)}.${quoted(table.name)}`,
        )
        .execute(tx);
    }
  });
}
