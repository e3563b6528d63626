/** What the client puts on the wire, what it makes of an answer, and where the token goes. */
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { CredentialError, UsageError } from '../../src/errors.ts';
import { type Call, openClient } from '../../src/extract/client.ts';
import { serviceText } from '../../src/extract/failure.ts';
import { CALL, clientFor, serving, TOKEN } from './servers.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

async function seenOf(call: Call, prefix = ''): Promise<Seen> {
  const seen: Seen[] = [];
  const host = await serving((request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers, text: request.text });
    response.end('[]');
  });
  await clientFor(`http://${host}${prefix}`).send(call);
  expect(seen).toHaveLength(1);
  return seen[0] as Seen;
}

describe('a call', () => {
  it('is a POST with a JSON body without what is unset, but with what is false', async () => {
    const body = { user: 'zoë', with_posts: false, alias: null, count: undefined, forms: ['10-K', '-10-K/A'] };
    const { method, url, headers, text } = await seenOf({ ...CALL, body });
    expect(method).toBe('POST');
    expect(url).toBe('/api/microblog/user');
    expect(text).toBe('{"user":"zoë","with_posts":false,"forms":["10-K","-10-K/A"]}');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
  });

  it('has the token, the request id, and the user agent', async () => {
    const { headers } = await seenOf(CALL);
    expect(headers).toMatchObject({
      'access-token': TOKEN,
      'x-request-id': CALL.xRequestId,
      'accept-encoding': 'zstd, br, gzip',
      accept: 'application/json',
    });
    expect(headers['user-agent']).toMatch(/^sluice\/\d+\.\d+\.\d+/);
    expect(headers).not.toHaveProperty('authorization');
  });

  it('is a GET with an escaped query', async () => {
    const body = { cursor: '2024-05-01T10:00:00.000001+02:00', limit: 100, end_time: null, note: 'a b&c=ä' };
    const { method, url, headers, text } = await seenOf({ ...CALL, method: 'GET', path: '/token/requests', body });
    expect(method).toBe('GET');
    expect(url).toBe(
      '/token/requests?cursor=2024-05-01T10%3A00%3A00.000001%2B02%3A00&limit=100&note=a%20b%26c%3D%C3%A4',
    );
    expect(new URL(`http://x${url}`).searchParams.get('cursor')).toBe(body.cursor);
    expect(text).toBe('');
    expect(headers).not.toHaveProperty('content-type');
    expect(headers['access-token']).toBe(TOKEN);
  });

  it('is a GET without a question mark when there are no parameters', async () => {
    expect((await seenOf({ ...CALL, method: 'GET', body: { cursor: null } })).url).toBe('/api/microblog/user');
  });

  it.each(['/v2', '/v2/', '/v2//'])('goes below the path prefix %s', async (prefix) => {
    expect((await seenOf(CALL, prefix)).url).toBe('/v2/api/microblog/user');
  });

  it('stays on the origin whatever its path', async () => {
    const elsewhere: string[] = [];
    const other = await serving((request, response) => {
      elsewhere.push(String(request.url));
      response.end('[]');
    });
    expect((await seenOf({ ...CALL, path: `//${other}/x` })).url).toBe(`//${other}/x`);
    expect(elsewhere).toEqual([]);
  });

  it('that is malformed is a bug and no outcome', async () => {
    const client = clientFor(`http://${await serving((_, response) => response.end())}`);
    await expect(client.send({ ...CALL, xRequestId: 'two\nlines' })).rejects.toThrow('x-request-id');
    await client.close();
    await expect(client.send(CALL)).rejects.toThrow('the client is closed');
  });
});

