/** Who may use the console, and how: every check over a real socket. No page of these tests reads a warehouse. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { consoleAddressOf } from '../../src/ui/console-address.ts';
import { serveConsole } from '../../src/ui/serve.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { ask, type Console, formToken, openConsole, sendForm, textOf } from './open-console.ts';

const NO_WAREHOUSE = { kind: 'postgres' } as Warehouse;
let reads = 0;
const refusing = (): Promise<Console> => {
  reads = 0;
  return openConsole(NO_WAREHOUSE, {
    read: async () => {
      reads += 1;
      throw new UsageError('The warehouse of the test is closed.', { next: 'Open it.' });
    },
  });
};

it('every response forbids scripts, frames, sniffing, referrers and caches', async () => {
  const console = await refusing();
  const answers = [
    await ask(console, '/sql'),
    await ask(console, '/nothing'),
    await ask(console, '/runs'),
    await ask(console, '/sql', { headers: { host: 'evil.example' } }),
    await ask(console, '/sql', { method: 'DELETE' }),
    await sendForm(console, { statement: 'select 1' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 400, 403, 405, 400]);
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
  }
  expect(answers.filter(({ body }) => /<script|\son\w+=|style="/.test(body))).toEqual([]);
});

it.each([
  'evil.example',
  'evil.example:8790',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '[::1].evil.example',
  'localhost@evil.example',
  '10.0.0.1',
  '0.0.0.0',
  '[::2]',
  ' ',
  'localhost:x',
])('a request to the host %s, which may be a name that a website points here, is refused', async (host) => {
  const console = await refusing();
  const { status, body } = await ask(console, '/runs', { headers: { host } });
  expect({ status, text: textOf(body) }).toEqual({
    status: 403,
    text: expect.stringContaining('The Host header does not name this machine.'),
  });
  expect(reads).toBe(0);
});

it.each(['localhost', 'localhost:9999', 'LOCALHOST:8790', '127.0.0.1:1', '127.0.0.5:8790', '[::1]:8790'])(
  'a request to the host %s, as through a tunnel, is answered',
  async (host) => {
    expect((await ask(await refusing(), '/sql', { headers: { host } })).status).toBe(200);
  },
);

it('a request that another website embeds or loads is refused; a link from there is followed', async () => {
  const console = await refusing();
  const statusOf = async (site: string, mode: string, dest: string): Promise<unknown> =>
    (
      await ask(console, '/runs', {
        headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
      })
    ).status;
  expect(await statusOf('cross-site', 'no-cors', 'image')).toBe(403);
  expect(await statusOf('cross-site', 'navigate', 'iframe')).toBe(403);
  expect(await statusOf('same-site', 'cors', 'empty')).toBe(403);
  expect(reads).toBe(0);
  expect(await statusOf('cross-site', 'navigate', 'document')).toBe(400);
  expect(await statusOf('same-origin', 'navigate', 'document')).toBe(400);
  expect(await statusOf('none', 'navigate', 'document')).toBe(400);
  expect(reads).toBe(3);
});

it('SQL runs only from the form of this process and from its own origin', async () => {
  const console = await refusing();
  const other = await refusing();
  const statement = 'select 1';
  const { host } = new URL(console.url);
  const plain = { 'sec-fetch-site': '', origin: `http://${host}` };
  const send = async (
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
  ): Promise<unknown> => (await sendForm(console, { statement, ...fields }, { headers })).status;
  expect(await send({ token: '' }, {})).toBe(403);
  expect(await send({ token: 'x'.repeat(43) }, {})).toBe(403);
  expect(await send({ token: await formToken(other) }, {})).toBe(403);
  for (const site of ['cross-site', 'same-site', 'none']) expect(await send({}, { 'sec-fetch-site': site })).toBe(403);
  expect(await send({}, { 'content-type': 'text/plain' })).toBe(415);
  expect(await send({}, { 'content-type': 'multipart/form-data; boundary=x' })).toBe(415);
  const token = await formToken(console);
  const body = new URLSearchParams({ token, statement }).toString();
  const withOrigin = async (origin?: string): Promise<unknown> =>
    (
      await ask(console, '/sql', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...(origin !== undefined && { origin }) },
        body,
      })
    ).status;
  for (const origin of ['https://evil.example', 'null', `http://${host}.evil.example`, undefined])
    expect(await withOrigin(origin)).toBe(403);
  expect((await ask(console, `/sql?${body}`)).status).toBe(200);
  expect(
    (
      await ask(console, '/runs', {
        method: 'POST',
        headers: { ...plain, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
        body,
      })
    ).status,
  ).toBe(405);
  expect(reads).toBe(0);
  expect(await withOrigin(`http://${host}`)).toBe(400);
  expect(await send({}, {})).toBe(400);
  expect(reads).toBe(2);
});

it('a form that is too long is refused, and the console stays', async () => {
  const console = await refusing();
  const { status, body } = await sendForm(console, { statement: `select '${'x'.repeat(2 ** 18)}'` });
  expect({ status, text: textOf(body) }).toEqual({ status: 413, text: expect.stringContaining('longer than 256 KiB') });
  expect(reads).toBe(0);
  expect((await ask(console, '/sql')).status).toBe(200);
});

it('HEAD is answered without a body, and other methods are refused', async () => {
  const console = await refusing();
  const head = await ask(console, '/sql', { method: 'HEAD' });
  expect({ status: head.status, body: head.body }).toEqual({ status: 200, body: '' });
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])
    expect((await ask(console, '/sql', { method })).status).toBe(405);
});

it('a client that does not finish its request in time loses its connection', async () => {
  const console = await refusing();
  const { port } = new URL(console.url);
  const head = 'host: localhost\r\nsec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n';
  const starts = ['', `GET /sql HTTP/1.1\r\n${head}`, `POST /sql HTTP/1.1\r\n${head}content-length: 100\r\n\r\ntoken=`];
  const answers = starts.map(async (start) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(start);
    return text(socket);
  });
  for (const answer of answers) expect(await answer).not.toContain(' 200 ');
  expect(reads).toBe(0);
});

it('a client that does not take its response loses its connection', async () => {
  let taken: (signal: AbortSignal) => void = () => undefined;
  const isRead = new Promise<AbortSignal>((resolve) => {
    taken = resolve;
  });
  const console = await openConsole(NO_WAREHOUSE, {
    mostTakeMs: 50,
    read: async (_work, signal) => {
      taken(signal);
      // The buffers of the sockets do not hold such a page.
      throw new UsageError('x'.repeat(2 ** 25));
    },
  });
  const { port } = new URL(console.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET /runs HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await once(await isRead, 'abort');
  await once(socket.resume(), 'close');
  expect(socket.bytesRead).toBeLessThan(2 ** 25);
});

it('an error of a page shows its message and the next step, and does not end the console', async () => {
  const errors = [
    new UsageError('It is <b>wrong</b>.', { next: 'Correct it.' }),
    Object.assign(new Error('the connection with canary-token was lost'), { code: '08006' }),
    new Error('odd canary-token'),
  ];
  const console = await openConsole(NO_WAREHOUSE, {
    read: async () => Promise.reject(errors.shift() ?? new Error('no more errors')),
  });
  const found = [];
  while (errors.length > 0) {
    const { status, body } = await ask(console, '/runs');
    expect(body).not.toContain('canary');
    found.push([
      status,
      textOf(body)
        .replace(/.* Plan Error /, '')
        .replace(/ Read \d.*/, ''),
    ]);
  }
  expect(found).toEqual([
    [400, 'It is &lt;b&gt;wrong&lt;/b&gt;. Correct it.'],
    [
      503,
      'the database could not be used: the connection with [redacted] was lost Try again when the database works. Stored answers are kept.',
    ],
    [500, expect.stringContaining('this is a bug in Sluice: odd [redacted]')],
  ]);
  expect(console.failures).toHaveLength(2);
  expect((await ask(console, '/sql')).status).toBe(200);
});

