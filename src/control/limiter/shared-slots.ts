/**
 * The token's limiter as rows that all processes of a warehouse share: the holders of slots, and the time of the next
 * start. All times are from the database's clock. These statements commit asynchronously, which keeps them short. A
 * crash of the database forgets no call anyway: before a call is sent, the ledger's commit is flushed to disk, together
 * with everything written before it.
 */
import { type RawBuilder, sql } from 'kysely';
import { digestOf } from '../../service/canonical-json.ts';
import { anyBigint, arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { PLANNED_ONCE, precompiled } from '../../warehouse/sql/compile-once.ts';
import { HEARTBEAT_MS } from '../../ledger/lease.ts';

/** The bounds on concurrency and on the distance of starts. */
export interface LimiterBounds {
  readonly inFlight: number;
  readonly intervalMs: number;
}

/** Start times that were granted. */
export interface GrantedStarts {
  /** Time until the first start; each further one follows an interval later. */
  readonly firstMs: number;
  /** Another process recently lacked slots. */
  readonly isWanted: boolean;
}

/** Slots that were granted, each with a start time. */
export interface GrantedSlots extends GrantedStarts {
  readonly numbers: readonly number[];
  /** How long the rate allows no start; 0 if only a slot is missing. */
  readonly closedMs: number;
}

/** The source of slots and start times. */
export interface SlotSource {
  /**
   * Grants at most `most` free slots, excluding the given ones: the caller holds them, or leaves them to other
   * processes.
   */
  readonly take: (most: number, except: readonly number[]) => Promise<GrantedSlots>;
  /** Operations for sharing with other processes; undefined if there can be none. */
  readonly sharing: SlotSharing | undefined;
}

export interface SlotSharing {
  /** Keeps slots for `SLOT_EXPIRES_MS` from now; returns those that this process still holds. */
  readonly renew: (numbers: readonly number[]) => Promise<readonly number[]>;
  /** Releases the slots that this process still holds. */
  readonly release: (numbers: readonly number[]) => Promise<void>;
  /** Grants start times without slots. */
  readonly takeStarts: (count: number) => Promise<GrantedStarts>;
}

/** A holder that is silent this long is considered dead: as with a lease, three heartbeats may be missed. */
export const SLOT_EXPIRES_MS = 4 * HEARTBEAT_MS;

/** A process that lacks slots records this, and repeats it at this interval. */
const WANTED_AGAIN_MS = 500;
/** How long the record counts: long enough for a process that repeats it slightly late. */
const WANTED_MS = 2 * WANTED_AGAIN_MS;

/**
 * How far ahead start times are granted: time to commit that the call is sent. Start times of a process that dies are
 * lost.
 */
export const START_AHEAD_MS = 100;

/**
 * The farthest that a start time can be ahead: each slot has one, or a few if its call is late. One beyond was granted
 * before a clock was set back, and is ignored.
 */
export const farthestMs = ({ inFlight, intervalMs }: LimiterBounds): number => 60_000 + 4 * (inFlight + 1) * intervalMs;

/** The number of start times that may be granted together if the next one is `aheadMs` ahead. */
export const startsWithin = (aheadMs: number, intervalMs: number): number =>
  aheadMs > START_AHEAD_MS ? 0 : 1 + Math.floor((START_AHEAD_MS - aheadMs) / Math.max(intervalMs, SHORTEST_MS));

/** The resolution of the database's clock is a microsecond. */
const SHORTEST_MS = 1e-3;

/** Returns the name of a token's limiter, which does not reveal the token. */
export const limiterName = (serviceUrl: string, token: string): string =>
  digestOf(`${URL.parse(serviceUrl)?.href ?? serviceUrl}\n${token}`).slice(0, 32);

export interface SharedLimiter extends LimiterBounds {
  readonly name: string;
  /** A unique name for this process. */
  readonly holder: string;
}

/**
 * Opens the slots and start times of a limiter that processes share. The number of slots is the greatest bound of any
 * process.
 */
export async function openSharedSlots(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  { name, holder, inFlight, intervalMs }: SharedLimiter,
): Promise<SlotSource> {
  const slots = sql.id(ops, 'limiter_slots');
  const paces = sql.id(ops, 'limiter_paces');
  const interval = sql`${intervalMs}::float8 * interval '1 millisecond'`;
  const farthest = sql`${farthestMs({ inFlight, intervalMs })}::float8 * interval '1 millisecond'`;
  const nextAt = sql`case when next_at < clock_timestamp() + ${farthest} then greatest(next_at, clock_timestamp()) else clock_timestamp() end`;
  const aheadMs = sql`extract(epoch from ${nextAt} - clock_timestamp()) * 1000`;
  const ago = (ms: number) => sql`${sql.lit(ms)} * interval '1 millisecond'`;
  const expiry = sql`clock_timestamp() + ${sql.lit(SLOT_EXPIRES_MS)} * interval '1 millisecond'`;
  const plannedOnce = sql.raw(PLANNED_ONCE);
  // Set within each statement, so that it takes one round trip, and works behind a transaction pooler.
  const compilable = <Row>(statement: RawBuilder<Row>) => ({ compile: () => statement.compile(db) });
  const asynchronousCommit = sql`set_config('synchronous_commit', 'off', true)`;

  const isWanted = sql`wanted_by <> ${holder} and wanted_at > clock_timestamp() - ${ago(WANTED_MS)}`;

  const takeSlots = precompiled(['most', 'except'], ({ most, except }) =>
    compilable(sql<{ numbers: readonly string[]; first_ms: number; is_wanted: boolean | null }>`
      with taken as (
          update ${slots} set holder = ${holder}, expires_at = ${expiry}
          where token_digest = ${name} and number = any(array(
            select number from ${slots}
            where token_digest = ${name} and number <= ${inFlight} and number <> all(${except}::bigint[])
              and (expires_at < clock_timestamp() or holder = ${holder})
            order by number desc
            limit coalesce((
              select case when ${aheadMs} > ${START_AHEAD_MS} then 0 else least(${most},
                1 + floor((${START_AHEAD_MS} - ${aheadMs}) / ${Math.max(intervalMs, SHORTEST_MS)}::float8)) end::bigint
              from ${paces} where token_digest = ${name}
            ), 0)
            for update skip locked
          ))
          returning number
        )
        update ${paces} set next_at = ${nextAt} + (select count(*) from taken) * ${interval}
        where token_digest = ${name} and exists (select from taken)
        returning array(select number from taken) as numbers, (extract(epoch from
          next_at - (select count(*) from taken) * ${interval} - clock_timestamp()) * 1000)::float8 as first_ms,
          ${isWanted} as is_wanted, ${asynchronousCommit}${plannedOnce}`),
  );
  const freeSlots = precompiled(['numbers'], ({ numbers }) =>
    compilable(sql`
      update ${slots} set expires_at = clock_timestamp() - interval '1 second'
      where token_digest = ${name} and holder = ${holder} and number = any(${numbers}::bigint[])
      returning ${asynchronousCommit}${plannedOnce}`),
  );

  const takeStartTimes = precompiled(['count'], ({ count }) =>
    compilable(sql<{ first_ms: number; is_wanted: boolean | null }>`
      update ${paces} set next_at = ${nextAt} + ${count}::bigint * ${interval} where token_digest = ${name}
      returning (extract(epoch from next_at - ${count}::bigint * ${interval} - clock_timestamp()) * 1000)::float8 as first_ms,
        ${isWanted} as is_wanted, ${asynchronousCommit}${plannedOnce}`),
  );

  const enterRows = async (): Promise<void> => {
    await sql`
      with entered as (
        insert into ${slots} (token_digest, number, holder, expires_at)
        select ${name}, number, '', clock_timestamp() - interval '1 second'
        from generate_series(1, ${inFlight}::bigint) as number
        on conflict (token_digest, number) do nothing
      )
      insert into ${paces} (token_digest, next_at) values (${name}, clock_timestamp())
      on conflict (token_digest) do nothing`.execute(db);
  };
  await enterRows();

  /** Returns how long the rate is closed for a process that got no slot. */
  const closedMs = async (): Promise<number> => {
    const { rows } = await sql<{ ahead_ms: number; is_told: boolean }>`
      select (${aheadMs})::float8 as ahead_ms, wanted_at > clock_timestamp() - ${ago(WANTED_AGAIN_MS)} as is_told
      from ${paces} where token_digest = ${name}`.execute(db);
    const [row] = rows;
    // The rows were deleted, so they are created again.
    if (!row) await enterRows();
    const closed = Math.max(0, (row?.ahead_ms ?? 0) - START_AHEAD_MS);
    if (row && closed === 0 && !row.is_told)
      await sql`update ${paces} set wanted_at = clock_timestamp(), wanted_by = ${holder} where token_digest = ${name}
        returning ${asynchronousCommit}`.execute(db);
    return closed;
  };

  return {
    take: async (most, except) => {
      // From the highest number down, which leaves the lower numbers to processes with a lower bound. Slots of this
      // holder that are not excluded were taken by a statement whose result was lost.
      const { rows } = await db.executeQuery(takeSlots({ most, except: arrayLiteral(except) }));
      const [row] = rows;
      if (!row) return { numbers: [], firstMs: 0, isWanted: false, closedMs: await closedMs() };
      const { numbers, first_ms: firstMs, is_wanted: wanted } = row;
      return { numbers: numbers.map(Number), firstMs: Math.max(0, firstMs), isWanted: wanted === true, closedMs: 0 };
    },

    sharing: {
      takeStarts: async (count) => {
        const { rows } = await db.executeQuery(takeStartTimes({ count }));
        return { firstMs: Math.max(0, rows[0]?.first_ms ?? 0), isWanted: rows[0]?.is_wanted === true };
      },

      renew: async (numbers) => {
        const { rows } = await sql<{ number: string }>`
          update ${slots} set expires_at = ${expiry}
          where token_digest = ${name} and holder = ${holder} and number = ${anyBigint(numbers)}
          returning number, ${asynchronousCommit}${plannedOnce}`.execute(db);
        return rows.map(({ number }) => Number(number));
      },

      release: async (numbers) => {
        await db.executeQuery(freeSlots({ numbers: arrayLiteral(numbers) }));
      },
    },
  };
}
