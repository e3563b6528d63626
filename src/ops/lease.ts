/** One holder at a time for a sync: a row with a heartbeat by the database's clock and a token that fences off the late. */
import { sql } from 'kysely';
import { HeldError } from '../errors.ts';
import type { Ops } from './schema.ts';

export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Rises with each take-over; a load by a former holder is refused by it. */
  readonly token: string;
}

/** A holder silent for so long is taken for dead. Shorter, and a pause of the machine loses the lease; longer, and others wait. */
const EXPIRES_MS = 12_000;
/** Three heartbeats may be missed before the lease is lost. */
export const HEARTBEAT_MS = 3_000;

const expiry = sql<Date>`clock_timestamp() + ${sql.lit(EXPIRES_MS)} * interval '1 millisecond'`;

/**
 * Takes the lease of that name; asked again by the same holder, it is given again. Throws a HeldError (exit 7) when another holder is alive; `sole` takes it over all the
 * same, for a warehouse that only one process can have open.
 */
export async function acquireLease(ops: Ops, name: string, holder: string, sole: boolean): Promise<Lease> {
  const taken = await ops
    .insertInto('leases')
    .values({ name, holder, token: '1', acquired_at: sql`clock_timestamp()`, expires_at: expiry })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, token: sql`leases.token + 1`, acquired_at: sql`clock_timestamp()`, expires_at: expiry })
        .where((eb) =>
          eb.or([
            eb.lit(sole),
            eb('leases.expires_at', '<', sql<Date>`clock_timestamp()`),
            // Taken by a statement whose answer never came.
            eb('leases.holder', '=', holder),
          ]),
        ),
    )
    .returning('token')
    .executeTakeFirst();
  if (taken) return { name, holder, token: taken.token };
  const owner = await ops
    .selectFrom('leases')
    .select(['holder', 'acquired_at'])
    .where('name', '=', name)
    .executeTakeFirst();
  throw new HeldError(`Another run holds the lease of ${name}: ${owner?.holder ?? 'just released'}.`, {
    next: `Wait for it to end; should it have died, its lease ends within ${EXPIRES_MS / 1000} s.`,
  });
}

/** Keeps the lease alive; false when it was lost. */
export async function renewLease(ops: Ops, lease: Lease): Promise<boolean> {
  const kept = await ops
    .updateTable('leases')
    .set({ expires_at: expiry })
    .where('name', '=', lease.name)
    .where('token', '=', lease.token)
    .returning('name')
    .executeTakeFirst();
  return kept !== undefined;
}

/** Throws a HeldError unless the lease is still ours; inside a transaction it stays ours until the end of it. */
export async function assertLease(ops: Ops, lease: Lease): Promise<void> {
  const held = await ops
    .selectFrom('leases')
    .select('name')
    .where('name', '=', lease.name)
    .where('token', '=', lease.token)
    .forShare()
    .executeTakeFirst();
  if (!held)
    throw new HeldError(`The lease of ${lease.name} was taken over by another run.`, {
      next: 'Nothing was loaded by this one; let the other end.',
    });
}

/** What a rebuild of all tables and an erasure hold beside the leases of the syncs that they know of. */
export const REBUILD = 'rebuild';

/**
 * Throws a HeldError while the tables are built anew or something is erased: what others load meanwhile would be gone, or left. Asked with the sync's own
 * lease in hand, and answered by a rebuild that first takes its own and then sees who has one.
 */
export async function assertNoRebuild(ops: Ops): Promise<void> {
  const [rebuild] = await liveLeases(ops, REBUILD);
  if (rebuild)
    throw new HeldError(`The tables are being built anew, or something is being erased, by ${rebuild.holder}.`, {
      next: 'Wait for it to end.',
    });
}

/** The leases whose names begin so and whose holders are alive. */
export async function liveLeases(
  ops: Ops,
  beginning: string,
): Promise<readonly { readonly name: string; readonly holder: string }[]> {
  return ops
    .selectFrom('leases')
    .select(['name', 'holder'])
    .where((eb) => eb.fn<boolean>('starts_with', ['name', eb.val(beginning)]))
    .where('expires_at', '>=', sql<Date>`clock_timestamp()`)
    .orderBy('name')
    .execute();
}

/** Gives the lease back, if it is still ours. The row stays, so that the token keeps rising. */
export async function releaseLease(ops: Ops, lease: Lease): Promise<void> {
  await ops
    .updateTable('leases')
    .set({ expires_at: sql`clock_timestamp() - interval '1 second'` })
    .where('name', '=', lease.name)
    .where('token', '=', lease.token)
    .execute();
}
