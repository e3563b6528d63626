/**
 * The token's limiter as rows that every process on a warehouse sees: who has which slot, and when the next call may start.
 * The database's clock is the only one between processes.
 *
 * These statements don't wait for the disk, which keeps them short. No call is forgotten by that when the database
 * crashes: before one is sent, the ledger's commit waits for the disk, and takes along what was written before it.
 */
import { type RawBuilder, sql } from 'kysely';
import { digestOf } from '../../service/canonical-json.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { precompiled } from '../../warehouse/sql/compile-once.ts';
import { PLANNED_ONCE } from '../../warehouse/connect/postgres.ts';
import { HEARTBEAT_MS } from '../../ledger/lease.ts';

/** How many calls may be under way, and how far apart they start. */
export interface LimiterBounds {
  readonly inFlight: number;
  readonly intervalMs: number;
}

/** Turns to start that were given out. */
export interface GrantedStarts {
  /** Until the first of them; each further one follows an interval later. */
  readonly firstMs: number;
  /** Another process found too few slots a moment ago. */
  readonly isWanted: boolean;
}

/** Slots that were given out, each with a turn. */
export interface GrantedSlots extends GrantedStarts {
  readonly numbers: readonly number[];
  /** How long the pace lets nobody in; 0 when only a slot is lacking. */
  readonly closedMs: number;
}

/** Where slots and turns come from. */
export interface SlotSource {
  /** Gives out at most so many slots that are free, none of those named: who asks holds them, or leaves them to others. */
  readonly take: (most: number, except: readonly number[]) => Promise<GrantedSlots>;
  /** What is due to other processes that take from the same source; undefined where there can be none. */
  readonly sharing: SlotSharing | undefined;
}

export interface SlotSharing {
  /** Keeps slots for `SLOT_EXPIRES_MS` from now; returns those that are still ours. */
  readonly renew: (numbers: readonly number[]) => Promise<readonly number[]>;
  /** Lets others have the slots, as far as they are still ours. */
  readonly release: (numbers: readonly number[]) => Promise<void>;
  /** Turns beside those that come with slots. */
  readonly takeStarts: (count: number) => Promise<GrantedStarts>;
}

/** A holder silent for so long is taken for dead: as with a lease, three heartbeats may be missed. */
export const SLOT_EXPIRES_MS = 4 * HEARTBEAT_MS;

/** Whoever finds too few slots says so, and again so often. */
const WANTED_AGAIN_MS = 500;
/** For so long it holds, or who looks again a little late would be forgotten. */
const WANTED_MS = 2 * WANTED_AGAIN_MS;

/** Turns are given out so far ahead: time to commit that the call is sent. What is given to a process that dies is lost. */
export const START_AHEAD_MS = 100;

/**
 * No turn lies so far ahead: each slot has one, or a few when its call is late. What does was given out before a clock
 * was set back, and counts for nothing.
 */
export const farthestMs = ({ inFlight, intervalMs }: LimiterBounds): number => 60_000 + 4 * (inFlight + 1) * intervalMs;

/** Turns that may be given out at once when the next is so far ahead. */
export const startsWithin = (aheadMs: number, intervalMs: number): number =>
  aheadMs > START_AHEAD_MS ? 0 : 1 + Math.floor((START_AHEAD_MS - aheadMs) / Math.max(intervalMs, SHORTEST_MS));

/** The database counts in microseconds. */
const SHORTEST_MS = 1e-3;

/** The name of a token's limiter, which tells nothing of the token. */
export const limiterName = (serviceUrl: string, token: string): string =>
  digestOf(`${URL.parse(serviceUrl)?.href ?? serviceUrl}\n${token}`).slice(0, 32);

export interface SharedLimiter extends LimiterBounds {
  readonly name: string;
  /** This process, and nothing else that opens the limiter. */
  readonly holder: string;
}

