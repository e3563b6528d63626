/** The order of dependent syncs: children start when their parents are done, and wait for parents that are running. */
import { sql } from 'kysely';
import type { SyncDefinition } from '../config/definition.ts';
import { EXIT } from '../errors.ts';
import type { SchemaNames } from '../warehouse/connect/connect.ts';
import { orderSyncs } from '../config/order.ts';
import type { Tx } from './jobs.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';

/**
 * More than two processes differ in what they know of the database's clock. A child that started so shortly before the
 * end of its parent counts as started after it: to start it twice would buy its answers twice.
 */
const CLOCKS_APART_MS = 5_000;

/** Returns the syncs with a waiting or active job, or a shared run with active chunks. */
export async function busySyncs(db: Tx, { schema, ops }: SchemaNames): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ sync: string }>`
    select distinct data ->> 'sync' as sync from ${sql.id(jobsSchema(schema), 'job')}
    where name in ('sync', 'chunk') and state in ('created', 'retry', 'active')
    union
    select r.sync from ${sql.id(ops, 'runs')} r join ${sql.id(ops, 'leases')} l on l.name = 'sync:' || r.sync
    where r.state = 'running' and l.holder = 'run/' || r.id and l.expires_at >= clock_timestamp()`.execute(db);
  return new Set(rows.map(({ sync }) => sync));
}

/**
 * Returns the unscheduled syncs that may start when `parent` ends: all their parents are idle and not due, and their last
 * complete runs succeeded. A run of a part, such as a sample, does not count. With `onlyUnbegun`, syncs whose
 * runs started after the end of the parent are excluded, because another caller may have started them.
 */
export async function childrenToStart(
  tx: Tx,
  schemas: SchemaNames,
  syncs: readonly SyncDefinition[],
  parent: string,
  onlyUnbegun = false,
): Promise<readonly string[]> {
  const children = syncs.filter(({ schedule, after }) => schedule === undefined && after.includes(parent));
  if (children.length === 0) return [];
  const busy = await busySyncs(tx, schemas);
  const due = dueSyncs(syncs, parent, busy);
  const { rows } = await sql<{ sync: string; startedAt: Date; endedAt: Date | null; well: boolean }>`
    select distinct on (sync) sync, started_at as "startedAt", ended_at as "endedAt",
      coalesce(exit_code in (${EXIT.complete}, ${EXIT.rejects}), false) as well
    from ${sql.id(schemas.ops, 'runs')} where scope is null order by sync, id desc`.execute(tx);
  const newest = new Map(rows.map((row) => [row.sync, row]));
  const end = newest.get(parent)?.endedAt ?? null;
  const hasBegun = (child: string): boolean => {
    const start = newest.get(child)?.startedAt;
    return start !== undefined && (end === null || start.getTime() >= end.getTime() - CLOCKS_APART_MS);
  };
  return children
    .filter(({ after }) => after.every((it) => newest.get(it)?.well === true && !busy.has(it) && !due.has(it)))
    .filter(({ name }) => !onlyUnbegun || !hasBegun(name))
    .map(({ name }) => name);
}

/**
 * Returns the syncs that will start, directly or through others, because `parent` ends or another sync without a schedule
 * does. They have no job yet, and their last runs belong to an earlier firing: children that start now would read old
 * rows, and start again later. Syncs above `parent` are excluded: they are busy for the next firing.
 */
function dueSyncs(syncs: readonly SyncDefinition[], parent: string, busy: ReadonlySet<string>): ReadonlySet<string> {
  const parentsFirst = orderSyncs(syncs);
  const above = new Set([parent]);
  for (const { name, after } of parentsFirst.toReversed()) if (above.has(name)) for (const it of after) above.add(it);
  const ending = new Set([parent]);
  const due = new Set<string>();
  for (const { name, schedule, after } of parentsFirst) {
    if (schedule !== undefined) continue;
    if (after.some((it) => ending.has(it) || due.has(it))) due.add(name);
    if (busy.has(name) && !above.has(name)) ending.add(name);
  }
  return due;
}
