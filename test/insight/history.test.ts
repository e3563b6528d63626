/** Numbers by day and the log of changes over a few days of syncs, and what a replay makes of them. */
import { expect, it } from 'vitest';
import { DAY_MS } from '../flow/clock.ts';
import { rowsOf, select, versionsOf } from '../flow/rows.ts';
import { sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const CONFIG = `${service()}
syncs:
  microbloggers: { endpoint: microblog.user, for_each: { user: [north_trail] } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001"] } }
`;

/** The values that the service reports each day: followers, then the name; the address of the portrait differs every time. */
const DAYS = [
  [10, 'North Trail'],
  [10, 'North Trail'],
  [12, 'North Trail Co'],
  [9, 'North Trail'],
] as const;

anyWarehouse('history', (open) => {
  it('has a row for each day seen and a line for each change, the same after a replay and a rebuild', async () => {
    let day = 0;
    const scene = await sceneIn(await open(), {
      respond: ({ endpoint, number }) => {
        const [followers, name] = DAYS[day] ?? [];
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
