/**
 * The token's gate as rows that every process on a warehouse sees: who has which slot, and when the next call may start.
 * The database's clock is the only one between processes.
 *
 * These statements don't wait for the disk, which keeps them short. No call is forgotten by that when the database
 * crashes: before one is sent, the ledger's commit waits for the disk, and takes along what was written before it.
 */
import { type RawBuilder, sql } from 'kysely';
import { digestOf } from '../service/identity.ts';
import { arrayLiteral } from '../warehouse/array.ts';
import type { Warehouse } from '../warehouse/connect.ts';
import { compiledOnce } from '../warehouse/compiled.ts';
import { PLANNED_ONCE } from '../warehouse/postgres.ts';
import { HEARTBEAT_MS } from './lease.ts';

/** How many calls may be under way, and how far apart they start. */
export interface GateBounds {
  readonly inFlight: number;
  readonly intervalMs: number;
}

/** Slots that were given out, each with a turn to start. */
export interface TakenSlots {
  readonly numbers: readonly number[];
  /** Until the first of them may start; each further one follows an interval later. */
  readonly firstMs: number;
  /** How long the pace lets nobody in; 0 when only a slot is lacking. */
  readonly closedMs: number;
}

/** Where slots and turns come from. */
export interface SlotSource {
  /** Gives out at most so many slots that are free, none of those named: who asks holds them, or leaves them to others. */
  readonly take: (most: number, except: readonly number[]) => Promise<TakenSlots>;
  /** What is due to other processes that take from the same source; undefined where there can be none. */
  readonly sharing: Sharing | undefined;
}

export interface Sharing {
  /** Keeps slots for `SLOT_EXPIRES_MS` from now; returns those that are still ours. */
  readonly renew: (numbers: readonly number[]) => Promise<readonly number[]>;
  /** Lets others have the slots, as far as they are still ours. */
  readonly free: (numbers: readonly number[]) => Promise<void>;
  /** A turn in place of one that passed unused: milliseconds until it is there. */
  readonly takeTurn: () => Promise<number>;
}

/** A holder silent for so long is taken for dead: as with a lease, three heartbeats may be missed. */
export const SLOT_EXPIRES_MS = 4 * HEARTBEAT_MS;

/** Turns are given out so far ahead: time to commit that the call is sent. What is given to a process that dies is lost. */
export const AHEAD_MS = 100;

/**
 * No turn lies so far ahead: each slot has one, or a few when its call is late. What does was given out before a clock
 * was set back, and counts for nothing.
 */
export const farthestMs = ({ inFlight, intervalMs }: GateBounds): number => 60_000 + 4 * (inFlight + 1) * intervalMs;

/** Turns that may be given out at once when the next is so far ahead. */
export const turnsWithin = (aheadMs: number, intervalMs: number): number =>
  aheadMs > AHEAD_MS ? 0 : 1 + Math.floor((AHEAD_MS - aheadMs) / Math.max(intervalMs, SHORTEST_MS));

/** The database counts in microseconds. */
const SHORTEST_MS = 1e-3;

/** The name of a token's gate, which tells nothing of the token. */
export const gateName = (serviceUrl: string, token: string): string =>
  digestOf(`${URL.parse(serviceUrl)?.href ?? serviceUrl}\n${token}`).slice(0, 32);

export interface SharedGate extends GateBounds {
  readonly name: string;
  /** This process, and nothing else that opens the gate. */
  readonly holder: string;
}

