/**
 * Limits in points that processes share: a row counts what all of them spent or reserved. After a crash, the ledger is
 * authoritative, and the rows are corrected by it.
 */
import { sql } from 'kysely';
import { batched } from '../../async/batcher.ts';
import { arrayLiteral } from '../../warehouse/sql/array-literal.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import {
  allows,
  type BudgetReservation,
  type Limit,
  type MeteredBudget,
  POINTS_ERROR,
  tightestOf,
} from './local-budget.ts';
import { CHUNK_LEASES, liveLeases, syncLease } from '../../ledger/lease.ts';
import { operationsOf } from '../../warehouse/connect/operations-db.ts';
import { errorCode } from '../../warehouse/sql/sql-states.ts';

type OpsSchema = Pick<Warehouse, 'db' | 'ops'>;

/** A limit on the count of a row in `spending`. */
export interface SharedLimit {
  /** The limit in messages, such as "the budget per day". */
  readonly what: string;
  readonly points: number;
  readonly counter: string;
  /** The row's count when nothing counted against the limit. */
  readonly baseline: number;
}

interface CounterRow {
  readonly name: string;
  readonly points: string;
}

/** A change of what counts against limits. */
interface Change {
  readonly limits: readonly SharedLimit[];
  readonly points: number;
}

/**
 * All processes write to the same rows, one after the other, and each waits for the commit before it. Calls that wait at the
 * same time share one statement.
 */
const TOGETHER = { maxItems: 1000, failsWholeBatch: () => true };

/**
 * Returns the current limits and ensures that their rows exist and, for periods, agree with the ledger; with `mustEnsure`
 * also for rows that were ensured before. No points may be reserved under `ownLease` then.
 */
export type LimitsNow = (mustEnsure: boolean, ownLease?: string) => Promise<readonly SharedLimit[]>;

/** Runs work, with retries of transient errors. */
type Persist = <T>(work: () => Promise<T>) => Promise<T>;

/** The names of the rows, as an array of SQL. */
const namesOf = (limits: readonly SharedLimit[]): string => arrayLiteral(limits.map(({ counter }) => counter));

/** The changes of each set of rows in total: what is added, and what is given back. */
function sumsOf(changes: readonly Change[]): Change[] {
  const sums = new Map<string, Change>();
  for (const { limits, points } of changes) {
    const key = `${points < 0} ${namesOf(limits)}`;
    sums.set(key, { limits, points: points + (sums.get(key)?.points ?? 0) });
  }
  return [...sums.values()];
}

/** The limit of a row, with what counts against it. */
function limitOf(limits: readonly SharedLimit[], { name, points }: CounterRow): Limit {
  const limit = limits.find(({ counter }) => counter === name);
  if (!limit) throw new Error(`no limit counts ${name}`);
  return { what: limit.what, points: limit.points, spent: Number(points) - limit.baseline };
}

/**
 * Reserves points on all rows, or returns the limit that does not allow it; `gone` if a row is missing. No points change no
 * row, whose time says when points were last reserved.
 */
async function reserveOn(
  { db, ops }: OpsSchema,
  limits: readonly SharedLimit[],
  points: number,
): Promise<Limit | 'done' | 'gone'> {
  const spending = sql.id(ops, 'spending');
  // Lock rows in order of their names, to avoid deadlocks.
  const names = namesOf(limits);
  const mosts = arrayLiteral(limits.map((limit) => limit.points + limit.baseline + POINTS_ERROR));
  const { rows } = await sql<{ found: number; name: string | null; points: string | null }>`
    with wanted as (
      select * from unnest(${names}::text[], ${mosts}::numeric[]) as limits(name, most)
    ), counted as (
      select name, points from ${spending} where name = any(${names}::text[]) order by name for update
    ), refused as (
      select name, points from counted join wanted using (name)
      where ${points > 0} and points + ${String(points)}::numeric > most order by name limit 1
    ), added as (
      update ${spending} set points = points + ${String(points)}::numeric, updated_at = clock_timestamp()
      where name = any(${names}::text[]) and ${points !== 0}
        and not exists (select from refused) and (select count(*) from counted) = ${limits.length}
    )
    select (select count(*) from counted)::int as found,
      (select name from refused) as name, (select points from refused) as points`.execute(db);
  const [row] = rows;
  if (row?.name != null && row.points != null) return limitOf(limits, { name: row.name, points: row.points });
  return row?.found === limits.length ? 'done' : 'gone';
}

