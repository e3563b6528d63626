/** One holder at a time for a sync: a row with a heartbeat by the database's clock and a token that fences off the late. */
import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import { HeldError } from '../errors.ts';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';

export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Rises with each take-over; a load by a former holder is refused by it. */
  readonly token: string;
  /** The lease of the whole that this one is for a part of; who lost that has lost this too. */
  readonly parent?: Lease;
}

/** What the lease of a sync is called. */
export const syncLease = (sync: string): string => `sync:${sync}`;

/** A holder silent for so long is taken for dead. Shorter, and a pause of the machine loses the lease; longer, and others wait. */
const EXPIRES_MS = 12_000;
/** Three heartbeats may be missed before the lease is lost. */
export const HEARTBEAT_MS = 3_000;

const expiry = sql<Date>`clock_timestamp() + ${sql.lit(EXPIRES_MS)} * interval '1 millisecond'`;

/**
 * Takes the lease of that name; asked again by the same holder, it is given again. Throws a HeldError (exit 7) when
 * another holder is alive; `sole` takes it over all the same, for a warehouse that only one process can have open.
 * `assertDue` throws where there is no work to hold it for, and holds that off until the lease is taken: a lease that was
 * removed with its work would begin anew, with tokens that an earlier holder had.
 */
export async function acquireLease(
  ops: Ops,
  name: string,
  holder: string,
  sole: boolean,
  assertDue: (tx: Ops) => Promise<void> = async () => undefined,
): Promise<Lease> {
  const standing = await ops
    .selectFrom('leases')
    .select(['holder', sql<boolean>`expires_at >= clock_timestamp()`.as('alive')])
    .where('name', '=', name)
    .executeTakeFirst();
  // Told at once: to take it, one would have to wait for its holder's load.
  if (standing?.alive === true && standing.holder !== holder && !sole) throw heldBy(name, standing.holder);
  const taken = await ops.transaction().execute(async (tx) => {
    // Waits for loads that have asserted it: an update alone would not, as it changes no key.
    await tx.selectFrom('leases').select('name').where('name', '=', name).forUpdate().execute();
    await assertDue(tx);
    return tx
      .insertInto('leases')
      .values({ name, holder, token: '1', acquired_at: sql`clock_timestamp()`, expires_at: expiry })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({
            holder,
            token: sql`leases.token + 1`,
            acquired_at: sql`clock_timestamp()`,
            expires_at: expiry,
          })
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
  });
  if (taken) return { name, holder, token: taken.token };
  const owner = await ops.selectFrom('leases').select('holder').where('name', '=', name).executeTakeFirst();
  throw heldBy(name, owner?.holder ?? 'just released');
}

const heldBy = (name: string, holder: string): HeldError =>
  new HeldError(`Another run holds the lease of ${name}: ${holder}.`, {
    next: `Wait for it to end; should it have died, its lease ends within ${EXPIRES_MS / 1000} s.`,
  });

/** Keeps the lease alive, and the one that it lies within; false when either was lost. */
export async function renewLease(ops: Ops, lease: Lease): Promise<boolean> {
  for (const { name, token } of withOuter(lease)) {
    const kept = await ops
      .updateTable('leases')
      .set({ expires_at: expiry })
      .where('name', '=', name)
      .where('token', '=', token)
      .returning('name')
      .executeTakeFirst();
    if (!kept) return false;
  }
  return true;
}

/** Has the lease held in another name from now on, its token as before; throws a HeldError when it was lost. */
export async function handOver(ops: Ops, { name, token }: Lease, holder: string): Promise<void> {
  const handed = await ops
    .updateTable('leases')
    .set({ holder, expires_at: expiry })
    .where('name', '=', name)
    .where('token', '=', token)
    .returning('name')
    .executeTakeFirst();
  if (!handed) throw new HeldError(`The lease of ${name} was taken over by another run.`);
}

/**
 * Throws a HeldError unless the lease is still ours, and the one that it lies within; inside a transaction they stay ours
 * until the end of it. Heartbeats go on meanwhile, of which a run that many processes share has many.
 */
export async function assertLease(ops: Ops, lease: Lease): Promise<void> {
  for (const { name, token } of withOuter(lease)) {
    const held = await ops
      .selectFrom('leases')
      .select('name')
      .where('name', '=', name)
      .where('token', '=', token)
      .forKeyShare()
      .executeTakeFirst();
    if (!held)
      throw new HeldError(`The lease of ${name} was taken over by another run.`, {
        next: 'Nothing was loaded by this one; let the other end.',
      });
  }
}

/** A condition of statements that only the holder may do. */
export function isLeaseHeld(lease: Lease): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase>();
  return eb.and(
    withOuter(lease).map(({ name, token }) =>
      eb.exists(eb.selectFrom('leases').select('name').where('name', '=', name).where('token', '=', token)),
    ),
  );
}

const withOuter = (lease: Lease): readonly Lease[] => (lease.parent ? [...withOuter(lease.parent), lease] : [lease]);

/** Who holds it by now; undefined when the lease was lost. */
export async function currentHolder(ops: Ops, { name, token }: Lease): Promise<string | undefined> {
  const row = await ops
    .selectFrom('leases')
    .select('holder')
    .where('name', '=', name)
    .where('token', '=', token)
    .executeTakeFirst();
  return row?.holder;
}

/** Removes leases of work that is over for good, whose names nobody takes again. */
export async function removeLeases(ops: Ops, beginning: string): Promise<void> {
  await ops
    .deleteFrom('leases')
    .where((eb) => eb.fn<boolean>('starts_with', ['name', eb.val(beginning)]))
    .execute();
}

/** What a rebuild of all tables and an erasure hold beside the leases of the syncs that they know of. */
export const REBUILD_LEASE = 'rebuild';

/**
 * Throws a HeldError while the tables are built anew or something is erased: what others load meanwhile would be gone, or
 * left. Asked with the sync's own lease in hand, and answered by a rebuild that first takes its own and then sees who has
 * one.
 */
export async function assertNoRebuild(ops: Ops): Promise<void> {
  const [rebuild] = await liveLeases(ops, REBUILD_LEASE);
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