/** Slots and turns of a gate that other processes share. There are slots up to the greatest bound that any of them has. */
export async function openSharedSlots(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  { name, holder, inFlight, intervalMs }: SharedGate,
): Promise<SlotSource> {
  const slots = sql.id(ops, 'gate_slots');
  const paces = sql.id(ops, 'gate_paces');
  const interval = sql`${intervalMs}::float8 * interval '1 millisecond'`;
  const farthest = sql`${farthestMs({ inFlight, intervalMs })}::float8 * interval '1 millisecond'`;
  const nextAt = sql`case when next_at < clock_timestamp() + ${farthest} then greatest(next_at, clock_timestamp()) else clock_timestamp() end`;
  const aheadMs = sql`extract(epoch from ${nextAt} - clock_timestamp()) * 1000`;
  const expiry = sql`clock_timestamp() + ${sql.lit(SLOT_EXPIRES_MS)} * interval '1 millisecond'`;
  const plannedOnce = sql.raw(PLANNED_ONCE);
  // Said within each statement, so that it takes one round trip, and a pooler of transactions may stand between.
  const compilable = <Row>(statement: RawBuilder<Row>) => ({ compile: () => statement.compile(db) });
  const withoutWaiting = sql`set_config('synchronous_commit', 'off', true)`;

  const taking = compiledOnce(['most', 'except'], ({ most, except }) =>
    compilable(sql<{ numbers: readonly string[]; first_ms: number }>`${plannedOnce}
      with taken as (
          update ${slots} set holder = ${holder}, expires_at = ${expiry}
          where gate = ${name} and number = any(array(
            select number from ${slots}
            where gate = ${name} and number <= ${inFlight} and number <> all(${except}::bigint[])
              and (expires_at < clock_timestamp() or holder = ${holder})
            order by number desc
            limit coalesce((
              select case when ${aheadMs} > ${AHEAD_MS} then 0 else least(${most},
                1 + floor((${AHEAD_MS} - ${aheadMs}) / ${Math.max(intervalMs, SHORTEST_MS)}::float8)) end::bigint
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
          ${withoutWaiting}`),
  );
  const freeing = compiledOnce(['numbers'], ({ numbers }) =>
    compilable(sql`${plannedOnce}
      update ${slots} set expires_at = clock_timestamp() - interval '1 second'
      where gate = ${name} and holder = ${holder} and number = any(${numbers}::bigint[])
      returning ${withoutWaiting}`),
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

  const closedMs = async (): Promise<number> => {
    const { rows } = await sql<{ ahead_ms: number }>`
      select (${aheadMs})::float8 as ahead_ms from ${paces} where gate = ${name}`.execute(db);
    const [row] = rows;
    // Somebody cleared the table.
    if (!row) await enterRows();
    return Math.max(0, (row?.ahead_ms ?? 0) - AHEAD_MS);
  };

  return {
    take: async (most, except) => {
      // From above, which leaves the lower numbers to processes with a lower bound. What is ours and not named was taken
      // by a statement whose answer never came.
      const { rows } = await db.executeQuery(taking({ most, except: arrayLiteral(except) }));
      const [row] = rows;
      if (row) return { numbers: row.numbers.map(Number), firstMs: Math.max(0, row.first_ms), closedMs: 0 };
      return { numbers: [], firstMs: 0, closedMs: await closedMs() };
    },

    sharing: {
      takeTurn: async () => {
        const { rows } = await sql<{ wait_ms: number }>`${plannedOnce}
          update ${paces} set next_at = ${nextAt} + ${interval} where gate = ${name}
          returning (extract(epoch from next_at - ${interval} - clock_timestamp()) * 1000)::float8 as wait_ms,
            ${withoutWaiting}`.execute(db);
        return Math.max(0, rows[0]?.wait_ms ?? 0);
      },

      renew: async (numbers) => {
        const { rows } = await sql<{ number: string }>`${plannedOnce}
          update ${slots} set expires_at = ${expiry}
          where gate = ${name} and holder = ${holder} and number = any(${arrayLiteral(numbers)}::bigint[])
          returning number, ${withoutWaiting}`.execute(db);
        return rows.map(({ number }) => Number(number));
      },

      free: async (numbers) => {
        await db.executeQuery(freeing({ numbers: arrayLiteral(numbers) }));
      },
    },
  };
}