it.each([
  '0.0.0.0:8790',
  '[::]:8790',
  '192.168.1.5:8790',
  'example.com:80',
  '128.0.0.1:1',
  ':8790',
  '8790',
  'off',
  'localhost',
  '127.0.0.1:99999',
  '127.0.0.1.evil.example:1',
  '[::ffff:10.0.0.1]:1',
])(
  'the address %s, which other machines may reach or which is none, is refused with a tunnel as the next step',
  (listen) => {
    expect(() => consoleAddressOf(listen)).toThrow(
      expect.objectContaining({ exitCode: 2, next: expect.stringContaining('ssh -L 8790:127.0.0.1:8790 HOST') }),
    );
  },
);

it('loopback addresses are allowed', () => {
  expect(['127.0.0.1:1', '127.1.2.3:0', 'localhost:8790', '[::1]:8790'].map(consoleAddressOf)).toEqual([
    { host: '127.0.0.1', port: 1 },
    { host: '127.1.2.3', port: 0 },
    { host: 'localhost', port: 8790 },
    { host: '::1', port: 8790 },
  ]);
});

it('without an address, a console beside another one uses a free port; a given address that is taken is an error', async () => {
  const source = { readers: 1, syncs: [], redact: (it: string) => it, now: () => new Date() } as unknown as Parameters<
    typeof serveConsole
  >[1];
  const served = [await serveConsole(undefined, source), await serveConsole(undefined, source)];
  onTestFinished(async () => {
    for (const { close } of served) await close();
  });
  const [one, two] = served.map(({ url }) => new URL(url));
  expect(one?.port).not.toBe(two?.port);
  expect([one?.hostname, two?.hostname]).toEqual(['127.0.0.1', '127.0.0.1']);
  await expect(serveConsole({ host: '127.0.0.1', port: Number(one?.port) }, source)).rejects.toMatchObject({
    exitCode: 2,
    message: `The console can’t be served at 127.0.0.1:${one?.port}: another process uses the address.`,
    next: 'Set a free address with --listen HOST:PORT.',
  });
});
