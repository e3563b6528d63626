/** Tags: limits in points of the syncs with a tag, of a day and of a month, and costs added up by tag. */
import { expect, it } from 'vitest';
import { readBudgetUse } from '../../src/control/budget/budget-use.ts';
import { readCostsBy } from '../../src/insight/costs.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from '../flow/clock.ts';
import { select } from '../flow/rows.ts';
import { configOf, type Scene, sceneIn, service } from '../flow/scene.ts';

const EIGHT = '["1001", "1002", "1003", "n4", "n5", "n6", "n7", "n8"]';
const sync = (name: string, tags: string, groups = EIGHT): string =>
  `  ${name}: { endpoint: pronet.group, for_each: { group: ${groups} }, tags: ${tags} }\n`;
const config = (budget: string, ...syncs: readonly string[]): string =>
  `${service({ in_flight: 4 })}\nbudget: ${budget}\nsyncs:\n${syncs.join('')}`;

/** One group for every request. */
const respond = ({ endpoint, body }: { readonly endpoint: string; readonly body: unknown }) =>
  endpoint === 'pronet.group'
    ? { body: [{ urn: { type: 'group', value: (body as { group: string }).group }, name: 'a group', url: 'u' }] }
    : undefined;

const paid = (scene: Scene): number => scene.arrived().reduce((sum, { cost }) => sum + cost, 0);
const summaryOf = async (scene: Scene, yaml: string) => {
  const { exitCode, syncs } = await scene.sync(yaml);
  return { exitCode, syncs: Object.fromEntries(syncs.map((it) => [it.sync, [it.exitCode, it.answers]])) };
};

