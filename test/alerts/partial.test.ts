/** The alert about a partial run, when `sync --failed` completes what the run left. */
import { expect, it } from 'vitest';
import { sendAlerts } from '../../src/alerts/send-alerts.ts';
import { listAlerts } from '../../src/alerts/store.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Responded } from '../../src/sandbox/options.ts';
import { configOf, only, type Scene, sceneIn, service, type SyncMore } from '../flow/scene.ts';
import { select } from '../flow/rows.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const GROUPS = `${service({ retries: 1 })}
syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003", "1004"] } }
`;
const MISSING = { status: 404, body: '{}' };
const CUT = '[{"@type":"@pronet_group","urn":{';

/** Runs the sync, sends its alerts, and returns the kinds of the active ones about the end of a run. */
async function activeAfter(scene: Scene, more: SyncMore = {}): Promise<unknown> {
  scene.clock.advance(1000);
  const summary = await scene.sync(GROUPS, more);
  const config = await configOf(`alerts: { command: ["true"] }\n${GROUPS}`, scene.sandbox.url);
  const { now, sleep } = scene.clock;
  const effects = { now, sleep, env: process.env, redact: (text: string) => text, onNotice: () => undefined };
  await sendAlerts(config, scene.warehouse, summary, effects);
  const active = await listAlerts(operationsOf(scene.warehouse), 'active');
  const kinds = active.map(({ kind }) => kind).filter((kind) => ['failed', 'partial'].includes(kind));
  return { exitCode: only(summary).exitCode, kinds };
}

anyWarehouse('the alert about a partial run', (open) => {
  it('is over when runs of the failed requests completed what was missing, and not before', async () => {
    const failures = new Map<string, Responded>([
      ['1002', MISSING],
      ['1003', MISSING],
      ['1004', { body: CUT }],
    ]);
    const respond = ({ body }: { readonly body: unknown }): Responded | undefined =>
      failures.get(/100\d/.exec(JSON.stringify(body))?.[0] ?? '');
    const scene = await sceneIn(await open(), { respond });
    expect(await activeAfter(scene)).toEqual({ exitCode: 4, kinds: ['partial'] });
    failures.delete('1002');
    failures.delete('1004');
    expect(await activeAfter(scene, { failed: true })).toEqual({ exitCode: 4, kinds: ['partial'] });
    failures.delete('1003');
    expect(await activeAfter(scene, { failed: true })).toEqual({ exitCode: 0, kinds: [] });
  });

  it('stays for items in quarantine, which no request completes', async () => {
    let isBroken = true;
    const respond = ({ body }: { readonly body: unknown }): Responded | undefined => {
      const group = /100\d/.exec(JSON.stringify(body))?.[0];
      if (group === '1001') return { body: '[{"@type":"@pronet_group","name":"without a key"}]' };
      return group === '1002' && isBroken ? MISSING : undefined;
    };
    const scene = await sceneIn(await open(), { respond });
    expect(await activeAfter(scene)).toEqual({ exitCode: 4, kinds: ['partial'] });
    isBroken = false;
    expect(await activeAfter(scene, { failed: true })).toEqual({ exitCode: 0, kinds: ['partial'] });
    await select(scene.warehouse, 'update sluice_ops.quarantine set resolved_at = now() returning answer_id');
    expect(await activeAfter(scene, { failed: true })).toEqual({ exitCode: 0, kinds: [] });
  });
});
