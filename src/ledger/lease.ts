/**
 * Leases: one holder at a time, a heartbeat by the database's clock, and a fencing token that excludes late holders.
 */
import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import { HeldError, type SluiceError, TransientError } from '../errors.ts';
import { anyText } from '../warehouse/sql/array-literal.ts';
import type { Ops, OpsDatabase } from '../warehouse/connect/operations-db.ts';

export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Increases with each takeover, so that writes of a former holder are refused. */
  readonly token: string;
  /** The outer lease, if this lease is for a part of its work; losing it loses this lease too. */
  readonly parent?: Lease;
}

/** The name of a sync's lease. */
export const syncLease = (sync: string): string => `sync:${sync}`;

/** The holder of the lease of a sync while workers share its run. */
export const holderOfRun = (runId: string): string => `run/${runId}`;

/** The beginning of the names of the leases of chunks. */
export const CHUNK_LEASES = 'chunk:';

/**
 * A holder that is silent this long is considered dead. If shorter, a pause of the machine loses the lease; if longer,
 * other processes wait.
 */
const EXPIRES_MS = 12_000;
/** Three heartbeats may be missed before the lease is lost. */
export const HEARTBEAT_MS = 3_000;

const expiry = sql<Date>`clock_timestamp() + ${sql.lit(EXPIRES_MS)} * interval '1 millisecond'`;

/**
 * Microseconds of the database's clock. A plain counter would give the same number again after a failover that lost an
 * acquisition, and two holders would pass for one.
 */
