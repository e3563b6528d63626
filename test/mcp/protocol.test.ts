/** Messages that are not valid, of both revisions of the protocol, and the end of the server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { connect, McpClient, serverHere, startServer } from './client.ts';
import { type McpScene, openMcpScene } from './scene.ts';

let database: FreshDatabase;
let scene: McpScene;
beforeAll(async () => {
  database = await freshDatabase(await postgresTemplate());
  scene = await openMcpScene(() => database.url);
});
afterAll(async () => {
  await scene.close();
  await database.drop();
});

describe('a message that is not valid', () => {
  it.each([
    ['a part of an object', '{'],
    ['no JSON', 'garbage \u0000\u001b[31m'],
    ['an empty line', ''],
    ['null', 'null'],
    ['a batch', '[]'],
    ['a number', '42'],
    ['another version', '{"jsonrpc":"1.0","id":9,"method":"ping"}'],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['an answer to nothing', '{"jsonrpc":"2.0","id":77,"result":{}}'],
    ['a cancellation of nothing', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}'],
    ['a cancellation without an id', '{"jsonrpc":"2.0","method":"notifications/cancelled"}'],
    ['deep nesting', `{"jsonrpc":"2.0","id":78,"method":"ping","params":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ])('does not end the server: %s', async (_, line) => {
    const client = await scene.serve();
    client.send(line);
    expect(await client.result('ping')).toEqual({});
    const { code, out, err } = await client.end();
    expect(code).toBe(0);
    for (const it of [...out.trim().split('\n'), ...err.trim().split('\n')])
      expect(JSON.parse(it)).toBeTypeOf('object');
  });

  it('is answered with an error if it is a request', async () => {
    const client = await scene.serve();
    const errors = await Promise.all(
      [
        client.request('no/such'),
        client.request('tools/call', { name: 'no_such' }),
        client.request('tools/call', { arguments: {} }),
      ].map(({ answer }) => answer),
    );
    expect(errors.map(({ error }) => error?.code)).toEqual([-32_601, -32_602, expect.any(Number)]);
    expect(await client.refusal('query', { sql: 5 })).toContain('sql');
    expect(await client.refusal('query', { sql: 'select 1', more: true })).toContain('more');
    expect(await client.refusal('query', { sql: 'select 1', limit: 1001 })).toContain('limit');
    expect(await client.result('ping')).toEqual({});
  });
});

describe('the session', () => {
  const started = () => startServer([], { cwd: scene.folder, env: scene.env });

  it('can be of the revision without a handshake', async () => {
    const client = new McpClient(serverHere([], scene.env));
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect(await client.result('server/discover', { _meta })).toMatchObject({
      instructions: expect.stringContaining('untrusted_data'),
    });
    const params = { name: 'query', arguments: { sql: 'select 1 as n' }, _meta };
    expect(await client.result('tools/call', params)).toMatchObject({
      structuredContent: { untrusted_data: { rows: [{ n: 1 }] } },
    });
  });

  it('ends with its input or a signal, with nothing but messages on standard output', async () => {
    const ended = await (await connect(started())).client.end();
    expect(ended.code).toBe(0);
    for (const line of ended.out.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc', '2.0');
    const server = started();
    await connect(server);
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 143 });
  });

  it('ends with its input although a statement runs', async () => {
    const { client } = await connect(started());
    client.request('tools/call', { name: 'query', arguments: { sql: 'select pg_sleep(600)' } });
    expect(await client.end()).toMatchObject({ code: 0, err: expect.not.stringContaining('bug') });
  });
});
