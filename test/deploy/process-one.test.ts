/** As process 1, which no signal ends unless it is waited for: a container needs no init in front of the program. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { temporaryFolder } from '../cli/program-run.ts';
import { freshDatabase } from '../support/database.ts';

const rights = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
const NAMESPACE = [...rights, '--pid', '--fork', '--mount-proc', '--kill-child'];
const canUnshare = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;

describe.runIf(canUnshare)('a sync that is process 1', () => {
  it('drains at SIGTERM: stores answers in flight, sends nothing more, and ends with 143', async () => {
    const [folder, database] = [await temporaryFolder(), await freshDatabase()];
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
    const sandbox = await serveSandbox({
      token: 'sandbox-token',
      respond: () => {
        arrived.resolve();
        return released.promise;
      },
    });
    try {
      const config = [
        `service: { url: "${sandbox.url}", token: sandbox-token, in_flight: 1, requests_per_second: 1000 }`,
        `warehouse: { url: "${database.url}" }`,
        'syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } } }',
      ];
      await writeFile(join(folder.path, 'sluice.yaml'), config.join('\n'));
      const child = spawn('unshare', [...NAMESPACE, process.execPath, resolve('src/main.js'), 'sync', '--json'], {
        cwd: folder.path,
        env: { PATH: process.env['PATH'] ?? '' },
      });
      const [out, closed] = [text(child.stdout), once(child, 'close') as Promise<[number | null]>];
      const tooSoon = closed.then(() => Promise.reject(new Error('it ended before it was asked to')));
      const draining = new Promise<void>((tell) => {
        child.stderr.on('data', (chunk: Buffer) => chunk.includes('ending in order') && tell());
      });
      await Promise.race([arrived.promise, tooSoon]);
      const [first = ''] = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).split(' ');
      // Its numbers from the outermost namespace to its own, where it is 1.
      expect(/^NSpid:.*\s(\d+)$/m.exec(await readFile(`/proc/${first}/status`, 'utf8'))?.[1]).toBe('1');
      process.kill(Number(first), 'SIGTERM');
      await Promise.race([draining, tooSoon]);
      tooSoon.catch(() => undefined);
      released.resolve(undefined);
      const [code] = await closed;
      expect(code).toBe(143);
      expect(JSON.parse(await out)).toMatchObject({ syncs: [{ state: 'interrupted', answers: 1, left: 2 }] });
    } finally {
      released.resolve(undefined);
      await sandbox.close();
      await database.drop();
      await folder.remove();
    }
  });
});
