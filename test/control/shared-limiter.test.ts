/** The limiter of many processes, over a scripted source: heartbeats, lost slots, late starts, and slots of other processes. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capped } from '../../src/control/limiter/capped.ts';
import { LimiterQueue } from '../../src/control/limiter/queue.ts';
import type { SlotSource } from '../../src/control/limiter/slot-source.ts';
import { HEARTBEAT_MS } from '../../src/ledger/lease.ts';
import { countOf } from '../support/long.ts';
import { settled, type Sleepers, sleepers } from '../flow/sleepers.ts';

const forever = new AbortController().signal;
const IN_FLIGHT = 3;
const INTERVAL_MS = 100;

/** Rows as a database would hold them, without its clock; the test makes other processes take and release slots. */
function scripted(time: Sleepers) {
  const mine = new Set<number>();
  const others = new Set<number>();
  const calls: string[] = [];
  let failing: Error | undefined;
  const ask = async (what: string): Promise<void> => {
    calls.push(what);
    if (failing) throw failing;
  };
  let turnMs = 0;
  let closedMs = 0;
  let isWanted = false;
  const source: SlotSource = {
    take: async (most, except) => {
      await ask(`take ${most}`);
      const free = [3, 2, 1].filter((it) => !others.has(it) && !except.includes(it));
      const numbers = closedMs > 0 ? [] : free.slice(0, most);
      for (const number of numbers) mine.add(number);
      return { numbers, firstMs: turnMs, isWanted, closedMs };
    },
    sharing: {
      renew: async (numbers) => {
        await ask(`renew ${numbers.join()}`);
        return numbers.filter((it) => mine.has(it));
      },
      release: async (numbers) => {
        await ask(`free ${numbers.join()}`);
        for (const number of numbers) mine.delete(number);
      },
      takeStarts: async (count) => {
        await ask(`turns ${count}`);
        return { firstMs: Math.max(turnMs, closedMs), isWanted };
      },
    },
  };
  const bounds = { inFlight: IN_FLIGHT, intervalMs: INTERVAL_MS };
  return {
    limiter: new LimiterQueue(source, bounds, { now: time.now, sleep: time.sleep, random: () => 0.5 }),
    mine,
    others,
    /** The requests to the source since the last call. */
    calls: () => calls.splice(0),
    fail: (error: Error | undefined) => (failing = error),
    setTurn: (ms: number) => (turnMs = ms),
    close: (ms: number) => (closedMs = ms),
    want: () => (isWanted = true),
  };
}

