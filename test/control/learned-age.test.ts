/** A learned max_age: shorter for what changes often, longer for what does not, always within its bounds. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { learnedAgeMs } from '../../src/control/freshness/learned-age.ts';
import { explainPlan } from '../../src/flow/forecast/explain-plan.ts';
import { DAY_MS } from '../flow/clock.ts';
import { select } from '../flow/rows.ts';
import { configOf, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const BOUNDS = { leastMs: DAY_MS, mostMs: 30 * DAY_MS };
const history = (answers: number, changes: number, days: number) => ({
  answers,
  changes,
  firstAt: new Date(0),
  lastAt: new Date(days * DAY_MS),
});

describe('a learned age', () => {
  it('is half the time between changes, and the time without a change', () => {
    expect(learnedAgeMs(history(11, 5, 40), BOUNDS)).toBe(4 * DAY_MS);
    expect(learnedAgeMs(history(3, 0, 6), BOUNDS)).toBe(6 * DAY_MS);
    expect(learnedAgeMs(history(2, 1, 6), BOUNDS)).toBe(3 * DAY_MS);
    expect(learnedAgeMs(undefined, BOUNDS)).toBe(DAY_MS);
  });

  it('is within the bounds, falls with more changes, and rises with more time', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), fc.double({ min: 0, max: 1000, noNaN: true }), (answers, changes, days) => {
        const age = learnedAgeMs(history(answers, changes, days), BOUNDS);
        expect(age).toBeGreaterThanOrEqual(BOUNDS.leastMs);
        expect(age).toBeLessThanOrEqual(BOUNDS.mostMs);
        expect(learnedAgeMs(history(answers, changes + 1, days), BOUNDS)).toBeLessThanOrEqual(age);
        expect(learnedAgeMs(history(answers, changes, days * 2), BOUNDS)).toBeGreaterThanOrEqual(age);
      }),
    );
  });
});

anyWarehouse('a sync with a learned max_age', (open) => {
  it('asks for what changes each day daily, and for what never changes at growing intervals', async () => {
    let version = 0;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, body }) => {
        const { group } = body as { readonly group?: string };
        if (endpoint !== 'pronet.group') return undefined;
        const name = group === 'news' ? `version ${(version += 1)}` : 'a group';
        return { body: [{ urn: { type: 'group', value: group }, name, url: 'u' }] };
      },
    });
    const yaml = `${service()}\nsyncs:\n  groups: { endpoint: pronet.group, for_each: { group: [news, still] }, max_age: { auto: [12h, 8d] } }\n`;
    const days: Record<string, number[]> = { news: [], still: [] };
    for (let day = 0; day < 24; day += 1) {
      await scene.sync(yaml);
      for (const { body } of scene.arrived()) days[(body as { readonly group: string }).group]?.push(day);
      scene.clock.advance(DAY_MS);
    }
    expect(days['news']).toEqual(Array.from({ length: 24 }, (_, day) => day));
    // An unchanged answer doubles the age, up to eight days; a firing at exactly the age is still served.
    expect(days['still']).toEqual([0, 1, 3, 7, 15]);
    const explained = async () => {
      const [definition] = (await configOf(yaml, scene.sandbox.url)).syncs;
      if (!definition) throw new Error('the config has no sync');
      const limits = { now: scene.clock.now(), most: 10 };
      return (await explainPlan(scene.warehouse, definition, { refresh: false }, limits)).requests;
    };
    const news = { input: { group: 'news' }, maxAgeMs: DAY_MS / 2 };
    const still = { input: { group: 'still' }, maxAgeMs: 8 * DAY_MS };
    expect(await explained()).toMatchObject([
      { ...news, decision: 'send', answeredAt: null, learnedFrom: { answers: 24, changes: 23 } },
      { ...still, decision: 'send', answeredAt: null, learnedFrom: { answers: 5, changes: 0 } },
    ]);
    await scene.sync(yaml);
    expect(await explained()).toMatchObject([
      { ...news, decision: 'fresh', learnedFrom: { answers: 25, changes: 24 } },
      { ...still, decision: 'fresh', learnedFrom: { answers: 6, changes: 0 } },
    ]);
  });

  it('counts an answer without, with fewer or with other known rows as a change', async () => {
    const person = (value: string) => ({ urn: { type: 'fsd_profile', value }, name: value });
    const school = (major: string) => ({ company: { name: major }, major });
    const people = [['a', 'b', 'c', 'd'], ['a', 'b'], ['c', 'd'], ['c', 'd'], [], []].map((them) => them.map(person));
    const schools = [['x', 'y', 'z'], ['x', 'y', 'z'], ['x', 'y'], ['x'], ['x'], []].map((them) => them.map(school));
    let round = 0;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint }) =>
        endpoint === 'pronet.search.users'
          ? { body: people[round] }
          : { status: round === 5 ? 412 : 200, body: schools[round] },
    });
    const yaml = `${service()}\nsyncs:
  known: { endpoint: pronet.search.users, request: { title: all, count: 9 } }
  people: { endpoint: pronet.search.users, request: { title: t, count: 9 }, max_age: { auto: [1h, 30d] } }
  schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:p", count: 9 }, max_age: { auto: [1h, 30d] } }
`;
    await scene.sync(yaml, { names: ['known'] });
    for (round = 1; round < 6; round += 1) {
      await scene.sync(yaml, { names: ['people', 'schools'] });
      scene.clock.advance(31 * DAY_MS);
    }
    const learned = async () => {
      const limits = { now: scene.clock.now(), most: 10 };
      const definitions = (await configOf(yaml, scene.sandbox.url)).syncs.filter(({ autoAge }) => autoAge);
      const plans = definitions.map((it) => explainPlan(scene.warehouse, it, { refresh: false }, limits));
      return (await Promise.all(plans)).map(({ requests }) => requests[0]?.learnedFrom);
    };
    const isNew = async () => {
      const answers = 'select is_nothing_new as it from sluice.answer_costs where sync = $ order by answer_id';
      const of = ["'people'", "'schools'"].map((name) =>
        select<{ it: boolean }>(scene.warehouse, answers.replace('$', name)),
      );
      return (await Promise.all(of)).map((rows) => rows.map(({ it: isNothingNew }) => !isNothingNew));
    };
    const all = [
      // a b, c d, c d, none, none
      [true, true, false, true, false],
      // x y z, x y, x, x, 412
      [true, true, true, false, true],
    ];
    expect(await isNew()).toEqual(all);
    expect(await learned()).toMatchObject([
      { answers: 5, changes: 2 },
      { answers: 5, changes: 3 },
    ]);
    await scene.replay();
    expect(await isNew()).toEqual(all);
    expect(await learned()).toMatchObject([{ changes: 2 }, { changes: 3 }]);
  });

  it('a younger answer than the least age serves, and an input may have an age of its own', async () => {
    const scene = await sceneIn(await open());
    const yaml = `${service()}\nsyncs:
  users: { endpoint: microblog.user, max_age: { auto: [2d, 8d] }, for_each: [{ user: acme_labs }, { user: nobody, max_age: 1h }] }
`;
    await scene.sync(yaml);
    scene.arrived();
    scene.clock.advance(DAY_MS);
    await scene.sync(yaml);
    expect(scene.arrived().map(({ body }) => (body as { readonly user: string }).user)).toEqual(['nobody']);
    const [definition] = (await configOf(yaml, scene.sandbox.url)).syncs;
    expect(definition).toMatchObject({ maxAgeMs: 8 * DAY_MS, autoAge: { leastMs: 2 * DAY_MS, mostMs: 8 * DAY_MS } });
  });

  it('learns nothing from an answer that nobody could read', async () => {
    let isReadable = false;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, body }) => {
        if (endpoint !== 'pronet.group') return undefined;
        const { group } = body as { readonly group: string };
        return isReadable
          ? { body: [{ urn: { type: 'group', value: group }, name: 'a group', url: 'u' }] }
          : { body: '<html>', headers: { 'content-type': 'text/html' } };
      },
    });
    const yaml = `${service()}\nsyncs:\n  groups: { endpoint: pronet.group, for_each: { group: [a] }, max_age: { auto: [1d, 30d] } }\n`;
    await scene.sync(yaml);
    scene.clock.advance(20 * DAY_MS);
    isReadable = true;
    await scene.sync(yaml);
    scene.arrived();
    scene.clock.advance(2 * DAY_MS);
    await scene.sync(yaml);
    expect(scene.arrived()).toHaveLength(1);
  });
});
