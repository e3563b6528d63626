/** A scheduler whose embedded database ends by itself: it ends too, so that a supervisor starts it again. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { serve } from '../../src/engine/serve.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { configOf } from '../flow/scene.ts';
import { copyEmbedded } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';

const CONFIG = `syncs:
  groups:
    endpoint: pronet.group
    for_each: { group: ["1001"] }
    schedule: { cron: "0 0 1 1 *", timezone: UTC }
`;

it('a scheduler ends with the reason when its embedded database ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-ended-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await copyEmbedded(folder);
  const threads: Worker[] = [];
  const listen = (thread: Worker): void => void threads.push(thread);
  process.on('worker', listen);
  onTestFinished(() => void process.off('worker', listen));
  const warehouse = await openWarehouse({ url: new Secret(`embedded:${folder}`), schema: 'sluice' }, realEffects);
  onTestFinished(() => warehouse.close());
  const effects = {
    ...realEffects,
    random: () => 0,
    newId: randomUUID,
    onProgress: () => undefined,
    onNotice: () => undefined,
    onEvent: () => undefined,
    onError: () => undefined,
    onReady: () => void threads[0]?.terminate(),
  };
  const config = await configOf(CONFIG, 'http://127.0.0.1:1');
  const never = new AbortController().signal;
  await expect(serve(config, warehouse, { role: 'schedule' }, effects, never)).rejects.toMatchObject({
    exitCode: 5,
    message: `The embedded database in ${folder} ended: its thread ended`,
  });
});
