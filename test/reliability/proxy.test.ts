/** The fault proxies disturb connections and exchanges as scripted, and leave the others alone. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openClient } from '../../src/extract/client.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { SMALL } from '../flow/scene.ts';
import { type ExchangeTrouble, startHttpProxy } from './http-proxy.ts';
import { startProxy, type Trouble } from './proxy.ts';

/** A server that echoes each piece in capitals, with a record of its input. */
async function shouting(): Promise<{ readonly url: string; readonly heard: () => string }> {
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (piece: Buffer) => {
      heard += piece.toString();
      socket.write(piece.toString().toUpperCase());
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, heard: () => heard };
}

/** A client that records what it receives and how its connection ends. */
async function client(port: number) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let got = '';
  let error: string | undefined;
  socket.on('data', (piece: Buffer) => {
    got += piece.toString();
  });
  socket.on('error', (thrown: NodeJS.ErrnoException) => {
    error = thrown.code;
  });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.once('close', () => close());
  return {
    say: (text: string) => void socket.write(text),
    got: () => got,
    /** Resolves once this many characters have arrived. */
    hears: async (length: number): Promise<string> => {
      while (got.length < length) await once(socket, 'data');
      return got;
    },
    /** The error code that ended the connection, or `in order`. */
    ended: async (): Promise<string> => {
      await closed;
      return error ?? 'in order';
    },
  };
}

describe('the TCP proxy', () => {
  const through = async (trouble: Trouble | undefined) => {
    const server = await shouting();
    const proxy = await startProxy(server.url, (connection) => (connection === 1 ? trouble : undefined));
    onTestFinished(() => proxy.close());
    return { server, proxy, first: await client(proxy.port) };
  };

  it('passes on connections without a fault', async () => {
    const { proxy, first } = await through(undefined);
    first.say('hello');
    expect(await first.hears(5)).toBe('HELLO');
    expect(proxy.befell()).toEqual({});
  });

  it.each([
    ['cut', 'in order'],
    ['reset', 'ECONNRESET'],
  ] as const)('%s ends a connection after a number of bytes up, which the server still gets', async (kind, end) => {
    const { server, proxy, first } = await through({ kind, at: { way: 'up', bytes: 3 } });
    first.say('hello');
    expect(await first.ended()).toBe(end);
    expect(server.heard()).toBe('hel');
    expect(proxy.befell()).toEqual({ [kind]: 1 });
    // Only the first connection is disturbed.
    const second = await client(proxy.port);
    second.say('again');
    expect(await second.hears(5)).toBe('AGAIN');
  });

  it('resets after a number of bytes down, which the client still gets', async () => {
    const { server, first } = await through({ kind: 'reset', at: { way: 'down', bytes: 2 } });
    first.say('hello');
    expect(await first.ended()).toBe('ECONNRESET');
    expect([server.heard(), first.got()]).toEqual(['hello', 'HE']);
  });

  it('cuts when a text is sent for the nth time, and keeps it from the server', async () => {
    const { server, first } = await through({ kind: 'cut', at: { said: 'commit', nth: 2 } });
    first.say('commit 1;');
    await first.hears(9);
    first.say('commit 2;');
    expect(await first.ended()).toBe('in order');
    expect(server.heard()).toBe('commit 1;');
  });

  it('swallows the reply to a text that the server got', async () => {
    const { server, first } = await through({ kind: 'swallow', at: { said: 'commit', nth: 1 } });
    first.say('begin;');
    await first.hears(6);
    first.say('commit;');
    expect(await first.ended()).toBe('ECONNRESET');
    expect([server.heard(), first.got()]).toEqual(['begin;commit;', 'BEGIN;']);
  });

  it('is silent for a while, then resets', async () => {
    const { server, first } = await through({ kind: 'silence', at: { said: 'b', nth: 1 }, ms: 60 });
    const startedAt = performance.now();
    first.say('b');
    expect(await first.ended()).toBe('ECONNRESET');
    expect(performance.now() - startedAt).toBeGreaterThan(50);
    expect([server.heard(), first.got()]).toEqual(['', '']);
  });

  it('keeps pieces in order that come late', async () => {
    const { proxy, first } = await through({ kind: 'latency', ms: 20 });
    const startedAt = performance.now();
    for (const piece of ['a', 'b', 'c']) first.say(piece);
    expect(await first.hears(3)).toBe('ABC');
    expect(performance.now() - startedAt).toBeGreaterThan(35);
    expect(proxy.befell()).toEqual({ latency: 1 });
  });

  it('strikes open connections, and uses another script for new ones', async () => {
    const { proxy, first } = await through(undefined);
    first.say('hello');
    await first.hears(5);
    proxy.strike({ kind: 'reset', at: { way: 'up', bytes: 0 } });
    expect(await first.ended()).toBe('ECONNRESET');
    proxy.setScript(() => ({ kind: 'cut', at: { way: 'up', bytes: 0 } }));
    const second = await client(proxy.port);
    expect(await second.ended()).toBe('in order');
  });
});

describe('the HTTP proxy', () => {
  const asking = async (trouble: ExchangeTrouble | undefined) => {
    const sandbox = await serveSandbox({ seed: 7, size: SMALL });
    const proxy = await startHttpProxy(sandbox.url, (exchange) => (exchange === 1 ? trouble : undefined));
    const asker = openClient({
      url: proxy.url,
      token: new Secret(SANDBOX_TOKEN),
      connections: 1,
      now: () => new Date(),
    });
    onTestFinished(async () => {
      await proxy.close();
      await asker.close();
      await sandbox.close();
    });
    const ask = () =>
      asker.send({ method: 'POST', path: '/api/pronet/group', body: { group: '1001' }, xRequestId: ID });
    return { sandbox, proxy, ask };
  };
  const ID = '00000000-0000-4000-8000-000000000001';

  it('passes on exchanges without a fault, byte by byte', async () => {
    const { sandbox, ask } = await asking(undefined);
    const outcome = await ask();
    if (outcome.kind !== 'answered') throw new Error(outcome.kind);
    const [request] = sandbox.requests();
    expect(outcome).toMatchObject({ status: 200, headers: { 'x-request-id': ID } });
    expect(outcome.body.byteLength).toBe(request?.bytes);
    expect(request?.xRequestId).toBe(ID);
  });

  it.each([
    [{ kind: 'refuse' }, 0],
    [{ kind: 'swallow' }, 1],
    [{ kind: 'cut', bytes: 10 }, 1],
    [{ kind: 'reset', bytes: 10 }, 1],
    [{ kind: 'silence', ms: 30 }, 1],
  ] as const)(
    '%j leaves the client without a complete answer; the next exchange succeeds',
    async (trouble, arrived) => {
      const { sandbox, proxy, ask } = await asking(trouble);
      expect((await ask()).kind).toBe('unknown');
      expect(sandbox.requests()).toHaveLength(arrived);
      expect(proxy.befell()).toEqual({ [trouble.kind]: 1 });
      expect((await ask()).kind).toBe('answered');
    },
  );

  it('reports when half a body is delivered, and sends no more of it', async () => {
    const half = Promise.withResolvers<void>();
    const { sandbox, proxy, ask } = await asking({ kind: 'half', onHalf: half.resolve });
    const sent = ask();
    await half.promise;
    expect(sandbox.requests()).toHaveLength(1);
    await proxy.close();
    expect(await sent).toMatchObject({ kind: 'unknown', status: 200 });
  });
});
