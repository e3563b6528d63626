/** Attempts without a complete answer: certainly not sent, or perhaps bought. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import * as tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/extract/outcome.ts';
import { selfSigned } from './certificate.ts';
import { askOnce, CALL, clientFor, connecting, nobody, serving, started, TOKEN } from './servers.ts';

const outcomes: Outcome[] = [];
const noted = async (outcome: Promise<Outcome>): Promise<Outcome> => {
  outcomes.push(await outcome);
  return outcome;
};
afterEach(() => {
  expect(JSON.stringify(outcomes)).not.toContain(TOKEN);
});

const answering = (head: string, rest: string, then: 'reset' | 'close' | 'stay') =>
  connecting((socket) => {
    socket.write(`${head}\r\n\r\n${rest}`, () => {
      if (then === 'reset') socket.resetAndDestroy();
      if (then === 'close') socket.end();
    });
  });

/** Does this with the next message on a channel of undici's. */
function onNext(channel: string, act: (message: unknown) => void): void {
  const once = (message: unknown): void => {
    unsubscribe(channel, once);
    act(message);
  };
  subscribe(channel, once);
}

describe('surely not sent', () => {
  it('when the connection is refused', async () => {
    expect(await noted(askOnce(`http://${await nobody()}`))).toEqual({
      kind: 'not_sent',
      reason: expect.stringMatching(/^connection refused \(http:\/\/127.0.0.1:\d+\)$/),
    });
  });

  it('when the host does not exist', async () => {
    const outcome = await noted(askOnce('http://sluice-test.invalid'));
    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: expect.stringMatching(/^host name (not found|lookup failed) \(http:\/\/sluice-test\.invalid\)$/),
    });
  });

  it('when the other side does not speak TLS', async () => {
    const host = await serving((_, response) => response.end('[]'));
    const outcome = await noted(askOnce(`https://${host}`));
    expect(outcome).toEqual({ kind: 'not_sent', reason: expect.stringMatching(/^no secure connection/) });
  });

  it('when the other side closes during the TLS handshake', async () => {
    const { host } = await connecting((socket) => socket.destroy());
    const outcome = await noted(askOnce(`https://${host}`));
    expect(outcome).toEqual({
      kind: 'not_sent',
      reason: `connection closed while it was being opened (https://${host})`,
    });
  });

  it('when the certificate is not trusted, whatever the environment says', async () => {
    let received = '';
    const server = tls.createServer(selfSigned(), (socket) => {
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.on('error', () => undefined);
    });
    const host = await started(server);
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await noted(askOnce(`https://${host}`))).toEqual({
        kind: 'not_sent',
        reason: `the server's certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT) (https://${host})`,
      });
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    expect(received).toBe('');
  });

  it('when the connection is not open in time', async () => {
    const { host, received } = await connecting(() => undefined);
    const outcome = await noted(askOnce(`https://${host}`, { connectTimeoutMs: 100 }));
    expect(outcome).toEqual({ kind: 'not_sent', reason: `no connection in time (https://${host})` });
    expect(received()).not.toContain(TOKEN);
  });

  it('when the deadline passes while the connection is being opened', async () => {
    const { host } = await connecting(() => undefined);
    const outcome = await noted(askOnce(`https://${host}`, { marginMs: 100 }));
    expect(outcome).toEqual({ kind: 'not_sent', reason: `no connection within 0.2 s (https://${host})` });
  });
});

