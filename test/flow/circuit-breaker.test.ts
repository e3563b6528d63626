/** When an endpoint gets a rest, who makes the trial after it, and when it is given up. */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/extract/outcome.ts';
import { type Breaker, openBreaker, isSuccess } from '../../src/flow/request/circuit-breaker.ts';

const running = new AbortController().signal;

function breaking(): { readonly breaker: Breaker; readonly rests: number[] } {
  const rests: number[] = [];
  return { breaker: openBreaker(async (ms) => void rests.push(ms)), rests };
}

async function fail(breaker: Breaker, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) (await breaker(running))?.report(false);
}

describe('a breaker', () => {
  it('lets calls through that fail now and then', async () => {
    const { breaker, rests } = breaking();
    for (let round = 0; round < 5; round += 1) {
      await fail(breaker, 19);
      (await breaker(running))?.report(true);
    }
    expect(rests).toEqual([]);
  });

  it('pauses 30 s after twenty failures in a row, then lets one call try', async () => {
    const { breaker, rests } = breaking();
    await fail(breaker, 20);
    const trial = await breaker(running);
    expect(rests).toEqual([30_000]);
    let passed = 0;
    const others = [1, 2, 3].map(() => breaker(running).then(() => (passed += 1)));
    await new Promise(setImmediate);
    expect(passed).toBe(0);
    trial?.report(true);
    await Promise.all(others);
    expect(rests).toEqual([30_000]);
  });

  it('makes another try when a trial was not made after all', async () => {
    const { breaker, rests } = breaking();
    await fail(breaker, 20);
    (await breaker(running))?.release();
    expect(await breaker(running)).toBeDefined();
    expect(rests).toEqual([30_000, 30_000]);
  });

  it('gives up after four failed trials, for those who wait too', async () => {
    const { breaker, rests } = breaking();
    await fail(breaker, 23);
    const last = await breaker(running);
    const waiting = breaker(running);
    last?.report(false);
    expect(await waiting).toBeUndefined();
    expect(await breaker(running)).toBeUndefined();
    expect(rests).toHaveLength(4);
  });

  it('counts a call that comes back late once, and not as a trial', async () => {
    const { breaker } = breaking();
    const late = await breaker(running);
    await fail(breaker, 20);
    const trial = await breaker(running);
    late?.report(false);
    late?.report(false);
    trial?.report(true);
    expect(await breaker(running)).toBeDefined();
  });

  it('ends immediately when the signal fires, and the next caller waits instead', async () => {
    const stop = new AbortController();
    const breaker = openBreaker(async (_, signal) => {
      if (signal === stop.signal) {
        stop.abort(new Error('SIGTERM'));
        signal.throwIfAborted();
      }
    });
    await fail(breaker, 20);
    const [first, second] = await Promise.allSettled([breaker(stop.signal), breaker(running)]);
    expect(first.status).toBe('rejected');
    expect(second).toMatchObject({ status: 'fulfilled' });
  });
});

describe('a call', () => {
  const answered = (status: number, body: string): Outcome => ({
    kind: 'answered',
    status,
    headers: {},
    receivedAt: new Date(0),
    tookMs: 1,
    body: Buffer.from(body),
  });

  it.each<[string, Outcome, boolean]>([
    ['an empty list', answered(200, '[]'), true],
    ['a lone object', answered(200, ' {"a":1}\n'), true],
    ['null', answered(200, 'null'), true],
    ['a page', answered(200, '<!DOCTYPE html>'), false],
    ['a list that is cut', answered(200, '[{"a":1}'), false],
    ['nothing', answered(200, ''), false],
    ['404', answered(404, '<html>'), true],
    ['412', answered(412, ''), true],
    ['429', answered(429, ''), true],
    ['500', answered(500, '[]'), false],
    ['503', answered(503, ''), false],
    ['no connection', { kind: 'not_sent', reason: 'connection refused' }, false],
    ['a lost answer', { kind: 'unknown', reason: 'cut' }, false],
    ['an answer too large to take', { kind: 'unknown', reason: 'large', tooLarge: true }, true],
  ])('that brought %s', (_, outcome, well) => {
    expect(isSuccess(outcome)).toBe(well);
  });
});