/** Slots and turns of a limiter that other processes share. There are slots up to the greatest bound that any of them has. */
export async function openSharedSlots(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  { name, holder, inFlight, intervalMs }: SharedLimiter,
): Promise<SlotSource> {
  const slots = sql.id(ops, 'gate_slots');
  const paces = sql.id(ops, 'gate_paces');
  const interval = sql`${intervalMs}::float8 * interval '1 millisecond'`;
  const farthest = sql`${farthestMs({ inFlight, intervalMs })}::float8 * interval '1 millisecond'`;
  const nextAt = sql`case when next_at < clock_timestamp() + ${farthest} then greatest(next_at, clock_timestamp()) else clock_timestamp() end`;
  const aheadMs = sql`extract(epoch from ${nextAt} - clock_timestamp()) * 1000`;
  const ago = (ms: number) => sql`${sql.lit(ms)} * interval '1 millisecond'`;
  const expiry = sql`clock_timestamp() + ${sql.lit(SLOT_EXPIRES_MS)} * interval '1 millisecond'`;
  const plannedOnce = sql.raw(PLANNED_ONCE);
  // Said within each statement, so that it takes one round trip, and a pooler of transactions may stand between.
  const compilable = <Row>(statement: RawBuilder<Row>) => ({ compile: () => statement.compile(db) });
  const withoutWaiting = sql`set_config('synchronous_commit', 'off', true)`;

  const isWanted = sql`wanted_by <> ${holder} and wanted_at > clock_timestamp() - ${ago(WANTED_MS)}`;

  const taking = precompiled(['most', 'except'], ({ most, except }) =>
    compilable(sql<{ numbers: readonly string[]; first_ms: number; is_wanted: boolean | null }>`${plannedOnce}
      with taken as (
          update ${slots} set holder = ${holder}, expires_at = ${expiry}
          where gate = ${name} and number = any(array(
            select number from ${slots}
            where gate = ${name} and number <= ${inFlight} and number <> all(${except}::bigint[])
              and (expires_at < clock_timestamp() or holder = ${holder})
            order by number desc
            limit coalesce((
              select case when ${aheadMs} > ${START_AHEAD_MS} then 0 else least(${most},
                1 + floor((${START_AHEAD_MS} - ${aheadMs}) / ${Math.max(intervalMs, SHORTEST_MS)}::float8)) end::bigint
              from ${paces} where gate = ${name}
            ), 0)
            for update skip locked
          ))
          returning number
        )
        update ${paces} set next_at = ${nextAt} + (select count(*) from taken) * ${interval}
        where gate = ${name} and exists (select from taken)
        returning array(select number from taken) as numbers, (extract(epoch from
          next_at - (select count(*) from taken) * ${interval} - clock_timestamp()) * 1000)::float8 as first_ms,
          ${isWanted} as is_wanted, ${withoutWaiting}`),
  );
  const freeing = precompiled(['numbers'], ({ numbers }) =>
    compilable(sql`${plannedOnce}
      update ${slots} set expires_at = clock_timestamp() - interval '1 second'
      where gate = ${name} and holder = ${holder} and number = any(${numbers}::bigint[])
      returning ${withoutWaiting}`),
  );

  const turning = precompiled(['count'], ({ count }) =>
    compilable(sql<{ first_ms: number; is_wanted: boolean | null }>`${plannedOnce}
      update ${paces} set next_at = ${nextAt} + ${count}::bigint * ${interval} where gate = ${name}
      returning (extract(epoch from next_at - ${count}::bigint * ${interval} - clock_timestamp()) * 1000)::float8 as first_ms,
        ${isWanted} as is_wanted, ${withoutWaiting}`),
  );

  const enterRows = async (): Promise<void> => {
    await sql`
      with entered as (
        insert into ${slots} (gate, number, holder, expires_at)
        select ${name}, number, '', clock_timestamp() - interval '1 second'
        from generate_series(1, ${inFlight}::bigint) as number
        on conflict (gate, number) do nothing
      )
      insert into ${paces} (gate, next_at) values (${name}, clock_timestamp())
      on conflict (gate) do nothing`.execute(db);
  };
  await enterRows();

  /** What the pace says to somebody for whom there was no slot. */
  const closedMs = async (): Promise<number> => {
    const { rows } = await sql<{ ahead_ms: number; is_told: boolean }>`
      select (${aheadMs})::float8 as ahead_ms, wanted_at > clock_timestamp() - ${ago(WANTED_AGAIN_MS)} as is_told
      from ${paces} where gate = ${name}`.execute(db);
    const [row] = rows;
    // Somebody cleared the table.
    if (!row) await enterRows();
    const closed = Math.max(0, (row?.ahead_ms ?? 0) - START_AHEAD_MS);
    if (row && closed === 0 && !row.is_told)
      await sql`update ${paces} set wanted_at = clock_timestamp(), wanted_by = ${holder} where gate = ${name}
        returning ${withoutWaiting}`.execute(db);
    return closed;
  };

  return {
    take: async (most, except) => {
      // From above, which leaves the lower numbers to processes with a lower bound. What is ours and not named was taken
      // by a statement whose answer never came.
      const { rows } = await db.executeQuery(taking({ most, except: arrayLiteral(except) }));
      const [row] = rows;
      if (!row) return { numbers: [], firstMs: 0, isWanted: false, closedMs: await closedMs() };
      const { numbers, first_ms: firstMs, is_wanted: told } = row;
      return { numbers: numbers.map(Number), firstMs: Math.max(0, firstMs), isWanted: told === true, closedMs: 0 };
    },

    sharing: {
      takeStarts: async (count) => {
        const { rows } = await db.executeQuery(turning({ count }));
        return { firstMs: Math.max(0, rows[0]?.first_ms ?? 0), isWanted: rows[0]?.is_wanted === true };
      },

      renew: async (numbers) => {
        const { rows } = await sql<{ number: string }>`${plannedOnce}
          update ${slots} set expires_at = ${expiry}
          where gate = ${name} and holder = ${holder} and number = any(${arrayLiteral(numbers)}::bigint[])
          returning number, ${withoutWaiting}`.execute(db);
        return rows.map(({ number }) => Number(number));
      },

      release: async (numbers) => {
        await db.executeQuery(freeing({ numbers: arrayLiteral(numbers) }));
      },
    },
  };
}
