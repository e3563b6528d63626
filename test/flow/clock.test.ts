/** The clock of the tests: only a heartbeat waits, however long other sleeps are. */
import { expect, it } from 'vitest';
import { HEARTBEAT_MS } from '../../src/ledger/lease.ts';
import { clockFrom } from './clock.ts';

it('the clock wakes a sleeper that waits as long as a heartbeat but is none', async () => {
  const clock = clockFrom();
  const before = clock.now().getTime();
  await clock.sleep(HEARTBEAT_MS, new AbortController().signal);
  expect([clock.now().getTime() - before, clock.slept]).toEqual([HEARTBEAT_MS, [HEARTBEAT_MS]]);
});

it('the clock lets a heartbeat wait until it is stopped', async () => {
  const clock = clockFrom();
  const before = clock.now().getTime();
  const stopped = new AbortController();
  const beat = clock.sleep(HEARTBEAT_MS, stopped.signal, 'heartbeat');
  await clock.sleep(1);
  stopped.abort(new Error('over'));
  await expect(beat).rejects.toThrow('over');
  expect([clock.now().getTime() - before, clock.slept]).toEqual([1, [1]]);
});