anyWarehouse('tags of syncs', (open) => {
  it('a limit of a tag stops the syncs with the tag, of all invocations together, and no other sync', async () => {
    const scene = await sceneIn(await open(), { respond });
    const yaml = config(
      '{ tags: { team: { growth: { per_month: 11 } } } }',
      sync('one', '{ team: growth }'),
      sync('two', '{ team: growth, purpose: leads }'),
      sync('other', '{ team: sales }', '["s1", "s2", "s3", "s4"]'),
      sync('none', '{}', '["t1", "t2"]'),
    );
    expect(await summaryOf(scene, yaml)).toEqual({
      exitCode: 6,
      syncs: { one: [0, 8], two: [6, 3], other: [0, 4], none: [0, 2] },
    });
    expect(paid(scene)).toBe(17);
    const { budget } = await configOf(yaml, scene.sandbox.url);
    const use = { budget: 'budget.tags.team.growth.per_month', limit: 11 };
    expect(await readBudgetUse(scene.warehouse, budget, scene.clock.now())).toEqual([
      {
        ...use,
        period: '2026-03',
        spent: 11,
        spentPerDay: 11 / 7,
        from: new Date('2026-03-01T00:00:00Z'),
        until: new Date('2026-04-01T00:00:00Z'),
        tag: { name: 'team', value: 'growth' },
      },
    ]);
    // The run of `two` is continued with its 3 answers.
    expect(await summaryOf(scene, yaml)).toMatchObject({ exitCode: 6, syncs: { one: [6, 0], two: [6, 3] } });
    // The next month begins with nothing spent, and continues what was stopped.
    scene.clock.advance(Date.parse('2026-04-01T00:00:00Z') - scene.clock.now().getTime() - 1000);
    expect(await summaryOf(scene, yaml)).toMatchObject({ exitCode: 6, syncs: { one: [6, 0] } });
    paid(scene);
    scene.clock.advance(1000);
    expect(await summaryOf(scene, yaml)).toMatchObject({ exitCode: 6, syncs: { one: [0, 8], two: [6, 3] } });
  });

  it('the strictest limit counts, and a month limits all syncs', async () => {
    const scene = await sceneIn(await open(), { respond });
    const yaml = config(
      '{ per_month: 9, tags: { team: { growth: { per_day: 2, per_month: 5 } } } }',
      sync('one', '{ team: growth }'),
      sync('none', '{}'),
    );
    expect(await summaryOf(scene, yaml)).toMatchObject({ syncs: { one: [6, 2], none: [6, 7] } });
    scene.clock.advance(DAY_MS);
    expect(await summaryOf(scene, yaml)).toMatchObject({ syncs: { one: [6, 0], none: [6, 0] } });
    expect(paid(scene)).toBe(9);
  });

  it('a process that was killed has spent from the limit of its tag what the ledger holds', async () => {
    const scene = await sceneIn(await open(), { respond });
    const yaml = config('{ tags: { team: { growth: { per_day: 5 } } } }', sync('one', '{ team: growth }'));
    expect(await summaryOf(scene, yaml)).toMatchObject({ syncs: { one: [6, 5] } });
    await select(scene.warehouse, 'delete from sluice_ops.spending');
    await scene.sync(yaml);
    expect(paid(scene)).toBe(5);
  });

  it('what a killed process had reserved under the limit of its tag does not count once no run is active', async () => {
    const scene = await sceneIn(await open(), { respond });
    const yaml = config('{ tags: { team: { growth: { per_month: 5 } } } }', sync('one', '{ team: growth }'));
    expect((await scene.sync(yaml, { limit: 2 })).exitCode).toBe(0);
    await select(
      scene.warehouse,
      "update sluice_ops.spending set points = points + 3, updated_at = updated_at - interval '1 minute' returning name",
    );
    expect(await summaryOf(scene, yaml)).toMatchObject({ syncs: { one: [6, 3] } });
    expect(paid(scene)).toBe(5);
  });

  it('costs are added up by the tags that a run had, and a request without the tag is in no group of it', async () => {
    const scene = await sceneIn(await open(), { respond });
    const costs = '  costs: { endpoint: token.requests }\n';
    await scene.sync(
      config('{}', sync('one', '{ team: growth, purpose: leads }', '["1", "2"]'), sync('none', '{}', '["3"]'), costs),
    );
    await scene.sync(config('{}', sync('one', '{ team: sales }', '["1"]'), costs));
    const groups = async (tag: string) =>
      (await readCostsBy(scene.warehouse, { tag }, undefined)).map(({ name, points }) => [name, points]);
    expect(await groups('team')).toEqual([
      ['growth', 2],
      ['(no tag)', 1],
      ['sales', 1],
    ]);
    expect(await groups('purpose')).toEqual([
      ['(no tag)', 2],
      ['leads', 2],
    ]);
    const byDay = await readCostsBy(scene.warehouse, 'day', undefined);
    expect(byDay.map(({ points }) => points)).toEqual([4]);
    expect(
      await select(
        scene.warehouse,
        "select tag, value, points::int as points from sluice.daily_tag_costs where endpoint = 'pronet.group' order by 1, 2",
      ),
    ).toEqual([
      { tag: 'purpose', value: 'leads', points: 2 },
      { tag: 'team', value: 'growth', points: 2 },
      { tag: 'team', value: 'sales', points: 1 },
    ]);
    expect(await select(scene.warehouse, "select tags from sluice.sync_runs where sync = 'one' order by 1")).toEqual([
      { tags: 'purpose=leads, team=growth' },
      { tags: 'team=sales' },
    ]);
  });

  it('rows of the request log have the tags of their run, as far as their match is certain now', async () => {
    const scene = await sceneIn(await open(), { respond });
    const costs = '  costs: { endpoint: token.requests, tags: { team: platform } }\n';
    await scene.sync(
      config('{}', sync('one', '{ team: growth, purpose: leads }', '["1"]'), sync('none', '{}', '["3"]'), costs),
    );
    const rows = async (): Promise<Record<string, unknown>> => {
      const found = await select<{ sync: string; tags: unknown }>(
        scene.warehouse,
        'select sync, tags from sluice.logged_requests order by sync',
      );
      expect(await select(scene.warehouse, 'select count(*)::int as n from sluice.fact_request_costs')).toEqual([
        { n: found.length },
      ]);
      return Object.fromEntries(found.map((it) => [it.sync, it.tags]));
    };
    const tagged = { none: {}, one: { purpose: 'leads', team: 'growth' } };
    expect(await rows()).toMatchObject(tagged);
    await scene.replay();
    expect(await rows()).toMatchObject(tagged);
    await scene.replay({ rebuild: true });
    expect(await rows()).toMatchObject(tagged);
    // The match of a row can change without a change of the row.
    const ofOne = "(select id from sluice_ops.requests where sync = 'one')";
    await select(
      scene.warehouse,
      `with moved as (update sluice_ops.request_cost_matches set match_kind = 'ambiguous' where request_id = ${ofOne} returning log_id)
       insert into sluice_ops.request_cost_matches (request_id, log_id, match_kind, matched_at)
       select (select id from sluice_ops.requests where sync = 'none'), log_id, 'ambiguous', now() from moved`,
    );
    expect(await rows()).toMatchObject({ '(ambiguous)': null, none: {} });
    await select(scene.warehouse, `delete from sluice_ops.request_cost_matches where match_kind = 'ambiguous'`);
    expect(await rows()).toMatchObject({ '(other programs)': null, none: {} });
  });
});
