/** The explanation of a plan lists what a run sends first: parts instead of a question that is split, and after a full answer. */
import { expect, it } from 'vitest';
import { explainPlan } from '../../../src/flow/forecast/explain-plan.ts';
import type { PlanOptions } from '../../../src/flow/prepare/plan-hash.ts';
import { BUSY } from '../filings.ts';
import { configOf, type Scene, SMALL, sceneIn, service } from '../scene.ts';
import { postgresWarehouses } from '../../support/warehouse.ts';

const open = postgresWarehouses();

async function explained(scene: Scene, yaml: string, options: Partial<PlanOptions> = {}, most = 100) {
  const [definition] = (await configOf(yaml, scene.sandbox.url)).syncs;
  if (!definition) throw new Error('the config has no sync');
  return explainPlan(scene.warehouse, definition, { refresh: false, ...options }, { now: scene.clock.now(), most });
}

it('lists the larger counts that follow full answers that are fresh', async () => {
  const scene = await sceneIn(await open(), {
    respond: ({ body }) => {
      const { count, user } = body as { count: number; user: string };
      const has = user === 'few' ? 5 : 1000;
      const posts = Array.from({ length: Math.min(count, has) }, (_, at) => ({
        id: `${user}${at}`,
        code: 'c',
        url: 'u',
      }));
      return { body: posts };
    },
  });
  const posts = (more: string): string =>
    `${service()}\nsyncs:\n  posts: { endpoint: photoshare.user.posts, for_each: { user: [few, many] }, request: { count: 12 }, max_age: 7d${more} }\n`;
  await scene.sync(posts(''));
  const { requests } = await explained(scene, posts(', raise_count_to: 48'));
  expect(requests.map(({ request, decision, answeredAt }) => [request, decision, answeredAt !== null])).toEqual([
    [{ user: 'few', count: 12 }, 'fresh', true],
    [{ user: 'many', count: 12 }, 'fresh', true],
    [{ user: 'many', count: 48 }, 'send', false],
  ]);
});

it('lists the parts of a window that is not requested whole, at most as many as a sample sends', async () => {
  const scene = await sceneIn(await open(), { size: { ...SMALL, ...BUSY } });
  const filings = `${service()}\nsyncs:\n  filings: { endpoint: sec.search.companies, request: { count: 20 }, window: { from: 2026-01-05, to: 2026-02-15 } }\n`;
  await scene.sync(filings, { limit: 5 });
  scene.arrived();
  const { requests } = await explained(scene, filings);
  const days = requests.map(({ request }) => String(request['date_from'])).toSorted();
  expect(days.length).toBeGreaterThan(2);
  expect(days[0]).toBe('2026-01-05');
  expect(new Set(requests.map(({ decision }) => decision))).toEqual(new Set(['send']));
  expect(await explained(scene, filings, {}, 2)).toMatchObject({ requests: [{}, {}], more: days.length - 2 });
  expect((await explained(scene, filings, { limit: 2 })).requests).toHaveLength(2);
  await scene.sync(filings);
  const sent = scene.arrived().map(({ body }) => body as { date_from: string; date_to: string });
  expect(sent.filter((it) => it.date_from === '2026-01-05' && it.date_to === '2026-02-15')).toEqual([]);
  expect(sent.map((it) => it.date_from)).toContain(days[0]);
});

it('lists an input of a window whose days are all served as fresh', async () => {
  const scene = await sceneIn(await open());
  const filings = `${service()}\nsyncs:\n  filings: { endpoint: sec.search.companies, request: { count: 100 }, for_each: { entity_name: [AAPL, MSFT] }, window: { from: 2026-01-05, to: 2026-01-06 }, max_age: 7d }\n`;
  await scene.sync(filings);
  const { requests } = await explained(scene, filings);
  expect(requests.map(({ request, decision, answeredAt }) => [request, decision, answeredAt !== null])).toEqual([
    [{ entity_name: 'AAPL' }, 'fresh', true],
    [{ entity_name: 'MSFT' }, 'fresh', true],
  ]);
});
