/** The database is away at any statement of a run that continues the work of a dead process. */
import { expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { Died, dyingAt, expireLeases, STEP } from './crash.ts';
import { PATIENT, sweep } from './any-statement.ts';
import { service } from './scene.ts';

const open = postgresWarehouses();

it(
  'a run that continues the work of a dead process ends as if nothing was, wherever the database is away',
  PATIENT,
  async () => {
    const config = `${service()}\nsyncs: { groups: { endpoint: pronet.group, request: { group: "1001" } } }\n`;
    const { statements, unborne } = await sweep(await open(), async (scene, disturbed) => {
      const { warehouse } = dyingAt(scene.warehouse, { when: 'after', statement: STEP.send, nth: 1 });
      await expect(scene.sync(config, { warehouse })).rejects.toThrow(Died);
      await expireLeases(scene.warehouse);
      return scene.sync(config, { warehouse: disturbed });
    });
    expect(unborne).toEqual([]);
    expect(statements).toBeGreaterThan(50);
  },
);
