/** The database is away at any statement of a run in chunks. */
import { expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { groupsConfig, shared } from './chunks.ts';
import { expireSlots } from './crash.ts';
import { PATIENT, sweep } from './any-statement.ts';

const open = postgresWarehouses();

it('a run in chunks ends as if nothing was, wherever the database is away', PATIENT, async () => {
  const { statements, unborne } = await sweep(await open(), async (scene, disturbed) => {
    const { orders, work } = await shared(scene, groupsConfig(2), { chunkSize: 1, warehouse: disturbed });
    await work(orders[0], { warehouse: disturbed });
    // A worker that could not release its slot holds it until it expires.
    await expireSlots(scene.warehouse);
    const end = await work(orders[1], { warehouse: disturbed });
    return { exitCode: end.as === 'concluded' ? end.exitCode : -1 };
  });
  expect(unborne).toEqual([]);
  expect(statements).toBeGreaterThan(50);
});