describe('perhaps bought', () => {
  it.each([
    ['reset', (socket: { resetAndDestroy: () => unknown }) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['closed', (socket: { end: () => unknown }) => socket.end(), 'UND_ERR_SOCKET'],
  ] as const)('when the connection is %s before an answer', async (_, end, code) => {
    const { host, received } = await connecting((socket) => end(socket));
    expect(await noted(askOnce(`http://${host}`))).toEqual({
      kind: 'unknown',
      reason: `the connection was lost before an answer came (${code})`,
    });
    expect(received().match(/POST /g)).toHaveLength(1);
  });

  it.each(['reset', 'close'] as const)('when a chunked answer is cut by a %s', async (then) => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked';
    const { host } = await answering(head, '5\r\n[{"a"\r\n', then);
    expect(await noted(askOnce(`http://${host}`))).toMatchObject({
      kind: 'unknown',
      status: 200,
      reason: expect.stringMatching(/^the connection was lost in the middle of the answer/),
    });
  });

  it.each(['reset', 'close'] as const)('when fewer bytes came than were announced, cut by a %s', async (then) => {
    const { host } = await answering('HTTP/1.1 200 OK\r\ncontent-length: 100', '[{"a":1}]', then);
    expect(await noted(askOnce(`http://${host}`))).toMatchObject({ kind: 'unknown', status: 200 });
  });

  it('when fewer bytes arrived than were announced and the server had announced to close', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close';
    const { host } = await answering(head, '[{"a":1}]', 'close');
    expect(await noted(askOnce(`http://${host}`))).toEqual({
      kind: 'unknown',
      status: 200,
      reason: 'the answer is not as long as its header says',
    });
  });

  it('when the answer is not HTTP', async () => {
    const { host } = await answering('SSH-2.0-OpenSSH_9.6', '', 'stay');
    expect(await noted(askOnce(`http://${host}`))).toEqual({ kind: 'unknown', reason: 'the answer is not HTTP' });
  });

  it("when the answer's headers have no end", async () => {
    const { host } = await answering(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(300_000)}`, '', 'stay');
    expect(await noted(askOnce(`http://${host}`))).toEqual({
      kind: 'unknown',
      reason: "the answer's headers are larger than 256 KiB",
      tooLarge: true,
    });
  });

  it('when the server stays silent', async () => {
    const { host } = await connecting(() => undefined);
    const startedAt = performance.now();
    expect(await noted(askOnce(`http://${host}`, { marginMs: 100 }))).toEqual({
      kind: 'unknown',
      reason: 'no answer within 0.2 s',
    });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it.each([
    [undefined, 330_000],
    [1500, 1_530_000],
  ])(
    'only after the request’s own timeout of %s s and a margin, which undici’s timers keep too',
    async (timeoutSeconds, ms) => {
      const created = Promise.withResolvers<unknown>();
      onNext('undici:request:create', (message) => created.resolve((message as { request: unknown }).request));
      const host = await serving((_, response) => response.end('[]'));
      await clientFor(`http://${host}`).send({ ...CALL, ...(timeoutSeconds !== undefined && { timeoutSeconds }) });
      expect(await created.promise).toMatchObject({ headersTimeout: ms, bodyTimeout: ms });
    },
  );

  it('when only an interim answer came', async () => {
    const { host } = await answering('HTTP/1.1 103 Early Hints\r\nlink: </x>', '', 'stay');
    expect(await noted(askOnce(`http://${host}`, { marginMs: 100 }))).toEqual({
      kind: 'unknown',
      reason: 'no answer within 0.2 s',
    });
  });

  it.each(['header', 'body'])('when the %s drips a byte at a time, each sooner than any idle timeout', async (part) => {
    const { host } = await connecting((socket) => {
      socket.write(part === 'body' ? 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n' : 'HTTP/1.1 200 OK\r\nx: ');
      const drip = setInterval(() => socket.write('x'), 30);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await noted(askOnce(`http://${host}`, { marginMs: 400 }))).toEqual(
      part === 'body'
        ? { kind: 'unknown', status: 200, reason: 'the answer was not complete within 0.5 s' }
        : { kind: 'unknown', reason: 'no answer within 0.5 s' },
    );
  });

  it('when the answer is larger than is taken', async () => {
    let written = 0;
    const { host } = await connecting((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
      const more = (): void => {
        if (socket.destroyed) return;
        written += 65_536;
        socket.write(chunk, () => setImmediate(more));
      };
      more();
    });
    expect(await noted(askOnce(`http://${host}`, { maxBodyBytes: 2 ** 20 }))).toEqual({
      kind: 'unknown',
      status: 200,
      reason: 'the answer is larger than 1 MiB',
      tooLarge: true,
    });
    expect(written).toBeLessThan(32 * 2 ** 20);
  });
});

describe('a stop', () => {
  it('before the call sends nothing', async () => {
    const { host, received } = await connecting(() => undefined);
    const outcome = await noted(clientFor(`http://${host}`).send(CALL, AbortSignal.abort()));
    expect(outcome).toEqual({ kind: 'not_sent', reason: 'stopped before it was sent' });
    expect(received()).toBe('');
  });

  it('while the connection is being opened sends nothing, then and later', async () => {
    const stop = new AbortController();
    const { host, received } = await connecting(() => stop.abort());
    const outcome = await noted(clientFor(`https://${host}`, { connectTimeoutMs: 5000 }).send(CALL, stop.signal));
    expect(outcome).toEqual({ kind: 'not_sent', reason: 'stopped before it was sent' });
    expect(received()).not.toContain('POST');
  });

  it('while waiting for a connection sends nothing, then and later', async () => {
    const first = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const ids: unknown[] = [];
    const host = await serving((request, response) => {
      ids.push(request.headers['x-request-id']);
      first.resolve();
      void release.promise.then(() => response.end('[]'));
    });
    const client = clientFor(`http://${host}`, { connections: 1 });
    const stop = new AbortController();
    const sent = client.send({ ...CALL, xRequestId: '1' });
    await first.promise;
    const waiting = noted(client.send({ ...CALL, xRequestId: '2' }, stop.signal));
    stop.abort();
    expect(await waiting).toEqual({ kind: 'not_sent', reason: 'stopped before it was sent' });
    release.resolve();
    expect((await sent).kind).toBe('answered');
    expect((await client.send({ ...CALL, xRequestId: '3' })).kind).toBe('answered');
    expect(ids).toEqual(['1', '3']);
  });

  it('while waiting for the answer leaves it open whether it was bought', async () => {
    const stop = new AbortController();
    const { host } = await connecting(() => stop.abort());
    const outcome = await noted(clientFor(`http://${host}`).send(CALL, stop.signal));
    expect(outcome).toEqual({ kind: 'unknown', reason: 'stopped while waiting for the answer' });
  });

  it('in the middle of the answer leaves it open too, and closes the connection', async () => {
    const stop = new AbortController();
    const gone = Promise.withResolvers<void>();
    const { host } = await connecting((socket) => {
      socket.on('close', () => gone.resolve());
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{"a"');
    });
    onNext('undici:request:headers', () => setImmediate(() => stop.abort()));
    const outcome = await noted(clientFor(`http://${host}`).send(CALL, stop.signal));
    expect(outcome).toEqual({ kind: 'unknown', status: 200, reason: 'stopped in the middle of the answer' });
    await gone.promise;
  });

  it('after the answer changes nothing, and leaves no listener on the signal', async () => {
    const host = await serving((_, response) => response.end('[]'));
    const stop = new AbortController();
    const client = clientFor(`http://${host}`);
    const outcome = await client.send(CALL, stop.signal);
    stop.abort();
    expect(outcome.kind).toBe('answered');
    expect((await client.send(CALL)).kind).toBe('answered');
  });
});

it('a failed attempt does not spoil the next one', async () => {
  let count = 0;
  const { host } = await connecting((socket) => {
    count += 1;
    if (count === 1) socket.resetAndDestroy();
    else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]');
  });
  const client = clientFor(`http://${host}`);
  expect((await client.send(CALL)).kind).toBe('unknown');
  expect((await client.send(CALL)).kind).toBe('answered');
});