/** Creates a guard for shared limits. */
export function openSharedBudget({ db, ops }: OpsSchema, limitsFor: LimitsNow, persist: Persist): MeteredBudget {
  const spending = sql.id(ops, 'spending');
  const limitsNow: LimitsNow = (mustEnsure, ownLease) => persist(() => limitsFor(mustEnsure, ownLease));

  // Lock rows in order of their names, to avoid deadlocks.
  const change = async (limits: readonly SharedLimit[], points: number): Promise<void> => {
    const names = namesOf(limits);
    await sql`
      with counted as (
        select name from ${spending} where name = any(${names}::text[]) order by name for update
      )
      update ${spending} set points = greatest(points + ${String(points)}::numeric, 0), updated_at = clock_timestamp()
      where name = any(${names}::text[]) and (select count(*) from counted) > 0`.execute(db);
  };

  /**
   * Adds points, or gives them back. If the outcome is unknown, only an addition is repeated: twice only ends the run early,
   * and a miss would allow overspending. For points that are given back, it is the other way around.
   */
  const add = async (limits: readonly SharedLimit[], points: number): Promise<void> => {
    if (points === 0) return;
    const work = (): Promise<void> =>
      change(limits, points).catch((error: unknown) => {
        if (points > 0 || !mayBeDone(error)) throw error;
      });
    await persist(work).catch(() => undefined);
  };

  const addTogether = batched(async (changes: readonly Change[]): Promise<void[]> => {
    for (const { limits, points } of sumsOf(changes)) await add(limits, points);
    return changes.map(() => undefined);
  }, TOGETHER);

  /** What counts for a call against these limits, whatever limits hold later. */
  const reservationOn = (limits: readonly SharedLimit[]): BudgetReservation => ({
    add: async (points) => (points === 0 ? undefined : addTogether({ limits, points })),
  });

  const reserve = async (points: number): Promise<BudgetReservation | Limit> => {
    for (let isGone = false; ; isGone = true) {
      const limits = await limitsNow(isGone);
      // If the connection was lost after the commit, the points are reserved twice, which only ends a run early.
      const end = await persist(() => reserveOn({ db, ops }, limits, points));
      if (end === 'done') return reservationOn(limits);
      if (end !== 'gone') return end;
      if (isGone) throw new Error(`the rows of ${namesOf(limits)} are gone again`);
    }
  };

  const reserveTogether = batched(async (calls: readonly number[]): Promise<(BudgetReservation | Limit)[]> => {
    const all = await reserve(calls.reduce((sum, points) => sum + points, 0));
    if ('add' in all) return calls.map(() => all);
    if (calls.length === 1) return [all];
    // There may be enough for some of them.
    const each: (BudgetReservation | Limit)[] = [];
    for (const points of calls) each.push(await reserve(points));
    return each;
  }, TOGETHER);

  const counted = async (mustEnsure: boolean): Promise<Limit[]> => {
    const limits = await limitsNow(mustEnsure);
    const { rows } = await persist(() =>
      sql<CounterRow>`
        select name, points from ${spending} where name = any(${namesOf(limits)}::text[]) order by name`.execute(db),
    );
    return rows.map((row) => limitOf(limits, row));
  };

  const checkTogether = batched(async (calls: readonly number[]): Promise<(Limit | undefined)[]> => {
    const limits = await counted(false);
    return calls.map((points) => limits.find((limit) => !allows(limit, points)));
  }, TOGETHER);

  return {
    check: checkTogether,
    reserve: reserveTogether,
    tightest: async () => {
      const runs = await persist(() => activeRuns({ db, ops }));
      // A process whose config has no such limit counts its calls only in the ledger.
      return tightestOf((await counted(true)).map((limit) => ({ ...limit, runs })));
    },
    add: async (points) => {
      if (points !== 0) await add(await limitsNow(false), points);
    },
    countsEarlier: true,
    // The rows of a period become at least what the ledger has.
    addEarlier: async (_, ownLease) => void (await limitsNow(true, ownLease)),
  };
}

/** Returns how many runs and chunks are active; at least 1. */
const activeRuns = async (warehouse: OpsSchema): Promise<number> =>
  Math.max(1, (await liveLeases(operationsOf(warehouse), syncLease(''), CHUNK_LEASES)).length);

/** False if the server itself reported the error, so that the statement was rolled back. */
function mayBeDone(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return code !== 'ECONNREFUSED' && (!/^[0-9A-Z]{5}$/.test(code) || /^(?:08|57P)/.test(code));
}
