/** `in_flight` of a sync: its requests stay below that number, and no other worker takes part in its run. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { groupsConfig, oneGroup, shared } from './chunks.ts';
import { only, sceneIn, service } from './scene.ts';

const REQUESTS = 8;

/** A service that answers only once this many requests wait, and keeps the greatest number of them. */
function counting(atOnce: number) {
  const state = { waiting: 0, most: 0 };
  return {
    state,
    respond: async (request: Parameters<typeof oneGroup>[0]) => {
      state.waiting += 1;
      for (let turns = 0; state.most < atOnce && turns < 10_000; turns += 1) {
        state.most = Math.max(state.most, state.waiting);
        await turn();
      }
      // More requests would arrive now if nothing bounded them.
      for (let turns = 0; turns < 50; turns += 1) {
        state.most = Math.max(state.most, state.waiting);
        await turn();
      }
      state.waiting -= 1;
      return oneGroup(request);
    },
  };
}

describe('in_flight of a sync', () => {
  const open = postgresWarehouses();
  const yaml = (more: string): string =>
    groupsConfig(REQUESTS)
      .replace(service(), service({ in_flight: 4 }))
      .replace('    endpoint', `${more}    endpoint`);

  it.each([
    ['two', '    in_flight: 2\n', 2],
    ['that of the service without one', '', 4],
  ])('bounds its concurrent requests to %s', async (_, more, bound) => {
    const { state, respond } = counting(bound);
    const scene = await sceneIn(await open(), { respond });
    expect(only(await scene.sync(yaml(more)))).toMatchObject({ exitCode: 0, sent: REQUESTS });
    expect(state.most).toBe(bound);
  });

  it('keeps the run in one process, because each worker would have the bound for itself', async () => {
    const scene = await sceneIn(await open(), { respond: oneGroup });
    await expect(shared(scene, yaml('    in_flight: 2\n'), { chunkSize: 2 })).rejects.toThrow(/'shared'/);
    expect(scene.arrived()).toHaveLength(REQUESTS);
  });
});
