/** Retention and the logs of lists and removed rows: pruned answers leave their history, and it continues. */
import { expect, it } from 'vitest';
import { forget } from '../../src/flow/erasure/forget.ts';
import { prune } from '../../src/flow/retention/prune.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { DAY_MS } from './clock.ts';
import { rowsOf, select } from './rows.ts';
import { configOf, countingIds, type Scene, sceneIn, service } from './scene.ts';

const CONFIG = `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["g"] } }
  schools: { endpoint: pronet.user.education, for_each: { urn: ["fsd_profile:ann"] }, request: { count: 9 } }
`;

const group = (industries: readonly string[], ...members: readonly (readonly [string, string])[]) => ({
  urn: { type: 'group', value: 'g' },
  name: 'G',
  industries: industries.map((value) => ({ type: 'industry', value })),
  members: members.map(([value, role]) => ({ user: { urn: { type: 'fsd_profile', value }, name: value }, role })),
});

/** Elements leave, return and change before the pruned answers end, and after it. */
const ROUNDS = [
  { groups: group(['1', '2'], ['ann', 'owner'], ['bob', 'member']), schools: ['Law', 'Art'] },
  { groups: group(['2'], ['bob', 'owner']), schools: ['Art'] },
  { groups: group(['1'], ['ann', 'member'], ['bob', 'owner']), schools: [] },
  { groups: group([], ['ann', 'owner']), schools: ['Law'] },
] as const;

const HISTORIES = ['pronet_group_members', 'pronet_group_industries', 'pronet_user_educations', 'pronet_groups'];

const historiesOf = async ({ warehouse }: Scene) =>
  Promise.all(HISTORIES.map((table) => select(warehouse, `select x::text from sluice.${table}_history x order by 1`)));

const effectsOf = ({ clock }: Scene) => ({
  now: clock.now,
  sleep: clock.sleep,
  random: () => 0.5,
  onProgress: () => undefined,
});

anyWarehouse('logs of lists', (open) => {
  it('stay when their answers are pruned, continue, outlive replays, and are erased', async () => {
    let round = 0;
    const respond = ({ endpoint }: { readonly endpoint: string }) => {
      const { groups, schools } = ROUNDS[round] ?? ROUNDS[0];
      const items = schools.map((major) => ({ company: { name: 'S' }, major }));
      return { body: endpoint === 'pronet.group' ? [groups] : items };
    };
    const [pruned, kept] = [await sceneIn(await open(), { respond }), await sceneIn(await open(), { respond })];
    const both = [pruned, kept];
    for (const [index, pauseMs] of [DAY_MS, 31 * DAY_MS, DAY_MS, DAY_MS].entries()) {
      round = index;
      for (const scene of both) {
        expect((await scene.sync(CONFIG)).exitCode).toBe(0);
        scene.clock.advance(pauseMs);
      }
      if (index !== 1) continue;
      const before = await historiesOf(pruned);
      const { syncs } = await configOf(CONFIG, pruned.sandbox.url);
      const options = { olderThanMs: 30 * DAY_MS, quarantined: false, dryRun: false };
      const signal = new AbortController().signal;
      expect(await prune(pruned.warehouse, syncs, options, effectsOf(pruned), signal)).toMatchObject({ answers: 4 });
      expect(await historiesOf(pruned)).toEqual(before);
    }
    const all = { machinery: true, volatile: true };
    const histories = await historiesOf(kept);
    // Ann left the group and returned, and then had another role.
    const lives = `select valid_to is null as now from sluice.pronet_group_members_history where user_urn_value = 'ann' order by valid_from`;
    expect(await select(pruned.warehouse, lives)).toEqual([{ now: false }, { now: false }, { now: true }]);
    expect(await historiesOf(pruned)).toEqual(histories);
    expect(await rowsOf(pruned.warehouse, all)).toEqual(await rowsOf(kept.warehouse, all));

    expect(await pruned.replay()).toMatchObject({ answers: 4, gone: { answers: 4 }, loaded: 0 });
    expect(await historiesOf(pruned)).toEqual(histories);
    expect(await rowsOf(pruned.warehouse, all)).toEqual(await rowsOf(kept.warehouse, all));

    const { warehouse } = pruned;
    const options = { table: 'pronet_users', key: ['fsd_profile', 'bob'], mayReturn: false, dryRun: false };
    await forget(warehouse, options, { ...effectsOf(pruned), newId: countingIds(9) }, new AbortController().signal);
    expect(JSON.stringify(await rowsOf(warehouse, all))).not.toContain('bob');
    expect((await select(warehouse, lives)).length).toBe(3);
  });
});
