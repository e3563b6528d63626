/** Points left on the account, as the service reports them. */
import { sql } from 'kysely';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { LOG_TABLE } from '../../service/request-log/request-log.ts';

export interface Balance {
  readonly points: number;
  /** When the logged request that shows the balance began, by the service's clock; later requests are not included. */
  readonly at: Date;
}

export interface ReadBalance extends Balance {
  /** When the log was read, by the clock of the warehouse. */
  readonly readAt: Date;
}

export interface KnownBalance extends ReadBalance {
  /** Identifier of the token in the log; undefined until a row surely belongs to one of our requests. */
  readonly tokenId: string | undefined;
}

/** SQL condition on a log row: it is of this token, as far as both are known. */
const isOfToken = (tokenId: string | undefined) =>
  sql`(${tokenId ?? null}::uuid is null or token_id is null or token_id = ${tokenId ?? null}::uuid)`;

/**
 * Returns the balance in the newest logged request that shows one; undefined if the log was never read. Rows of other
 * tokens do not count if our token is known.
 */
export async function lastBalance(
  warehouse: Pick<Warehouse, 'db' | 'schema'>,
  tokenId?: string,
): Promise<ReadBalance | undefined> {
  const { rows } = await sql<{ points_left: string; started_at: Date; read_at: Date }>`
    select points_left, started_at, _changed_at as read_at from ${sql.table(`${warehouse.schema}.${LOG_TABLE}`)}
    where points_left is not null and ${isOfToken(tokenId)} order by started_at desc limit 1`.execute(warehouse.db);
  const [row] = rows;
  return row && { points: Number(row.points_left), at: row.started_at, readAt: row.read_at };
}

/** Which rows of the log show the balance. */
export interface BalanceRows {
  /** The first row, by the service's clock; undefined for all rows. */
  readonly since: Date | undefined;
  /** The latest time that a row can have, by the service's clock. */
  readonly present: Date;
  /** Rows of other tokens do not count if our token is known. */
  readonly tokenId: string | undefined;
}

/**
 * Returns the balance after these log rows; undefined if none shows one. A row that began before the newest one and ended
 * after it may show a later balance, so the lowest one counts. A row from the future, such as one of a machine with a wrong
 * clock, counts beside the newest one until the present.
 */
export async function balanceSince(
  { db, schema }: Pick<Warehouse, 'db' | 'schema'>,
  { since, present, tokenId }: BalanceRows,
): Promise<Balance | undefined> {
  // The log may show any number. A row did not end before it began.
  const ends = sql`started_at + least(greatest(coalesce(duration, response_execution_time, 0), 0), 3600) * interval '1 second'`;
  const { rows } = await sql<{ points: string; started_at: Date }>`
    with logged as (
      select started_at, points_left, ${ends} as ended_at, case when coalesce(is_paid, cost > 0) then cost else 0 end as charged
      from ${sql.table(`${schema}.${LOG_TABLE}`)}
      where started_at >= ${since === undefined ? sql`'-infinity'::timestamptz` : sql`${since.toISOString()}::timestamptz`}
        and ${isOfToken(tokenId)}
    ), newest as (
      select started_at from logged where points_left is not null
      order by started_at <= ${present.toISOString()}::timestamptz desc, started_at desc limit 1
    )
    select n.started_at, (select min(points_left) from logged where ended_at >= n.started_at)
      - coalesce((select sum(charged) from logged where started_at > n.started_at and points_left is null), 0) as points
    from newest n`.execute(db);
  return rows[0] && { points: Number(rows[0].points), at: rows[0].started_at };
}

/** Returns the saved balance of a token; undefined before a run with a limit in points read the log. */
export async function readBalance(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  tokenDigest: string,
): Promise<KnownBalance | undefined> {
  const { rows } = await sql<{ points: string; logged_at: Date; read_at: Date; token_id: string | null }>`
    select points, logged_at, read_at, token_id from ${sql.id(ops, 'balances')} where token_digest = ${tokenDigest}`.execute(
    db,
  );
  const [row] = rows;
  return (
    row && { points: Number(row.points), at: row.logged_at, readAt: row.read_at, tokenId: row.token_id ?? undefined }
  );
}

/** Saves the balance of a token, replacing the one before. */
export async function saveBalance(
  { db, ops }: Pick<Warehouse, 'db' | 'ops'>,
  tokenDigest: string,
  { points, at, readAt, tokenId }: KnownBalance,
): Promise<void> {
  await sql`
    insert into ${sql.id(ops, 'balances')} as b (token_digest, points, logged_at, read_at, token_id)
    values (${tokenDigest}, ${points}, ${at.toISOString()}::timestamptz, ${readAt.toISOString()}::timestamptz, ${tokenId ?? null}::uuid)
    on conflict (token_digest) do update set points = excluded.points, logged_at = excluded.logged_at, read_at = excluded.read_at,
      token_id = coalesce(excluded.token_id, b.token_id)`.execute(db);
}
