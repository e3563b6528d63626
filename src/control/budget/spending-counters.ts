/** The rows of `spending`, which count what all processes spent or reserved: created, corrected by the ledger, and deleted. */
import { sql } from 'kysely';
import { CHUNK_LEASES, syncLease } from '../../ledger/lease.ts';
import { unconfirmedPoints } from '../../ledger/log-costs.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { periodCounter, type SpendingPeriod } from './spending-period.ts';

type OpsSchema = Pick<Warehouse, 'db' | 'ops'>;

/** A row that is unchanged for this long includes no reservation that the ledger does not have yet. */
const SETTLED_AFTER = sql`interval '1 second'`;

/**
 * Ensures that the counter of a period exists and agrees with the ledger. If other processes may be running, the ledger
 * may lack their calls, so the counter is at least the ledger's sum. `sole` means that there are none. No points may be
 * reserved under the lease `ownLease` at that time.
 */
export async function ensurePeriodCounter(
  { db, ops }: OpsSchema,
  period: SpendingPeriod,
  sole: boolean,
  ownLease = '',
): Promise<void> {
  const spending = sql.id(ops, 'spending');
  // A request sent by a clock that was ahead counts in its own period.
  const { points, at } = await spentSince({ db, ops }, period.from, period);
  await sql`
    insert into ${spending} as counted (name, points, updated_at) values (${periodCounter(period)}, ${points}::numeric, clock_timestamp())
    on conflict (name) do update set (points, updated_at) = (
      select corrected, case when corrected = counted.points then counted.updated_at else clock_timestamp() end
      from (select case
        when ${sole} then excluded.points
        when counted.updated_at < ${at}::timestamptz - ${SETTLED_AFTER} and not exists (
          select from ${sql.id(ops, 'leases')} where expires_at >= clock_timestamp() and name <> ${ownLease}
            and (starts_with(name, ${syncLease('')}) or starts_with(name, ${CHUNK_LEASES}))
        ) then excluded.points
        else greatest(counted.points, excluded.points) end as corrected) as counter)`.execute(db);
}

/** A counter without end; limits are relative to its current value. Processes that know different balances share it. */
const EVER = 'ever';

/** Ensures that the total counter exists; returns its row and value. */
export async function ensureTotalCounter({
  db,
  ops,
}: OpsSchema): Promise<{ readonly row: string; readonly points: number }> {
  const { rows } = await sql<{ points: string }>`
    insert into ${sql.id(ops, 'spending')} as counted (name, points, updated_at) values (${EVER}, 0, clock_timestamp())
    on conflict (name) do update set points = counted.points returning points`.execute(db);
  return { row: EVER, points: Number(rows[0]?.points ?? 0) };
}

/**
 * Returns the points that requests in a time range cost or may have cost, and the time of that sum: requests of all syncs,
 * or of the syncs with a tag.
 */
export async function spentSince(
  { db, ops }: OpsSchema,
  from: Date,
  { before, tag }: Partial<Pick<SpendingPeriod, 'before' | 'tag'>> = {},
): Promise<{ readonly points: string; readonly at: string }> {
  const tags = tag ? JSON.stringify({ [tag.name]: tag.value }) : null;
  // While an attempt is in flight, a charge may cover only the attempts before it.
  const { rows } = await sql<{ points: string; at: string }>`
    select coalesce(sum(case
        when state = 'sent' then greatest(points, charged)
        else coalesce(charged, 0) + ${unconfirmedPoints({ ops })} end), 0) as points,
      statement_timestamp()::text as at
    from ${sql.id(ops, 'requests')} r where sent_at >= ${from.toISOString()}::timestamptz
      and (${before?.toISOString() ?? null}::timestamptz is null or sent_at < ${before?.toISOString() ?? null}::timestamptz)
      and (${tags}::jsonb is null
        or run_id in (select id from ${sql.id(ops, 'runs')} where tags @> ${tags}::jsonb))`.execute(db);
  return { points: rows[0]?.points ?? '0', at: rows[0]?.at ?? '-infinity' };
}

/** Ensures that a separate counter exists, starting at 0, for a limit that uses only this row. */
export async function ensureCounter({ db, ops }: OpsSchema, name: string): Promise<void> {
  await sql`insert into ${sql.id(ops, 'spending')} (name, points, updated_at) values (${name}, 0, clock_timestamp())
    on conflict (name) do nothing`.execute(db);
}

/** Deletes a counter that no limit uses any more. */
export async function deleteCounter(ops: Ops, name: string): Promise<void> {
  await ops.deleteFrom('spending').where('name', '=', name).execute();
}