describe('a limiter over a shared source', () => {
  it('requests once for all waiting calls, and frees unused slots', async () => {
    const time = sleepers();
    const { limiter, calls, mine } = scripted(time);
    const slots = await Promise.all([1, 2, 3].map(() => limiter.acquire(forever)));
    expect(calls()).toEqual(['take 3']);
    for (const slot of slots) slot.release();
    await settled();
    expect(calls()).toEqual(['free 3,2,1']);
    expect(mine.size).toBe(0);
  });

  it('passes a released slot on here in the instant, with a turn once it is to begin', async () => {
    const time = sleepers();
    const { limiter, calls, setTurn } = scripted(time);
    const slots = await Promise.all([1, 2, 3].map(() => limiter.acquire(forever)));
    const next = [limiter.acquire(forever), limiter.acquire(forever)];
    const start = time.ms();
    await time.run(() => time.ms() - start >= 1000);
    calls();
    setTurn(70);
    const begin = time.ms();
    slots[0]?.release();
    const slot = await next[0];
    expect(calls()).toEqual([]);
    let began: boolean | undefined;
    void slot?.begin(forever).then((it) => (began = it));
    await time.run(() => began !== undefined);
    expect([began, time.ms() - begin]).toEqual([true, 70]);
    expect(calls()).toEqual(['turns 1']);
  });

  it('passes none on whose turn would be long in coming', async () => {
    const time = sleepers();
    const { limiter, calls } = scripted(time);
    const slots = await Promise.all([1, 2, 3].map(() => limiter.acquire(forever)));
    const next = [1, 2, 3].map(() => limiter.acquire(forever));
    await settled();
    calls();
    for (const slot of slots) slot.release();
    await settled();
    // Those three have the turns of the next 300 ms.
    expect(calls()[0]).toMatch(/^take/);
    await Promise.all(next);
  });

  it('passes a slot to other processes once the result of its last call is recorded, and not before', async () => {
    const time = sleepers();
    const { limiter, calls, mine } = scripted(time);
    const slots = await Promise.all([1, 2, 3].map(() => limiter.acquire(forever)));
    const next = limiter.acquire(forever);
    await settled();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const start = time.ms();
    await time.run(() => time.ms() - start >= 1000);
    const committer = {};
    slots[0]?.release({ recorded: first.promise, committer });
    (await next).release({ recorded: second.promise, committer });
    await settled();
    calls();
    // Held all the while, and kept alive.
    const begin = time.ms();
    await time.run(() => time.ms() - begin >= 2 * HEARTBEAT_MS);
    second.resolve();
    await settled();
    expect(calls()).toEqual(['renew 3,2,1', 'renew 3,2,1']);
    expect(mine.has(3)).toBe(true);
    first.reject(new Error('it could not be recorded'));
    await settled();
    expect(calls()).toEqual(['free 3']);
  });

  it('does so through a bound of the process’s own, too', async () => {
    const time = sleepers();
    const { limiter, calls } = scripted(time);
    const narrow = capped(limiter, 1);
    const { promise: recorded, resolve } = Promise.withResolvers<void>();
    (await narrow.acquire(forever)).release({ recorded, committer: {} });
    await settled();
    expect(calls()).toEqual(['take 1']);
    resolve();
    await settled();
    expect(calls()).toEqual(['free 3']);
  });

  it('looks for a slot that other processes released, at intervals', async () => {
    const time = sleepers();
    const { limiter, calls, others } = scripted(time);
    for (const number of [1, 2, 3]) others.add(number);
    const begin = time.ms();
    let had = false;
    const taken = limiter.acquire(forever).then(() => (had = true));
    await time.run(() => time.ms() - begin >= 1000);
    expect(had).toBe(false);
    expect(calls().filter((it) => it.startsWith('take')).length).toBeLessThanOrEqual(20);
    others.delete(2);
    await time.run(() => had);
    await taken;
    // It is found with the next look or the one after.
    expect(time.ms() - begin).toBeLessThanOrEqual(1200);
  });

  it('requests nothing while this process uses all slots, or while the rate allows no start', async () => {
    const time = sleepers();
    const { limiter, calls, close } = scripted(time);
    const slots = await Promise.all([1, 2, 3].map(() => limiter.acquire(forever)));
    const begin = time.ms();
    const passed = limiter.acquire(forever);
    await time.run(() => time.ms() - begin > 30_000);
    expect(calls().filter((it) => it !== 'take 3' && !it.startsWith('renew'))).toEqual([]);

    close(5000);
    slots[0]?.release();
    const closedAt = time.ms();
    // It was not known here that the pace is closed; by now it is.
    const started = (await passed).begin(forever);
    await settled();
    let hadOther = false;
    const other = limiter.acquire(forever).then(() => (hadOther = true));
    slots[1]?.release();
    await time.run(() => time.ms() - closedAt >= 2000);
    expect(calls().filter((it) => it.startsWith('take'))).toEqual(['take 1']);
    close(0);
    await time.run(() => hadOther);
    await time.run(() => time.ms() - closedAt > 5000);
    expect(await started).toBe(true);
    await other;
    expect(time.ms() - closedAt).toBeLessThanOrEqual(5000 + HEARTBEAT_MS);
  });

  it('renews what is in use and nothing else', async () => {
    const time = sleepers();
    const { limiter, calls } = scripted(time);
    const [first, second] = [await limiter.acquire(forever), await limiter.acquire(forever)];
    calls();
    const begin = time.ms();
    await time.run(() => time.ms() - begin >= 2 * HEARTBEAT_MS);
    first.release();
    await settled();
    await time.run(() => time.ms() - begin >= 3 * HEARTBEAT_MS);
    second.release();
    await settled();
    await time.run(() => time.ms() - begin >= 5 * HEARTBEAT_MS);
    expect(calls()).toEqual(['renew 3,2', 'renew 3,2', 'free 3', 'renew 2', 'free 2']);
  });

  it('begins no call on a slot that another process took meanwhile, and frees nothing of theirs', async () => {
    const time = sleepers();
    const { limiter, mine, fail } = scripted(time);
    const slot = await limiter.acquire(forever);
    // The process stood still, and with it its heartbeat.
    fail(new Error('away'));
    const begin = time.ms();
    await time.run(() => time.ms() - begin >= 5 * HEARTBEAT_MS);
    fail(undefined);
    mine.clear();
    const began = slot.begin(forever);
    await time.run(() => mine.size > 0 || time.ms() - begin > 6 * HEARTBEAT_MS);
    expect(await began).toBe(false);
  });

  it('begins a call on a slot that no other process took, although the heartbeat failed', async () => {
    const time = sleepers();
    const { limiter, fail, calls } = scripted(time);
    const slot = await limiter.acquire(forever);
    fail(new Error('away'));
    const begin = time.ms();
    await time.run(() => time.ms() - begin >= 5 * HEARTBEAT_MS);
    fail(undefined);
    calls();
    let began: boolean | undefined;
    void slot.begin(forever).then((it) => (began = it));
    await time.run(() => began !== undefined);
    expect(began).toBe(true);
    expect(calls()).toContain('renew 3');
  });

  it('begins calls an interval apart although their turns passed together', async () => {
    const time = sleepers();
    const { limiter } = scripted(time);
    const slots = await Promise.all([1, 2].map(() => limiter.acquire(forever)));
    time.set(time.ms() + INTERVAL_MS + 10);
    const began: number[] = [];
    for (const slot of slots) void slot.begin(forever).then(() => began.push(time.ms()));
    await time.run(() => began.length === slots.length);
    const [first = 0, second = 0] = began;
    expect(second - first).toBe(INTERVAL_MS);
  });

  it('takes a new turn in place of one that passed too long ago', async () => {
    const time = sleepers();
    const { limiter, calls, setTurn } = scripted(time);
    const [soon, late] = [await limiter.acquire(forever), await limiter.acquire(forever)];
    calls();
    expect(await soon.begin(forever)).toBe(true);
    time.set(time.ms() + 400);
    setTurn(250);
    const begin = time.ms();
    let began: boolean | undefined;
    void late.begin(forever).then((it) => (began = it));
    await time.run(() => began !== undefined);
    expect(began).toBe(true);
    expect(calls()).toEqual(['turns 1']);
    expect(time.ms() - begin).toBe(250);
  });

  it('passes the error of the database to all waiting calls, and works again when the database does', async () => {
    const time = sleepers();
    const { limiter, fail } = scripted(time);
    fail(new Error('no such table'));
    const refused = await Promise.allSettled([limiter.acquire(forever), limiter.acquire(forever)]);
    expect(refused).toMatchObject([
      { status: 'rejected', reason: { message: 'no such table' } },
      { status: 'rejected', reason: { message: 'no such table' } },
    ]);
    fail(undefined);
    const slot = await limiter.acquire(forever);
    fail(new Error('away'));
    // A slot that can't be freed runs out by itself.
    slot.release();
    await settled();
    fail(undefined);
    expect(await limiter.acquire(forever)).toHaveProperty('release');
  });

  it('frees a slot that came for one who had gone', async () => {
    const time = sleepers();
    const { limiter, mine, calls } = scripted(time);
    const stop = new AbortController();
    const gone = limiter.acquire(stop.signal);
    await Promise.resolve();
    await Promise.resolve();
    stop.abort(new Error('stopped'));
    await expect(gone).rejects.toThrow('stopped');
    await settled();
    expect(calls()).toEqual(['take 1', 'free 3']);
    expect(mine.size).toBe(0);
  });

  it('leaves a slot that it keeps reusing to other processes from time to time, for as long as they need to notice', async () => {
    const time = sleepers();
    const { limiter, others, mine, want } = scripted(time);
    others.add(1).add(2);
    want();
    const begin = time.ms();
    const freeAt: number[] = [];
    const workers = { left: 2 };
    const worker = async (): Promise<void> => {
      while (time.ms() - begin < 7000) {
        const slot = await limiter.acquire(forever);
        await time.sleep(200);
        slot.release();
      }
      workers.left -= 1;
    };
    // Another process would look every 100 ms at the least.
    const looker = async (): Promise<void> => {
      for (; workers.left > 0; await time.sleep(100)) if (!mine.has(3)) freeAt.push(time.ms() - begin);
    };
    const all = Promise.all([worker(), worker()]);
    await settled();
    void looker();
    await time.run(() => workers.left === 0);
    await all;
    expect(freeAt.filter((it) => it < 2000)).toEqual([]);
    for (const [from, to] of [
      [2000, 2600],
      [4000, 5200],
      [6000, 7800],
    ] as const)
      expect(freeAt.some((it) => it >= from && it < to)).toBe(true);
    // It costs the process no more than that.
    expect(freeAt.filter((it) => it < 7000).length).toBeLessThanOrEqual(9);
  });

  it('keeps reusing a slot that no other process wants', async () => {
    const time = sleepers();
    const { limiter, others, calls } = scripted(time);
    others.add(1).add(2);
    const begin = time.ms();
    const tookAt: number[] = [];
    const worker = async (): Promise<void> => {
      while (time.ms() - begin < 7000) {
        const slot = await limiter.acquire(forever);
        tookAt.push(time.ms() - begin);
        await time.sleep(2500);
        slot.release();
      }
    };
    let isOver = false;
    void Promise.all([worker(), worker()]).then(() => (isOver = true));
    await time.run(() => time.ms() - begin >= 7000);
    expect(tookAt).toEqual([0, 2500, 5000]);
    expect(calls().filter((it) => it.startsWith('free'))).toEqual([]);
    await time.run(() => isOver);
  });

  it('that is closed gives back what is held, and beats no more', async () => {
    const time = sleepers();
    const { limiter, calls, mine } = scripted(time);
    const slot = await limiter.acquire(forever);
    slot.release();
    await limiter.close();
    expect(mine.size).toBe(0);
    calls();
    await time.run();
    expect(calls()).toEqual([]);
  });
});

