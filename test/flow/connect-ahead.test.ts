/** Connections that a run opens before it needs them. */
import { describe, expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { sceneIn, service } from './scene.ts';
import { withStatementSpy } from './statement-spy.ts';

const open = postgresWarehouses();

describe('connections ahead', () => {
  it.each([
    [1, 0],
    [3, 2],
    [8, 4],
  ])('for %i open requests are %i', async (requests, expected) => {
    const scene = await sceneIn(await open());
    const groups = Array.from({ length: requests }, (_, index) => `"${1001 + index}"`).join(', ');
    let opened = 0;
    const warehouse = withStatementSpy(scene.warehouse, {
      statement: (text, run) => {
        if (text === 'select 1') opened += 1;
        return run();
      },
    });

    const summary = await scene.sync(
      `${service()}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: [${groups}] } }
`,
      { warehouse },
    );

    expect(summary).toMatchObject({ exitCode: 0, syncs: [{ asked: requests }] });
    expect(opened).toBe(expected);
  });
});
