/** Commands that read while a sync works on the embedded warehouse, which is in a process of its own. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runInProcess } from './in-process.ts';
import { type Ran, run, start, temporaryFolder } from './program-run.ts';
import { openHooks } from '../alerts/hooks.ts';
import { copyEmbedded } from '../support/templates.ts';

const TOKEN = 'canary-token-77';

it('query, status, costs, report, check and quarantine answer beside a running sync, which then sends its alert', async () => {
  const folder = await temporaryFolder();
  const waiting: ServerResponse[] = [];
  let asked = (): void => undefined;
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const service = createServer((_request, response) => {
    waiting.push(response);
    asked();
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const hooks = await openHooks();
  try {
    const file = join(folder.path, 'sluice.yaml');
    await writeFile(
      file,
      'alerts: { webhook: "${HOOK}" }\nsyncs: { groups: { endpoint: pronet.group, request: { group: "1" } } }\n',
    );
    const { port } = service.address() as AddressInfo;
    const env = {
      SLUICE_SERVICE_URL: `http://127.0.0.1:${port}`,
      SLUICE_SERVICE_TOKEN: TOKEN,
      HOOK: hooks.url,
      HOME: folder.path,
    };
    const options = { cwd: folder.path, env };
    const here = (...words: string[]): Promise<Ran> => runInProcess([...words, '--config', file], { env });
    await copyEmbedded(join(folder.path, '.sluice'));
    const sync = start(['sync', '--verbose'], options);
    await Promise.race([isAsked, sync.ended.then((it) => expect.unreachable(it.err))]);

    const query = await run(
      ['query', '--json', 'select state, pg_backend_pid() > 0 as ok from sluice_ops.requests'],
      options,
    );
    expect(query).toMatchObject({ code: 0, out: expect.any(String) });
    expect(JSON.parse(query.out)).toEqual([{ state: 'sent', ok: true }]);
    const status = await here('status', '--json');
    expect(JSON.parse(status.out)).toMatchObject({ syncs: [{ sync: 'groups', state: 'running', open: 1 }] });
    expect((await here('costs')).code).toBe(0);
    expect((await here('report', '--output', join(folder.path, 'report.html'))).code).toBe(0);
    expect(await readFile(join(folder.path, 'report.html'), 'utf8')).toContain('</html>');
    expect(await here('check')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/current, \d+ migrations/),
    });
    expect((await here('quarantine')).out).toBe('nothing is in quarantine\n');
    const writes = await here('query', 'with x as (delete from sluice_ops.runs returning 1) select * from x');
    expect(writes.code).toBe(2);

    for (const response of waiting)
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"detail":"bad token"}');
    const ended = await sync.ended;
    expect(ended.code).toBe(3);
    expect(hooks.taken.map(({ body }) => body)).toMatchObject([
      { kind: 'failed', state: 'raised', sync: 'groups' },
      { kind: 'access', state: 'raised', sync: 'groups' },
    ]);
    const listed = await here('alerts');
    expect(listed.out).toMatch(/^groups +failed +raised /m);
    const tested = await here('alerts', 'test');
    expect(tested).toMatchObject({ code: 0, out: 'webhook: accepted the test alert\n' });
    hooks.answer = (response) => void response.writeHead(404).end();
    const refused = await here('alerts', 'test', '--json');
    expect(refused.code).toBe(5);
    expect(JSON.parse(refused.out)).toEqual([{ channel: 'webhook', ok: false, because: 'the webhook answered 404' }]);
    const all = [ended, query, status, listed, tested, refused].map(({ out, err }) => out + err).join('\n');
    expect(all).not.toContain('canary');
    expect(JSON.stringify(hooks.taken.map(({ body }) => body))).not.toContain('canary');
  } finally {
    service.closeAllConnections();
    service.close();
    await hooks.close();
    await folder.remove();
  }
});