it('no slot is in use twice, or by other processes before the result of its last call is recorded, whatever the times', async () => {
  const call = fc.record({
    run: fc.nat(1),
    startsMs: fc.nat(3000),
    givesUpMs: fc.option(fc.nat(2000)),
    tookMs: fc.nat(900),
    recordMs: fc.option(fc.nat(300)),
  });
  const delays = fc.array(fc.nat(250), { minLength: 1, maxLength: 20 });
  let passedOn = 0;
  let mostWithoutOutcome = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 2, maxLength: 14 }),
      delays,
      fc.nat(200),
      async (calls, slow, intervalMs) => {
        const time = sleepers();
        const mine = new Set<number>();
        let count = 0;
        const late = (): Promise<void> => time.sleep(slow[(count += 1) % slow.length] ?? 0);
        let unrecorded = 0;
        const source: SlotSource = {
          take: async (most, except) => {
            await late();
            const numbers = [1, 2, 3].filter((it) => !except.includes(it)).slice(0, most);
            for (const number of numbers) mine.add(number);
            await late();
            return { numbers, firstMs: 0, isWanted: count % 3 === 0, closedMs: 0 };
          },
          sharing: {
            renew: async (numbers) => numbers,
            release: async (numbers) => {
              for (const number of numbers) mine.delete(number);
              // Other processes have no slot that is in use or whose result is not recorded yet.
              expect(mine.size).toBeGreaterThanOrEqual(Math.max(inUse, Math.min(unrecorded, 1)));
              await late();
            },
            takeStarts: async () => {
              passedOn += 1;
              await late();
              return { firstMs: 0, isWanted: count % 5 === 0 };
            },
          },
        };
        const effects = { now: time.now, sleep: time.sleep, random: () => 0.5 };
        const limiter = new LimiterQueue(source, { inFlight: IN_FLIGHT, intervalMs }, effects);
        let inUse = 0;
        // Two runs of this process, each of which commits in the order of asking.
        const runs = [0, 1].map(() => ({ committed: Promise.resolve() }));
        let withoutOutcome = 0;
        const one = async ({ run, startsMs, givesUpMs, tookMs, recordMs }: (typeof calls)[number]): Promise<void> => {
          await time.sleep(startsMs);
          const stop = new AbortController();
          if (givesUpMs !== null) void time.sleep(givesUpMs).then(() => stop.abort(new Error('gone')));
          const slot = await limiter.acquire(stop.signal).catch(() => undefined);
          if (!slot) return;
          inUse += 1;
          expect(inUse).toBeLessThanOrEqual(IN_FLIGHT);
          const committer = runs[run];
          if (!committer) throw new Error('no such run');
          await slot.pendingCommit(committer);
          await committer.committed;
          withoutOutcome += 1;
          mostWithoutOutcome = Math.max(mostWithoutOutcome, withoutOutcome);
          await slot.begin(stop.signal);
          await time.sleep(tookMs);
          inUse -= 1;
          if (recordMs === null) {
            withoutOutcome -= 1;
            return slot.release();
          }
          unrecorded += 1;
          const recorded = committer.committed.then(async () => {
            await time.sleep(recordMs);
            unrecorded -= 1;
            withoutOutcome -= 1;
          });
          committer.committed = recorded;
          slot.release({ recorded, committer });
        };
        let isOver = false;
        const all = Promise.all(calls.map(one)).finally(() => (isOver = true));
        await time.run(() => isOver);
        await all;
        let isClosed = false;
        const closed = limiter.close().finally(() => (isClosed = true));
        await time.run(() => isClosed);
        await closed;
        expect(mine.size).toBe(0);
      },
    ),
    { numRuns: countOf(150, 2000), seed: 11 },
  );
  expect(mostWithoutOutcome).toBe(IN_FLIGHT);
  // Or the property would say nothing.
  expect(passedOn).toBeGreaterThan(100);
});
