/** The order of dependent syncs: children start when their parents are done, and wait for parents that are running. */
import { sql } from 'kysely';
import type { SyncDefinition } from '../config/definition.ts';
import { EXIT } from '../errors.ts';
import type { SchemaNames } from '../warehouse/connect/connect.ts';
import { orderSyncs } from '../config/order.ts';
import type { JobData } from './job.ts';
import type { Tx } from './jobs.ts';
import { FIRING } from './queues.ts';
import { ROLE_LEASE_PREFIX } from './status.ts';
import { jobsSchema } from '../warehouse/schema/jobs-schema.ts';

/**
 * Two processes differ by less than this in what they know of the database's clock. A child that started this shortly
 * before the end of its parent counts as started after it: to start it twice would buy its answers twice.
 */
const CLOCKS_APART_MS = 5_000;

const SCHEDULER_LEASES = `${ROLE_LEASE_PREFIX}schedule:`;

interface BusySync {
  readonly sync: string;
  /** The firing that its job serves. */
  readonly firing: string | null;
}

async function busyWith(db: Tx, { schema, ops }: SchemaNames): Promise<readonly BusySync[]> {
  const { rows } = await sql<BusySync>`
    select data ->> 'sync' as sync, data ->> 'firing' as firing from ${sql.id(jobsSchema(schema), 'job')}
    where name in ('sync', 'chunk') and state in ('created', 'retry', 'active')
    union
    select data ->> 'sync', data ->> 'at' from ${sql.id(jobsSchema(schema), 'job')}
    where name = ${FIRING} and state in ('created', 'retry', 'active') and start_after <= clock_timestamp()
      and exists (select from ${sql.id(ops, 'leases')}
        where starts_with(name, ${SCHEDULER_LEASES}) and expires_at >= clock_timestamp())
    union
    select r.sync, null from ${sql.id(ops, 'runs')} r join ${sql.id(ops, 'leases')} l on l.name = 'sync:' || r.sync
    where r.state = 'running' and l.holder = 'run/' || r.id and l.expires_at >= clock_timestamp()`.execute(db);
  return rows;
}

/**
 * Returns the syncs with a waiting or active job, with a shared run with active chunks, or whose schedule is due and will be fired by
 * a living scheduler.
 */
export const busySyncs = async (db: Tx, schemas: SchemaNames): Promise<ReadonlySet<string>> =>
  new Set((await busyWith(db, schemas)).map(({ sync }) => sync));

/**
 * Returns the unscheduled syncs that may start when a job of `parent` ends: all their parents are idle and not due, and their last
 * complete runs succeeded. A run of a part, such as a sample, does not count. With `onlyUnbegun`, syncs whose
 * runs started after the end of the parent are excluded, because another caller may have started them.
 */
export async function childrenToStart(
  tx: Tx,
  schemas: SchemaNames,
  syncs: readonly SyncDefinition[],
  { sync: parent, firing }: Pick<JobData, 'sync' | 'firing'>,
  onlyUnbegun = false,
): Promise<readonly string[]> {
  const children = syncs.filter(({ schedule, after }) => schedule === undefined && after.includes(parent));
  if (children.length === 0) return [];
  const atWork = await busyWith(tx, schemas);
  const busy = new Set(atWork.map(({ sync }) => sync));
  const together = new Set(atWork.filter((it) => it.firing === firing).map(({ sync }) => sync));
  const due = dueSyncs(syncs, parent, (it) => (it.schedule === undefined ? busy : together).has(it.name));
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
 * Returns the syncs that will start, directly or through others, because `parent` ends or another sync that works for the same
 * firing does. They have no job yet, and their last runs belong to an earlier firing: children that start now would read old
 * rows, and start again later. Syncs above `parent` are excluded: they are busy for the next firing.
 */
function dueSyncs(
  syncs: readonly SyncDefinition[],
  parent: string,
  isEnding: (sync: SyncDefinition) => boolean,
): ReadonlySet<string> {
  const parentsFirst = orderSyncs(syncs);
  const above = new Set([parent]);
  for (const { name, after } of parentsFirst.toReversed()) if (above.has(name)) for (const it of after) above.add(it);
  const ending = new Set([parent]);
  const due = new Set<string>();
  for (const sync of parentsFirst) {
    const { name, schedule, after } = sync;
    if (schedule === undefined && after.some((it) => ending.has(it) || due.has(it))) due.add(name);
    if (isEnding(sync) && !above.has(name)) ending.add(name);
  }
  return due;
}
