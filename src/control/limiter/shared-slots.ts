/**
 * The token's limiter as rows that all processes of a warehouse share: the holders of slots, and the time of the next
 * start. All times are from the database's clock. These statements commit asynchronously, which keeps them short. A
 * crash of the database forgets no call anyway: before a call is sent, the ledger's commit is flushed to disk, together
 * with everything written before it.
 */
import { type RawBuilder, sql } from 'kysely';
import { anyBigint, arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { PLANNED_ONCE, precompiled } from '../../warehouse/sql/compile-once.ts';
import {
  farthestMs,
  type GrantedStarts,
  type LimiterBounds,
  SHORTEST_MS,
  SLOT_EXPIRES_MS,
  type SlotSource,
  START_AHEAD_MS,
} from './slot-source.ts';

/** A process that lacks slots records this, and repeats it at this interval. */
const WANTED_AGAIN_MS = 500;
/** How long the record counts: long enough for a process that repeats it slightly late. */
const WANTED_MS = 2 * WANTED_AGAIN_MS;

/** When a free slot expired: in the past by every clock, also by one that was ahead and is set back. */
const FREE = sql`'epoch'::timestamptz`;

export interface SharedLimiter extends LimiterBounds {
  /** The digest of the token. */
  readonly token: string;
  /** A unique name for this process. */
  readonly holder: string;
}

/**
 * Opens the slots and start times of a limiter that processes share. The number of slots is the greatest bound of any
 * process.
 */
export async function openSharedSlots(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  limiter: SharedLimiter,
): Promise<SlotSource> {
  const statements = statementsOn(db, ops, limiter);
  await statements.enterRows();

  /** Returns how long the rate is closed for a process that got no slot. */
  const closedMs = async (): Promise<number> => {
    const row = await statements.readPace();
    // The rows were deleted, so they are created again.
    if (!row) await statements.enterRows();
    const closed = Math.max(0, (row?.ahead_ms ?? 0) - START_AHEAD_MS);
    if (row && closed === 0 && !row.is_told) await statements.recordWanted();
    return closed;
  };

  return {
    take: async (most, except) => {
      const [row] = (await db.executeQuery(statements.takeSlots({ most, except: arrayLiteral(except) }))).rows;
      if (!row) return { numbers: [], firstMs: 0, isWanted: false, closedMs: await closedMs() };
      return { numbers: row.numbers.map(Number), ...startsOf(row), closedMs: 0 };
    },
    sharing: {
      takeStarts: async (count) => startsOf((await db.executeQuery(statements.takeStarts({ count }))).rows[0]),
      renew: async (numbers) => (await statements.renewSlots(numbers)).map(({ number }) => Number(number)),
      release: async (numbers) => {
        await db.executeQuery(statements.freeSlots({ numbers: arrayLiteral(numbers) }));
      },
    },
  };
}

interface StartRow {
  readonly first_ms: number;
  readonly is_wanted: boolean | null;
}

const startsOf = (row: StartRow | undefined): GrantedStarts => ({
  firstMs: Math.max(0, row?.first_ms ?? 0),
  isWanted: row?.is_wanted === true,
});

/** The statements of one limiter. */
function statementsOn(db: Warehouse['db'], ops: string, { token, holder, inFlight, intervalMs }: SharedLimiter) {
  const slots = sql.id(ops, 'limiter_slots');
  const paces = sql.id(ops, 'limiter_paces');
  const interval = sql`${intervalMs}::float8 * interval '1 millisecond'`;
  const farthest = sql`${farthestMs({ inFlight, intervalMs })}::float8 * interval '1 millisecond'`;
  const nextAt = sql`case when next_at < clock_timestamp() + ${farthest} then greatest(next_at, clock_timestamp()) else clock_timestamp() end`;
  const aheadMs = sql`extract(epoch from ${nextAt} - clock_timestamp()) * 1000`;
  const ago = (ms: number) => sql`${sql.lit(ms)} * interval '1 millisecond'`;
  const expiry = sql`clock_timestamp() + ${sql.lit(SLOT_EXPIRES_MS)} * interval '1 millisecond'`;
  const isWanted = sql`wanted_by <> ${holder} and wanted_at > clock_timestamp() - ${ago(WANTED_MS)}`;
  // Set within each statement, so that it takes one round trip, and works behind a transaction pooler.
  const asynchronousCommit = sql`set_config('synchronous_commit', 'off', true)`;
  const frequent = sql`${asynchronousCommit}${sql.raw(PLANNED_ONCE)}`;
  const compilable = <Row>(statement: RawBuilder<Row>) => ({ compile: () => statement.compile(db) });
  return {
    enterRows: () =>
      sql`
      with entered as (
        insert into ${slots} (token_digest, number, holder, expires_at)
        select ${token}, number, '', ${FREE}
        from generate_series(1, ${inFlight}::bigint) as number
        on conflict (token_digest, number) do nothing
      )
      insert into ${paces} (token_digest, next_at) values (${token}, clock_timestamp())
      on conflict (token_digest) do nothing`.execute(db),

    // From the highest number down, which leaves the lower numbers to processes with a lower bound. Slots of this
    // holder that are not excluded were taken by a statement whose result was lost.
    takeSlots: precompiled(['most', 'except'], ({ most, except }) =>
      compilable(sql<StartRow & { numbers: readonly string[] }>`
      with taken as (
          update ${slots} set holder = ${holder}, expires_at = ${expiry}
          where token_digest = ${token} and number = any(array(
            select number from ${slots}
            where token_digest = ${token} and number <= ${inFlight} and number <> all(${except}::bigint[])
              and (expires_at < clock_timestamp() or holder = ${holder})
            order by number desc
            limit coalesce((
              select case when ${aheadMs} > ${START_AHEAD_MS} then 0 else least(${most},
                1 + floor((${START_AHEAD_MS} - ${aheadMs}) / ${Math.max(intervalMs, SHORTEST_MS)}::float8)) end::bigint
              from ${paces} where token_digest = ${token}
            ), 0)
            for update skip locked
          ))
          returning number
        )
        update ${paces} set next_at = ${nextAt} + (select count(*) from taken) * ${interval}
        where token_digest = ${token} and exists (select from taken)
        returning array(select number from taken) as numbers, (extract(epoch from
          next_at - (select count(*) from taken) * ${interval} - clock_timestamp()) * 1000)::float8 as first_ms,
          ${isWanted} as is_wanted, ${frequent}`),
    ),

    freeSlots: precompiled(['numbers'], ({ numbers }) =>
      compilable(sql`
      update ${slots} set expires_at = ${FREE}
      where token_digest = ${token} and holder = ${holder} and number = any(${numbers}::bigint[])
      returning ${frequent}`),
    ),

    renewSlots: async (numbers: readonly number[]) => {
      const { rows } = await sql<{ number: string }>`
      update ${slots} set expires_at = ${expiry}
      where token_digest = ${token} and holder = ${holder} and number = ${anyBigint(numbers)}
      returning number, ${frequent}`.execute(db);
      return rows;
    },

    takeStarts: precompiled(['count'], ({ count }) =>
      compilable(sql<StartRow>`
      update ${paces} set next_at = ${nextAt} + ${count}::bigint * ${interval} where token_digest = ${token}
      returning (extract(epoch from next_at - ${count}::bigint * ${interval} - clock_timestamp()) * 1000)::float8 as first_ms,
        ${isWanted} as is_wanted, ${frequent}`),
    ),

    /** How far ahead the next start is, and whether a process recently recorded that it lacks slots. */
    readPace: async () => {
      const { rows } = await sql<{ ahead_ms: number; is_told: boolean }>`
      select (${aheadMs})::float8 as ahead_ms, wanted_at > clock_timestamp() - ${ago(WANTED_AGAIN_MS)} as is_told
      from ${paces} where token_digest = ${token}`.execute(db);
      return rows[0];
    },

    recordWanted: () =>
      sql`update ${paces} set wanted_at = clock_timestamp(), wanted_by = ${holder} where token_digest = ${token}
        returning ${asynchronousCommit}`.execute(db),
  };
}
