/** Which syncs wait for which: children begin when their parents are done, and wait for those that are at it. */
import { sql } from 'kysely';
import type { SyncDefinition } from '../config/definition.ts';
import { EXIT } from '../errors.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import type { Tx } from './jobs.ts';
import { jobsSchema } from './queues.ts';

type Place = Pick<Warehouse, 'schema' | 'ops'>;

/** The syncs that have a job that waits or is at work, or a run whose chunks do. */
export async function busySyncs(db: Tx, { schema, ops }: Place): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ sync: string }>`
    select distinct data ->> 'sync' as sync from ${sql.id(jobsSchema(schema), 'job')}
    where name in ('sync', 'chunk') and state in ('created', 'retry', 'active')
    union
    select r.sync from ${sql.id(ops, 'runs')} r join ${sql.id(ops, 'leases')} l on l.name = 'sync:' || r.sync
    where r.state = 'running' and l.holder = 'run/' || r.id and l.expires_at >= clock_timestamp()`.execute(db);
  return new Set(rows.map(({ sync }) => sync));
}

/**
 * Syncs without a schedule of their own that a sync's end may begin: all their parents are idle, and ended well last. With
 * `onlyUnbegun`, for whoever may not be the first to look, those that ran since the parent did are left out.
 */
export async function childrenToStart(
  tx: Tx,
  place: Place,
  syncs: readonly SyncDefinition[],
  parent: string,
  onlyUnbegun = false,
): Promise<readonly string[]> {
  const children = syncs.filter(({ schedule, after }) => schedule === undefined && after.includes(parent));
  if (children.length === 0) return [];
  const busy = await busySyncs(tx, place);
  const { rows } = await sql<{ sync: string; id: string; well: boolean }>`
    select distinct on (sync) sync, id, coalesce(exit_code in (${EXIT.complete}, ${EXIT.rejects}), false) as well
    from ${sql.id(place.ops, 'runs')} order by sync, id desc`.execute(tx);
  const newest = new Map(rows.map((row) => [row.sync, row]));
  const runOf = (sync: string): bigint => BigInt(newest.get(sync)?.id ?? 0);
  return children
    .filter(({ after }) => after.every((it) => newest.get(it)?.well === true && !busy.has(it)))
    .filter(({ name }) => !onlyUnbegun || runOf(name) < runOf(parent))
    .map(({ name }) => name);
}
