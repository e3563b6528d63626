/** Answers that come from the spool after an answer that was received later to the same question. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listQuarantine } from '../../src/ledger/quarantine.ts';
import { openSpool } from '../../src/recovery/spool/files.ts';
import { select } from '../flow/rows.ts';
import { type Scene, sceneIn, service } from '../flow/scene.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const CONFIG = `${service()}
syncs:
  people: { endpoint: pronet.search.users, request: { title: x, count: 30 }, max_age: 1d, accept: { rejects: 100% } }
  groups: { endpoint: pronet.group, request: { group: "1001" } }
`;
const BROKEN = '<html>gateway</html>';
const person = (value: string) => ({ urn: { type: 'fsd_profile', value }, name: value });

/** Answers the search with this body. */
const answering = (body: unknown) => ({
  respond: ({ endpoint }: { readonly endpoint: string }) => (endpoint === 'pronet.search.users' ? { body } : undefined),
});

/** Loads this body from the spool as an answer that the last request of `people` got a minute before its own. */
async function loadEarlierAnswer(scene: Scene, body: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const spool = openSpool({ folder: join(folder, 'spool') });
  const [own] = await select<{ id: string; run_id: string; x_request_id: string; received_at: Date }>(
    scene.warehouse,
    'select r.id, r.run_id, r.x_request_id, a.received_at from sluice_ops.requests r join sluice_ops.answers a on a.request_id = r.id',
  );
  if (!own) throw new Error('no answer is stored');
  await spool.keep({
    requestId: own.id,
    runId: own.run_id,
    sync: 'people',
    xRequestId: own.x_request_id,
    status: 200,
    headers: {},
    body: Buffer.from(body),
    receivedAt: new Date(own.received_at.getTime() - 60_000),
    tookMs: 5,
  });
  scene.clock.advance(1000);
  await scene.sync(CONFIG, { names: ['groups'], effects: { spool } });
}

anyWarehouse('an answer from the spool that was received before the answer of its request', (open) => {
  it('is loaded if that answer is unreadable', async () => {
    const scene = await sceneIn(await open(), answering(BROKEN));
    await scene.sync(CONFIG, { names: ['people'] });
    await loadEarlierAnswer(scene, JSON.stringify([person('PAID')]));
    const stored = "select _answer_id from sluice.pronet_users where urn_value = 'PAID'";
    expect(await select(scene.warehouse, stored)).toEqual([{ _answer_id: '2' }]);
    const counts = 'select received::int, loaded::int, superseded::int from sluice_ops.answers where id = 2';
    expect(await select(scene.warehouse, counts)).toEqual([{ received: 1, loaded: 1, superseded: 0 }]);
  });

  it('does not replace rejects of that answer', async () => {
    const scene = await sceneIn(await open(), answering([person('A'), { name: 'no key' }]));
    await scene.sync(CONFIG, { names: ['people'] });
    const rejects = await listQuarantine(scene.warehouse, 10);
    expect(rejects).toHaveLength(1);
    await loadEarlierAnswer(scene, BROKEN);
    await scene.replay();
    expect(await listQuarantine(scene.warehouse, 10)).toEqual(rejects);
  });
});