const tokenNow = sql<string>`(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/**
 * Acquires a lease; the same holder can acquire it again. Throws a HeldError (exit 7) if another holder is alive.
 * `sole` takes it over anyway, for a warehouse that only one process can open. `assertDue` throws if there is no work
 * for the lease, and blocks the end of that work until the lease is acquired. Otherwise a lease that was deleted after its
 * work would start again with tokens of earlier holders.
 */
export async function acquireLease(
  ops: Ops,
  name: string,
  holder: string,
  sole: boolean,
  assertDue: (tx: Ops) => Promise<void> = async () => undefined,
): Promise<Lease> {
  const current = await ops
    .selectFrom('leases')
    .select(['holder', sql<boolean>`expires_at >= clock_timestamp()`.as('alive')])
    .where('name', '=', name)
    .executeTakeFirst();
  // Fail immediately, since acquiring the lease would wait for its holder's load.
  if (current?.alive === true && current.holder !== holder && !sole) throw heldBy(name, current.holder);
  const acquired = await ops.transaction().execute(async (tx) => {
    // Waits for loads that asserted the lease. An update alone would not wait, since it changes no key.
    await tx.selectFrom('leases').select('name').where('name', '=', name).forUpdate().execute();
    await assertDue(tx);
    return tx
      .insertInto('leases')
      .values({ name, holder, token: tokenNow, acquired_at: sql`clock_timestamp()`, expires_at: expiry })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({
            holder,
            // The clock may have been set back.
            token: sql`greatest(leases.token + 1, ${tokenNow})`,
            acquired_at: sql`clock_timestamp()`,
            expires_at: expiry,
          })
          .where((eb) =>
            eb.or([
              eb.lit(sole),
              eb('leases.expires_at', '<', sql<Date>`clock_timestamp()`),
              // Acquired by a statement whose result was lost.
              eb('leases.holder', '=', holder),
            ]),
          ),
      )
      .returning('token')
      .executeTakeFirst();
  });
  if (acquired) return { name, holder, token: acquired.token };
  const owner = await ops.selectFrom('leases').select('holder').where('name', '=', name).executeTakeFirst();
  throw heldBy(name, owner?.holder ?? 'just released');
}

const heldBy = (name: string, holder: string): HeldError =>
  new HeldError(`Another run holds the lease of ${name}: ${holder}.`, {
    next: `Wait for it to end; if it died, its lease expires within ${EXPIRES_MS / 1000} s.`,
  });

/** Renews the lease and its outer leases; false if one was lost. */
export async function renewLease(ops: Ops, lease: Lease): Promise<boolean> {
  for (const each of withOuterLeases(lease)) {
    const kept = await ops
      .updateTable('leases')
      .set({ expires_at: expiry })
      .where(isRowOf(each))
      .returning('name')
      .executeTakeFirst();
    if (!kept) return false;
  }
  return true;
}

/** Transfers the lease to another holder with the same token; throws a HeldError if the lease was lost. */
export async function handOver(ops: Ops, lease: Lease, holder: string): Promise<void> {
  const handed = await ops
    .updateTable('leases')
    .set({ holder, expires_at: expiry })
    .where(isRowOf(lease))
    .returning('name')
    .executeTakeFirst();
  if (!handed) throw new HeldError(`The lease of ${lease.name} was taken over by another run.`);
}

/**
 * Throws a HeldError unless this process still holds the lease and its outer leases, and a TransientError if the database
 * lost the lease of a sync. Inside a transaction they cannot be acquired over until its end. Heartbeats are not blocked,
 * because a shared run has many.
 */
export const assertLease = (ops: Ops, lease: Lease): Promise<void> => assertLeases(ops, [lease]);

/** Asserts several leases as `assertLease` does, with one statement. */
export async function assertLeases(ops: Ops, leases: readonly Lease[]): Promise<void> {
  const all = leases.flatMap(withOuterLeases);
  const rows = await ops
    .selectFrom('leases')
    .select(['name', 'token'])
    .where('name', '=', anyText(all.map(({ name }) => name)))
    .forKeyShare()
    .execute();
  const held = new Map(rows.map(({ name, token }) => [name, token]));
  const lost = all.find(({ name, token }) => held.get(name) !== token);
  if (lost) throw lostLeaseError(lost, held.get(lost.name));
}

/** The row of an outermost lease stays, and its token increases. Only a lagging standby and a restore take it back. */
function lostLeaseError({ name, token, parent }: Lease, found: string | undefined): SluiceError {
  if (!parent && BigInt(found ?? 0) < BigInt(token))
    return new TransientError(
      `The database no longer has the lease of ${name}, as after a failover that lost transactions.`,
      { next: 'Run the sync again: it requests again what the database lost.' },
    );
  return new HeldError(`The lease of ${name} was taken over by another run.`, {
    next: 'This run loads no more; let the other run finish.',
  });
}

/** An SQL condition that the lease and its outer leases are held. */
export function isLeaseHeld(lease: Lease): Expression<SqlBool> {
  const eb = expressionBuilder<OpsDatabase>();
  return eb.and(
    withOuterLeases(lease).map((each) => eb.exists(eb.selectFrom('leases').select('name').where(isRowOf(each)))),
  );
}

/** A condition on a row of the leases: the lease is held. */
const isRowOf = ({ name, token }: Lease): Expression<SqlBool> =>
  expressionBuilder<OpsDatabase, 'leases'>().and({ name, token });

const withOuterLeases = (lease: Lease): readonly Lease[] =>
  lease.parent ? [...withOuterLeases(lease.parent), lease] : [lease];

/** Returns the current holder; undefined if the lease was lost. */
export async function currentHolder(ops: Ops, lease: Lease): Promise<string | undefined> {
  const row = await ops.selectFrom('leases').select('holder').where(isRowOf(lease)).executeTakeFirst();
  return row?.holder;
}

/** Returns how long ago the lease expired, negative while it is alive; undefined if it was lost. */
export async function expiredForMs(ops: Ops, lease: Lease): Promise<number | undefined> {
  const row = await ops
    .selectFrom('leases')
    .select(sql<number>`(extract(epoch from clock_timestamp() - expires_at) * 1000)::float8`.as('ms'))
    .where(isRowOf(lease))
    .executeTakeFirst();
  return row?.ms;
}

/** Deletes leases of finished work, whose names are never used again. */
export async function removeLeases(ops: Ops, beginning: string): Promise<void> {
  await ops
    .deleteFrom('leases')
    .where((eb) => eb.fn<boolean>('starts_with', ['name', eb.val(beginning)]))
    .execute();
}

/** The lease that a rebuild and an erasure hold, besides the leases of the known syncs. */
export const REBUILD_LEASE = 'rebuild';

/** The lease of work that copies rows from stored answers, so that an erasure does not miss the copies. */
export const COPY_LEASE = 'copy';

/**
 * Throws a HeldError during a rebuild or an erasure, which would lose or miss rows that are loaded meanwhile. Call it
 * while holding the sync's lease: a rebuild first acquires its own lease and then checks for others.
 */
export async function assertNoRebuild(ops: Ops): Promise<void> {
  const [rebuild] = await liveLeases(ops, REBUILD_LEASE);
  if (rebuild)
    throw new HeldError(`A rebuild or an erasure is running: ${rebuild.holder}.`, {
      next: 'Wait for it to end.',
    });
}

/** Returns the leases with one of these prefixes whose holders are alive. */
export async function liveLeases(
  ops: Ops,
  ...beginnings: readonly string[]
): Promise<readonly { readonly name: string; readonly holder: string }[]> {
  return ops
    .selectFrom('leases')
    .select(['name', 'holder'])
    .where((eb) => eb.or(beginnings.map((it) => eb.fn<boolean>('starts_with', ['name', eb.val(it)]))))
    .where('expires_at', '>=', sql<Date>`clock_timestamp()`)
    .orderBy('name')
    .execute();
}

/**
 * Releases the lease if this process still holds it. The row stays, so that the token keeps increasing. It is free also if
 * the clock of the database was ahead and is set back.
 */
export async function releaseLease(ops: Ops, lease: Lease): Promise<void> {
  await ops.updateTable('leases').set({ expires_at: sql`'epoch'` }).where(isRowOf(lease)).execute();
}
