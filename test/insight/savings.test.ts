/** What a max_age would have saved, on drawn answers, against the rule applied answer by answer. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { select } from '../flow/rows.ts';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { BEGAN, fill } from './cost-history.ts';

const HOUR_MS = 3_600_000;
const AGES = [1, 7, 30];

/** An answer to one of a few questions; several may come at the same moment, and one may overtake another. */
interface Answer {
  readonly sync: string;
  readonly question: string;
  readonly receivedAt: number;
  readonly tookMs: number;
  readonly points: number;
  readonly loaded: number;
  readonly unreadable: boolean;
}

/** Half of them are whole days apart, so that ages end exactly when a request is sent. */
const answers = fc.array(
  fc.record({
    sync: fc.constantFrom('groups', 'groups', 'people'),
    question: fc.constantFrom('a', 'a', 'b', 'c'),
    receivedAt: fc.oneof(
      fc.integer({ min: 0, max: 80 }).map((day) => BEGAN + day * 24 * HOUR_MS),
      fc.integer({ min: 0, max: 80 * 24 }).map((hour) => BEGAN + hour * HOUR_MS),
    ),
    tookMs: fc.constantFrom(0, 0, 1, HOUR_MS, 30 * HOUR_MS, 200 * HOUR_MS),
    points: fc.constantFrom(0, 0.5, 1, 7),
    loaded: fc.constantFrom(0, 1),
    unreadable: fc.constantFrom(false, false, true),
  }),
  { maxLength: 60, size: 'max' },
);

/** The answers of one question that an age saves: each request uses the last bought readable answer until its age has passed. */
function savedOf(all: readonly Answer[], days: number): readonly Answer[] {
  const saved: Answer[] = [];
  let until = -Infinity;
  for (const at of [...new Set(all.map(({ receivedAt }) => receivedAt))].toSorted((a, b) => a - b)) {
    const together = all.filter(({ receivedAt }) => receivedAt === at);
    const sent = Math.max(...together.map(({ tookMs }) => at - tookMs));
    if (sent > until) until = together.every(({ unreadable }) => unreadable) ? -Infinity : at + days * 24 * HOUR_MS;
    else saved.push(...together);
  }
  return saved;
}

const pointsOf = (all: readonly Answer[]): number => all.reduce((sum, { points }) => sum + points, 0);

/** The rows that the view must have. */
function savingsOf(all: readonly Answer[]): readonly unknown[] {
  return [...Map.groupBy(all, ({ sync }) => sync)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([sync, own]) =>
      AGES.map((days) => {
        const saved = [...Map.groupBy(own, ({ question }) => question).values()].flatMap((it) => savedOf(it, days));
        return {
          sync,
          days,
          answers: own.length,
          points: pointsOf(own),
          saved_answers: saved.length,
          saved_points: pointsOf(saved),
          late_answers: saved.filter(({ loaded }) => loaded > 0).length,
        };
      }),
    );
}

anyWarehouse('savings of a max_age', (open) => {
  it('are what each request would have found, whenever it was sent and answered', async () => {
    const warehouse = await open();
    await sql`insert into sluice_ops.runs (id, sync, endpoint, definition_hash, state, today, started_at)
      overriding system value values (1, 'groups', 'pronet.group', '', 'complete', '2026-01-01', '2026-01-01')`.execute(
      warehouse.db,
    );
    await fc.assert(
      fc.asyncProperty(answers, async (all) => {
        await sql`truncate sluice_ops.requests, sluice_ops.answers cascade`.execute(warehouse.db);
        const about = all.map((it, place) => ({
          id: place + 1,
          run_id: 1,
          sync: it.sync,
          endpoint: 'pronet.group',
        }));
        await fill(
          warehouse,
          'sluice_ops.requests',
          all.map(({ points }, place) => ({
            ...about[place],
            request_key: `k${place}`,
            body: {},
            input: {},
            state: 'loaded',
            points,
            planned_at: new Date(BEGAN).toISOString(),
          })),
        );
        await fill(
          warehouse,
          'sluice_ops.answers',
          all.map(({ question, receivedAt, tookMs, loaded, unreadable }, place) => ({
            ...about[place],
            request_key: question,
            request_id: place + 1,
            received_at: new Date(receivedAt).toISOString(),
            took_ms: tookMs,
            status: 200,
            headers: {},
            encoding: 'identity',
            sha256: '',
            bytes: 0,
            received: 1,
            loaded,
            unchanged: 1 - loaded,
            loaded_at: new Date(receivedAt).toISOString(),
            unreadable,
          })),
        );
        const found = await select(
          warehouse,
          `select sync, max_age_days as days, answers::int as answers, points::float8 as points, saved_answers::int as saved_answers,
             saved_points::float8 as saved_points, late_answers::int as late_answers
           from sluice.sync_max_age_savings order by sync, max_age_days`,
        );
        expect(found).toEqual(savingsOf(all));
      }),
      { numRuns: countOf(15, 30) },
    );
  });
});
