/** Numbers by day and the log of changes over a few days of syncs, and what a replay makes of them. */
import { expect, it } from 'vitest';
import { readRowChanges } from '../../src/insight/row-changes.ts';
import { DAY_MS } from '../flow/clock.ts';
import { rowsOf, select, versionsOf } from '../flow/rows.ts';
import { sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const CONFIG = `${service()}
syncs:
  microbloggers: { endpoint: microblog.user, for_each: { user: [north_trail] } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001"] } }
  schools: { endpoint: pronet.user.education, for_each: { urn: [fsd_profile:p] }, request: { count: 9 } }
`;

/**
 * The values that the service reports each day: followers, the name, the members of the group, and the schools; the
 * address of the portrait differs every time.
 */
const DAYS = [
  [10, 'North Trail', { ann: 'owner', bob: 'member' }, ['MIT', 'ETH']],
  [10, 'North Trail', { ann: 'owner', bob: 'owner' }, ['MIT']],
  [12, 'North Trail Co', { ann: 'owner' }, ['MIT', 'KTH']],
  [9, 'North Trail', { ann: 'owner', bob: 'member' }, []],
] as const;

const MEMBERS = `select user_urn_value as who, role as what, valid_from::date::text as from, valid_to::date::text as to
  from sluice.pronet_group_members_history order by 1, 3`;
const SCHOOLS = `select position::int as who, major as what, valid_from::date::text as from, valid_to::date::text as to
  from sluice.pronet_user_educations_history order by 1, 3`;
const NUMBERS = `select name as who, follower_count::int as what, valid_from::date::text as from, valid_to::date::text as to
  from sluice.microblog_users_history order by 3`;

anyWarehouse('history', (open) => {
  it('has a row for each day seen and a line for each change, the same after a replay and a rebuild', async () => {
    let day = 0;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, number }) => {
        const [followers, name, members = {}, schools = []] = DAYS[day] ?? [];
        if (endpoint === 'pronet.group')
          return {
            body: [
              {
                urn: { type: 'group', value: '1001' },
                member_count: day,
                members: Object.entries(members).map(([value, role]) => ({
                  user: { urn: { type: 'fsd_profile', value } },
                  role,
                })),
              },
            ],
          };
        if (endpoint === 'pronet.user.education')
          return { body: schools.map((major) => ({ company: { name: 'School' }, major })) };
        const user = {
          rest_id: '7',
          name,
          alias: 'north_trail',
          image: `https://x/1.jpg?sig=${number}`,
          follower_count: followers,
        };
        return endpoint === 'microblog.user' ? { body: [user] } : undefined;
      },
    });
    for (day = 0; day < DAYS.length; day += 1) {
      expect((await scene.sync(CONFIG)).exitCode).toBe(0);
      // Once more in the same day: the last value counts.
      expect((await scene.sync(CONFIG)).exitCode).toBe(0);
      scene.clock.advance(DAY_MS);
    }
    const days = 'select date::text, follower_count::int from sluice.fact_microblog_user_daily order by 1';
    const changes =
      'select attribute, from_value, to_value, changed_at::date::text as day from sluice.attribute_changes where table_name = $$microblog_users$$ order by changed_at';
    expect(await select(scene.warehouse, days)).toEqual(
      DAYS.map(([follower_count], place) => ({
        date: `2026-03-${String(6 + place).padStart(2, '0')}`,
        follower_count,
      })),
    );
    expect(await select(scene.warehouse, changes)).toEqual([
      { attribute: 'name', from_value: 'North Trail', to_value: 'North Trail Co', day: '2026-03-08' },
      { attribute: 'name', from_value: 'North Trail Co', to_value: 'North Trail', day: '2026-03-09' },
    ]);
    const [first, second, third, fourth] = ['2026-03-06', '2026-03-07', '2026-03-08', '2026-03-09'];
    expect(await select(scene.warehouse, MEMBERS)).toEqual([
      { who: 'ann', what: 'owner', from: first, to: null },
      { who: 'bob', what: 'member', from: first, to: second },
      { who: 'bob', what: 'owner', from: second, to: third },
      { who: 'bob', what: 'member', from: fourth, to: null },
    ]);
    expect(await select(scene.warehouse, SCHOOLS)).toEqual([
      { who: 0, what: 'MIT', from: first, to: fourth },
      { who: 1, what: 'ETH', from: first, to: second },
      { who: 1, what: 'KTH', from: third, to: fourth },
    ]);
    expect(await select(scene.warehouse, NUMBERS)).toEqual([
      { who: 'North Trail', what: 10, from: first, to: third },
      { who: 'North Trail Co', what: 12, from: third, to: fourth },
      { who: 'North Trail', what: 9, from: fourth, to: null },
    ]);
    // Each round of the three syncs has three runs, and each day two rounds.
    const goneSince = async (day: number): Promise<unknown> =>
      readRowChanges(scene.warehouse, { after: String(day * 6), through: null, sync: 'schools' });
    expect(await goneSince(3)).toEqual([{ table: 'pronet_user_educations', new: 0, changed: 0, gone: 2 }]);
    // A school that came on the third day and went on the fourth is none of the second.
    expect(await goneSince(2)).toEqual([{ table: 'pronet_user_educations', new: 0, changed: 0, gone: 1 }]);
    expect(await goneSince(1)).toEqual([{ table: 'pronet_user_educations', new: 0, changed: 0, gone: 2 }]);
    const all = { machinery: true, volatile: true };
    const before = await rowsOf(scene.warehouse, all);
    expect(before['fact_pronet_group_daily']).toHaveLength(DAYS.length);
    const versions = await versionsOf(scene.warehouse);
    await scene.replay();
    expect(await versionsOf(scene.warehouse)).toEqual(versions);
    await scene.replay({ rebuild: true });
    expect(await rowsOf(scene.warehouse, all)).toEqual(before);
  });
});
