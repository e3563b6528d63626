/** Unreadable answers at random: what is bought stays bounded, and a run that says complete has every row. */
import { expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { countOf } from '../support/long.ts';
import { DAY_MS, HOUR_MS } from '../flow/clock.ts';
import { BUSY, inTable, inWorld } from '../flow/filings.ts';
import { only, questionOf, sceneIn, service } from '../flow/scene.ts';

/** A generator of numbers from 0 to 1 that repeats for a seed. */
function chances(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const UNREADABLE = ['[{"@type":', 'null', '<html>', '{"error":"later"}', ''];
const open = postgresWarehouses();

it.each(Array.from({ length: countOf(4, 200) }, (_, at) => at + 1))(
  'a window with unreadable answers is bought once, and complete only with every row (seed %i)',
  async (seed) => {
    const chance = chances(seed);
    let share = 0.4;
    const readable = new Map<string, number>();
    const unreadable = new Map<string, number>();
    const scene = await sceneIn(await open(), {
      size: BUSY,
      respond: ({ endpoint, body }) => {
        const question = questionOf({ endpoint, body });
        const isCut = chance() < share;
        const counts = isCut ? unreadable : readable;
        counts.set(question, (counts.get(question) ?? 0) + 1);
        return isCut ? { body: UNREADABLE[Math.floor(chance() * UNREADABLE.length)] } : undefined;
      },
    });
    const yaml = `${service({ in_flight: 2 })}
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: ${30 + Math.floor(chance() * 70)} }
    window: { from: 2026-02-01, to: today, lookback: 2d }
    max_age: 20d
`;
    let lastExit = 4;
    for (let run = 1; run <= 9 || (lastExit !== 0 && run < 16); run += 1) {
      const cutBefore = [...unreadable.values()].reduce((sum, n) => sum + n, 0);
      // Only --refresh sends a failing request again.
      const summary = only(await scene.sync(yaml, { refresh: run > 9 }));
      const cut = [...unreadable.values()].reduce((sum, n) => sum + n, 0) - cutBefore;
      lastExit = summary.exitCode;
      if (cut > 0) expect(summary).toMatchObject({ exitCode: 4, state: 'partial' });
      if (run <= 9) {
        expect(Math.max(0, ...readable.values()), `run ${run}`).toBeLessThanOrEqual(1);
        expect(Math.max(0, ...unreadable.values()), `run ${run}`).toBeLessThanOrEqual(3);
      }
      if (lastExit === 0) {
        const to = scene.clock.now().toISOString().slice(0, 10);
        expect(await inTable(scene)).toEqual(inWorld(scene, { date_from: '2026-02-01', date_to: to }));
      }
      if (run === 6) share = 0;
      scene.clock.advance(chance() < 0.5 ? HOUR_MS : DAY_MS);
    }
    expect(lastExit).toBe(0);
  },
);