describe('an answer', () => {
  it('holds status, headers, body and times', async () => {
    const host = await serving((_, response) => {
      response.writeHead(200, {
        'X-Request-Id': 'r1',
        'X-Many': ['a', 'b'],
        'Set-Cookie': ['s=1; HttpOnly', 't=2'],
        'X-Token-Points': '77',
      });
      response.end('[{"@type":"@microblog_user"}]');
    });
    const times = [new Date('2024-05-01T00:00:00.000Z'), new Date('2024-05-01T00:00:01.250Z')];
    const outcome = await clientFor(`http://${host}`, { now: () => times.shift() as Date }).send(CALL);
    expect(outcome).toMatchObject({ kind: 'answered', status: 200, tookMs: 1250 });
    if (outcome.kind !== 'answered') return;
    expect(outcome.receivedAt.toISOString()).toBe('2024-05-01T00:00:01.250Z');
    expect(Buffer.from(outcome.body).toString()).toBe('[{"@type":"@microblog_user"}]');
    expect(outcome.headers).toMatchObject({ 'x-request-id': 'r1', 'x-many': 'a, b', 'x-token-points': '77' });
    expect(Object.keys(outcome.headers).filter((name) => /cookie|[A-Z]/.test(name))).toEqual([]);
  });

  it.each([204, 404, 412, 422, 429, 500, 503])('of status %i is an answer like any other', async (status) => {
    const host = await serving((_, response) => response.writeHead(status).end());
    expect(await clientFor(`http://${host}`).send(CALL)).toMatchObject({ kind: 'answered', status });
  });

  it('keeps each byte of a success, also one that is no text', async () => {
    const bytes = Buffer.from([0x5b, 0x00, 0xff, 0xfe, 0xed, 0xa0, 0x80, 0x5d]);
    const host = await serving((_, response) => response.end(bytes));
    const outcome = await clientFor(`http://${host}`).send(CALL);
    expect(outcome.kind === 'answered' && Buffer.from(outcome.body).equals(bytes)).toBe(true);
  });

  it('comes on the same connection as the one before it', async () => {
    const ports = new Set<number | undefined>();
    const host = await serving((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('[]');
    });
    const client = clientFor(`http://${host}`, { connections: 1 });
    for (let n = 0; n < 5; n++) await client.send(CALL);
    expect(ports.size).toBe(1);
  });

  it('comes on no more connections than are allowed', async () => {
    const ports = new Set<number | undefined>();
    const host = await serving((request, response) => {
      ports.add(request.socket.remotePort);
      setImmediate(() => response.end('[]'));
    });
    const client = clientFor(`http://${host}`, { connections: 2 });
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => client.send(CALL)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from({ length: 8 }, () => 'answered'));
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it('in flight is awaited by close, which leaves no connection', async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const host = await serving((_, response) => {
      arrived.resolve();
      void release.promise.then(() => response.end('[]'));
    });
    const client = clientFor(`http://${host}`);
    const outcome = client.send(CALL);
    await arrived.promise;
    const closed = client.close();
    release.resolve();
    expect((await outcome).kind).toBe('answered');
    await closed;
  });
});

