/** Leases: one live holder for each name, a token that increases, and the watermarks and runs of their syncs. */
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import {
  acquireLease,
  assertLease,
  assertNoRebuild,
  liveLeases,
  REBUILD_LEASE,
  releaseLease,
  renewLease,
} from '../../src/ledger/lease.ts';
import { readWatermarks, writeWatermark } from '../../src/ledger/watermarks.ts';
import { continueRun, createRun } from '../../src/ledger/runs.ts';
import { type Ops, operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const expire = (ops: Ops) => ops.updateTable('leases').set({ expires_at: '2001-01-01T00:00:00Z' }).execute();

eachWarehouse('a lease', (open) => {
  it('has one live holder', async () => {
    const ops = operationsOf(await open());
    const first = await acquireLease(ops, 'sync:a', 'one', false);
    await expect(acquireLease(ops, 'sync:a', 'two', false)).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringContaining('one'),
    });
    expect(await renewLease(ops, first)).toBe(true);

    await expire(ops);
    const second = await acquireLease(ops, 'sync:a', 'two', false);
    expect(Number(second.token)).toBeGreaterThan(Number(first.token));
    expect(await renewLease(ops, first)).toBe(false);
    await expect(assertLease(ops, first)).rejects.toMatchObject({ exitCode: 7 });
    // A late release frees nothing.
    await releaseLease(ops, first);
    await expect(acquireLease(ops, 'sync:a', 'three', false)).rejects.toMatchObject({ exitCode: 7 });
    await assertLease(ops, second);
    await releaseLease(ops, second);
    const third = await acquireLease(ops, 'sync:a', 'three', false);
    expect(Number(third.token)).toBeGreaterThan(Number(second.token));
  });

  it('that a failover took back was not taken over by another run', async () => {
    const ops = operationsOf(await open());
    await acquireLease(ops, 'sync:a', 'one', false);
    const second = await acquireLease(ops, 'sync:a', 'one', false);
    const lostByDatabase = { exitCode: 5, message: expect.stringContaining('failover') };
    await ops.updateTable('leases').set({ token: '1' }).execute();
    await expect(assertLease(ops, second)).rejects.toMatchObject(lostByDatabase);
    await ops.deleteFrom('leases').execute();
    await expect(assertLease(ops, second)).rejects.toMatchObject(lostByDatabase);
    // The lease of a chunk is deleted when its run ends.
    const outer = await acquireLease(ops, 'sync:a', 'one', false);
    await expect(assertLease(ops, { ...second, name: 'chunk:1', parent: outer })).rejects.toMatchObject({
      exitCode: 7,
    });
  });

  it('that a failover took back is not that of the next holder, who would have got the same number', async () => {
    const ops = operationsOf(await open());
    await releaseLease(ops, await acquireLease(ops, 'sync:a', 'one', false));
    const before = await ops.selectFrom('leases').selectAll().execute();
    const lost = await acquireLease(ops, 'sync:a', 'two', false);
    await ops.deleteFrom('leases').execute();
    await ops.insertInto('leases').values(before).execute();

    await assertLease(ops, await acquireLease(ops, 'sync:a', 'three', false));

    await expect(assertLease(ops, lost)).rejects.toMatchObject({ exitCode: 7 });
    expect(await renewLease(ops, lost)).toBe(false);
  });

  it('is free after a release by a clock that was set back since', async () => {
    const ops = operationsOf(await open());
    await releaseLease(ops, await acquireLease(ops, 'sync:a', 'one', false));
    const ahead = { expires_at: sql<Date>`expires_at + interval '10 days'`, token: sql<string>`token + 864000000000` };
    const { token } = await ops.updateTable('leases').set(ahead).returning('token').executeTakeFirstOrThrow();
    expect((await acquireLease(ops, 'sync:a', 'two', false)).token).toBe(String(BigInt(token) + 1n));
  });

  it('is granted again to the same holder, such as one whose commit got no answer', async () => {
    const ops = operationsOf(await open());
    const first = await acquireLease(ops, 'sync:a', 'one', false);
    const again = await acquireLease(ops, 'sync:a', 'one', false);
    expect(await renewLease(ops, first)).toBe(false);
    expect(await renewLease(ops, again)).toBe(true);
  });

  it('is taken over immediately if only one process can exist', async () => {
    const ops = operationsOf(await open());
    const dead = await acquireLease(ops, 'sync:a', 'dead', false);
    const alive = await acquireLease(ops, 'sync:a', 'alive', true);
    expect(Number(alive.token)).toBeGreaterThan(Number(dead.token));
  });

  it('with many concurrent claims is granted to one', async () => {
    const ops = operationsOf(await open());
    const all = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) => acquireLease(ops, 'sync:a', `${n}`, false)),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('of a rebuild is reported while it is held', async () => {
    const ops = operationsOf(await open());
    await acquireLease(ops, 'sync:a', 'one', false);
    await acquireLease(ops, 'sync:b', 'two', false);
    expect((await liveLeases(ops, 'sync:')).map(({ name }) => name)).toEqual(['sync:a', 'sync:b']);
    await assertNoRebuild(ops);
    await acquireLease(ops, REBUILD_LEASE, 'three', false);
    await expect(assertNoRebuild(ops)).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringContaining('three'),
    });
    await expire(ops);
    await assertNoRebuild(ops);
    expect(await liveLeases(ops, 'sync:')).toEqual([]);
  });
});

eachWarehouse('runs and marks', (open) => {
  const request = {
    sync: 'a',
    endpoint: 'microblog.user',
    definitionHash: 'h',
    holder: 'me',
    now: new Date('2026-03-06T15:00:00Z'),
  };
  const hours = (n: number): Date => new Date(request.now.getTime() + n * 3_600_000);

  it('continues the newest open run of the same definition, within a day', async () => {
    const ops = operationsOf(await open());
    expect(await continueRun(ops, request)).toEqual({ run: undefined, covered: 0, lost: [] });
    const first = await createRun(ops, request);
    const other = await createRun(ops, { ...request, sync: 'b' });
    const second = await createRun(ops, { ...request, now: hours(1) });

    const { run } = await continueRun(ops, { ...request, holder: 'you', now: hours(2) });
    expect(run).toEqual({ ...second, startedAt: '2026-03-06T16:00:00.000000Z', continued: true });
    const states = async () => ops.selectFrom('runs').select(['id', 'state', 'holder']).orderBy('id').execute();
    expect(await states()).toEqual([
      { id: first.id, state: 'abandoned', holder: 'me' },
      { id: other.id, state: 'running', holder: 'me' },
      { id: second.id, state: 'running', holder: 'you' },
    ]);
    expect((await continueRun(ops, { ...request, now: hours(25.1) })).run).toBeUndefined();
    expect((await continueRun(ops, { ...request, sync: 'b', definitionHash: 'other' })).run).toBeUndefined();
    expect((await states()).map(({ state }) => state)).toEqual(['abandoned', 'abandoned', 'abandoned']);
  });

  it('keeps watermarks by sync and name', async () => {
    const ops = operationsOf(await open());
    await writeWatermark(ops, 'a', 'log', 'one', request.now);
    await writeWatermark(ops, 'a', 'log', 'two', request.now);
    await writeWatermark(ops, 'b', 'log', 'three', request.now);
    expect(await readWatermarks(ops, 'a')).toEqual(new Map([['log', 'two']]));
    expect(await readWatermarks(ops, 'b')).toEqual(new Map([['log', 'three']]));
  });
});
