import { describe, expect, it } from 'vitest';
import { clockWarning, openDatabaseClock } from '../../src/warehouse/connect/clock.ts';

const AT = Date.parse('2026-03-06T12:00:00Z');
const DAY_MS = 86_400_000;

/** A process whose clock and a database whose clock can be set, and what elapses for both. */
function world() {
  const it = { elapsed: 5000, processAhead: 0, databaseAhead: 0, answerTakes: 0 };
  return {
    it,
    now: () => new Date(AT + it.elapsed + it.processAhead),
    elapsedMs: () => it.elapsed,
    ask: async () => {
      it.elapsed += it.answerTakes;
      const at = new Date(AT + it.elapsed + it.databaseAhead);
      it.elapsed += it.answerTakes;
      return at;
    },
  };
}

describe('the database’s clock', () => {
  it('is kept however the process’s clock is set, and followed where the database’s is', async () => {
    const { it, ask, ...effects } = world();
    it.processAhead = 400 * DAY_MS;
    const clock = await openDatabaseClock(ask, effects);
    expect([clock.now(), clock.aheadMs()]).toEqual([new Date(AT + 5000), 400 * DAY_MS]);
    it.elapsed += 1000;
    it.processAhead = -400 * DAY_MS;
    expect(clock.now()).toEqual(new Date(AT + 6000));
    await clock.check();
    expect([clock.now(), clock.aheadMs()]).toEqual([new Date(AT + 6000), -400 * DAY_MS]);
    it.databaseAhead = -3_600_000;
    await clock.check();
    expect(clock.now()).toEqual(new Date(AT + 6000 - 3_600_000));
  });

  it('is never ahead of the database, and a slow answer does not move it', async () => {
    const { it, ask, ...effects } = world();
    it.answerTakes = 300;
    const clock = await openDatabaseClock(ask, effects);
    const behind = AT + it.elapsed - clock.now().getTime();
    expect(behind).toBe(300);
    it.answerTakes = 20_000;
    await clock.check();
    expect(AT + it.elapsed - clock.now().getTime()).toBe(300);
    it.answerTakes = 1;
    await clock.check();
    expect(AT + it.elapsed - clock.now().getTime()).toBe(1);
  });

  it('is warned of when the process’s differs by more than a minute', () => {
    const warning = (ahead: number): string | undefined => clockWarning({ aheadMs: () => ahead });
    expect([60_000, -60_000, 0].map(warning)).toEqual([undefined, undefined, undefined]);
    expect(warning(61_000)).toContain('61 s ahead of the database');
    expect(warning(-3_600_000)).toContain('3600 s behind the database');
  });
});