describe('the token', () => {
  it.each([301, 302, 303, 307, 308])('is not carried across a redirect (%i)', async (status) => {
    const elsewhere: IncomingHttpHeaders[] = [];
    const other = await serving((request, response) => {
      elsewhere.push(request.headers);
      response.end('[]');
    });
    const host = await serving((_, response) => response.writeHead(status, { location: `http://${other}/x` }).end());
    const outcome = await clientFor(`http://${host}`).send(CALL);
    expect(outcome).toMatchObject({ kind: 'answered', status, headers: { location: `http://${other}/x` } });
    expect(elsewhere).toEqual([]);
  });

  it('goes to no proxy of the environment', async () => {
    const proxied: string[] = [];
    const proxy = await serving((request, response) => {
      proxied.push(String(request.url));
      response.end('[]');
    });
    const host = await serving((_, response) => response.end('["direct"]'));
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: `http://${proxy}`,
      http_proxy: `http://${proxy}`,
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      const outcome = await clientFor(`http://${host}`).send(CALL);
      expect(outcome.kind === 'answered' && Buffer.from(outcome.body).toString()).toBe('["direct"]');
    } finally {
      process.env = before;
    }
    expect(proxied).toEqual([]);
  });

  it('is taken out of a refusal that quotes it', async () => {
    const host = await serving((request, response) =>
      response
        .writeHead(401, { 'x-error': `bad ${String(request.headers['access-token'])}`, 'x-echo': [TOKEN, 'b'] })
        .end(JSON.stringify({ detail: `Zoë: token ${String(request.headers['access-token'])} is unknown` })),
    );
    const outcome = await clientFor(`http://${host}`).send(CALL);
    if (outcome.kind !== 'answered') throw new Error(outcome.reason);
    expect(Buffer.from(outcome.body).toString()).toBe('{"detail":"Zoë: token [secret] is unknown"}');
    expect(outcome.headers).toMatchObject({ 'x-error': 'bad [secret]', 'x-echo': '[secret], b' });
  });

  const AWKWARD = 'tok/+"<&\\-5f3a91c2';
  const escapedAll = (of: (code: number) => string): string =>
    Array.from(AWKWARD, (it) => of(it.charCodeAt(0))).join('');
  it.each([
    ['as it is', AWKWARD],
    ['in JSON', JSON.stringify(AWKWARD).slice(1, -1)],
    ['in JSON with a slash escaped', JSON.stringify(AWKWARD).slice(1, -1).replaceAll('/', '\\/')],
    ['in JSON inside JSON', JSON.stringify(JSON.stringify(AWKWARD)).slice(3, -3)],
    ['in escapes of JSON', escapedAll((code) => `\\u${code.toString(16).padStart(4, '0')}`)],
    ['in escapes of JSON in capitals', escapedAll((code) => `\\u${code.toString(16).padStart(4, '0').toUpperCase()}`)],
    ['in a URL', encodeURIComponent(AWKWARD)],
    ['in a URL, letters too', escapedAll((code) => `%${code.toString(16)}`)],
    ['in a URL within a URL', encodeURIComponent(encodeURIComponent(AWKWARD))],
    ['on a web page', escapedAll((code) => `&#${code};`)],
    ['on a web page in hex', escapedAll((code) => `&#x${code.toString(16)};`)],
    ['in capitals', AWKWARD.toUpperCase()],
  ])('is taken out of a refusal that quotes it %s', async (_, quoted) => {
    const host = await serving((_request, response) =>
      response
        .writeHead(403, { 'x-echo': `<${quoted}>` })
        .end(`{"detail":"<${quoted}>","more":"${quoted.slice(0, 9)}"}`),
    );
    const outcome = await clientFor(`http://${host}`, { token: new Secret(AWKWARD) }).send(CALL);
    if (outcome.kind !== 'answered') throw new Error(outcome.reason);
    expect(Buffer.from(outcome.body).toString()).toBe(`{"detail":"<[secret]>","more":"${quoted.slice(0, 9)}"}`);
    expect(outcome.headers['x-echo']).toBe('<[secret]>');
  });

  it('is taken out before anything is cut, and out of the names of headers', async () => {
    const around = 'x'.repeat(280);
    const host = await serving((_, response) =>
      response.writeHead(422, { [`x-${TOKEN}`]: 'a' }).end(JSON.stringify({ detail: `${around}${TOKEN} is unknown` })),
    );
    const outcome = await clientFor(`http://${host}`).send(CALL);
    if (outcome.kind !== 'answered') throw new Error(outcome.reason);
    expect(serviceText(outcome.body, outcome.headers)).toMatch(/^x{280}\[secret\] is un/);
    expect(JSON.stringify(outcome.headers)).not.toContain('5f3a91c2');
  });

  it('that is too short to be one is left, or no text could be read', async () => {
    const host = await serving((_, response) => response.writeHead(422).end('{"detail":"a bad apple"}'));
    const outcome = await clientFor(`http://${host}`, { token: new Secret('a') }).send(CALL);
    expect(outcome.kind === 'answered' && Buffer.from(outcome.body).toString()).toBe('{"detail":"a bad apple"}');
  });

  it('is left in what was paid for, since that is kept to the byte', async () => {
    const host = await serving((_, response) => response.end(`["${TOKEN}"]`));
    const outcome = await clientFor(`http://${host}`).send(CALL);
    expect(outcome.kind === 'answered' && Buffer.from(outcome.body).toString()).toBe(`["${TOKEN}"]`);
  });

  it.each([undefined, new Secret('')])('is needed before anything else', (token) => {
    const open = () => openClient({ url: 'no address', token, connections: 1, now: () => new Date() });
    expect(open).toThrow(CredentialError);
    expect(open).toThrow('There is no token for the service.');
  });

  it.each([`${TOKEN}\n`, `${TOKEN}\r\nx: y`, `${TOKEN} x`, `${TOKEN}ä`])('must fit in a header', (token) => {
    const open = () => openClient({ url: 'http://x', token: new Secret(token), connections: 1, now: () => new Date() });
    expect(open).toThrow(CredentialError);
    expect(open).not.toThrow(TOKEN);
  });
});

it.each(['', 'localhost:80', 'ftp://x', 'http://user:pass@x', 'http://x?y=1', 'http://x/#y'])(
  'the client refuses the url %j',
  (url) => {
    const open = () => openClient({ url, token: new Secret(TOKEN), connections: 1, now: () => new Date() });
    expect(open).toThrow(UsageError);
    expect(open).not.toThrow('pass@');
  },
);
