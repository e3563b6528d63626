/** Inputs whose stored answer says that the service does not know them. */
import { expect, it } from 'vitest';
import { readStatus } from '../../src/insight/status.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { select } from './rows.ts';
import { sceneIn, service } from './scene.ts';

anyWarehouse('an unknown input', (open) => {
  it('counts as missing in each run, also if a stored answer serves it', async () => {
    const config = `${service()}
syncs:
  profiles: { endpoint: microblog.user, for_each: { user: [gone] }, max_age: 7d }
`;
    const scene = await sceneIn(await open(), { respond: () => ({ status: 412, body: 'null' }) });
    expect((await scene.sync(config)).syncs).toMatchObject([{ asked: 1, fresh: 0, missing: 1 }]);

    expect((await scene.sync(config)).syncs).toMatchObject([{ asked: 0, fresh: 1, missing: 1 }]);

    expect((await readStatus(scene.warehouse)).syncs).toMatchObject([{ sync: 'profiles', missing: 1 }]);
    expect(await select(scene.warehouse, 'select last_run_missing::int as n from sluice.sync_quality')).toEqual([
      { n: 1 },
    ]);
    expect(await select(scene.warehouse, 'select outcome from sluice.sync_inputs')).toEqual([{ outcome: 'missing' }]);
  });
});
