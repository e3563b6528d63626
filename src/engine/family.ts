/** Which syncs wait for which: children begin when their parents are done, and wait for those that are at it. */
import { sql } from 'kysely';
import type { SyncDefinition } from '../config/definition.ts';
import { EXIT } from '../errors.ts';
import type { Warehouse } from '../warehouse/connect.ts';
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

/** Syncs without a schedule of their own that a sync's end may begin: all their parents are idle, and ended well last. */
export async function childrenToBegin(
  tx: Tx,
  place: Place,
  syncs: readonly SyncDefinition[],
  parent: string,
): Promise<readonly string[]> {
  const children = syncs.filter(({ schedule, after }) => schedule === undefined && after.includes(parent));
  if (children.length === 0) return [];
  const busy = await busySyncs(tx, place);
  const { rows } = await sql<{ sync: string }>`
    select sync from (
      select distinct on (sync) sync, state, exit_code from ${sql.id(place.ops, 'runs')} order by sync, id desc
    ) newest where exit_code in (${EXIT.complete}, ${EXIT.rejects})`.execute(tx);
  const well = new Set(rows.map(({ sync }) => sync));
  return children.filter(({ after }) => after.every((it) => well.has(it) && !busy.has(it))).map(({ name }) => name);
}
