/** Children of a family in which parents are at different depths: each starts once for a firing, after all its parents. */
import { expect, it } from 'vitest';
import { childrenToStart } from '../../src/engine/child-syncs.ts';
import { syncJob } from '../../src/engine/job.ts';
import { configOf } from '../flow/scene.ts';
import { select } from '../flow/rows.ts';
import { embeddedWarehouses } from '../support/warehouse.ts';
import { jobsIn } from './due.ts';

const SYNC = 'endpoint: pronet.group, for_each: { group: ["1"] }';
const EACH_NIGHT = 'schedule: { cron: "0 3 * * *", timezone: UTC }';
/** Parents after their children: the order of a config says nothing. */
const FAMILY = `syncs:
  last: { ${SYNC}, after: [short, grandchild] }
  joint: { ${SYNC}, after: [first, grandchild] }
  beside_own: { ${SYNC}, after: [first, own] }
  grandchild: { ${SYNC}, after: [child] }
  child: { ${SYNC}, after: [first] }
  short: { ${SYNC}, after: [first] }
  own: { ${SYNC}, after: [first], ${EACH_NIGHT} }
  both: { ${SYNC}, after: [child, second_child] }
  second_child: { ${SYNC}, after: [second] }
  second: { ${SYNC}, ${EACH_NIGHT} }
  first: { ${SYNC}, ${EACH_NIGHT} }
`;

const open = embeddedWarehouses();

/** All syncs of the family ran well. Returns which ones start at the end of one. */
async function familyThatRan() {
  const warehouse = await open();
  const jobs = await jobsIn(warehouse);
  const { syncs } = await configOf(FAMILY, 'http://127.0.0.1:1');
  for (const { name } of syncs)
    await select(
      warehouse,
      `insert into sluice_ops.runs (sync, endpoint, definition_hash, state, exit_code, today, started_at)
       values ('${name}', 'pronet.group', 'h', 'complete', 0, '2026-03-06', now()) returning id`,
    );
  return {
    jobs,
    startedBy: (parent: string, firing?: string) =>
      warehouse.db.transaction().execute((tx) => childrenToStart(tx, warehouse, syncs, syncJob(parent, 0, firing))),
  };
}

it('a child starts at the end of the last of its parents, not also at that of a parent that starts this one', async () => {
  const { startedBy } = await familyThatRan();
  expect(await startedBy('first')).toEqual(['beside_own', 'child', 'short']);
  expect(await startedBy('child')).toEqual(['grandchild', 'both']);
  expect(await startedBy('grandchild')).toEqual(['last', 'joint']);
});

it('a child waits for a parent that a sync at work will start, unless that sync is one of the next firing', async () => {
  const { jobs, startedBy } = await familyThatRan();
  expect(await startedBy('short')).toEqual(['last']);
  await jobs.enqueue([{ queue: 'sync', data: syncJob('first'), afterSeconds: 600 }]);
  expect(await startedBy('short')).toEqual(['last']);
  await jobs.enqueue([{ queue: 'sync', data: syncJob('child'), afterSeconds: 600 }]);
  expect(await startedBy('short')).toEqual([]);
  expect(await startedBy('grandchild')).toEqual(['last']);
});

it('a child waits for a parent that another schedule of the same firing will start, but not for one of another firing', async () => {
  const { jobs, startedBy } = await familyThatRan();
  const [tonight, tomorrow] = ['2026-03-06T03:00:00.000Z', '2026-03-07T03:00:00.000Z'];
  await jobs.enqueue([{ queue: 'sync', data: { ...syncJob('second'), firing: tonight }, afterSeconds: 600 }]);
  expect(await startedBy('child', tonight)).toEqual(['grandchild']);
  expect(await startedBy('child', tomorrow)).toEqual(['grandchild', 'both']);
  expect(await startedBy('second_child', tonight)).toEqual(['both']);
});
