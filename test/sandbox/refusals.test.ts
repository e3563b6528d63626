/** What the sandbox refuses, with which status, and where it says the mistake is. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ask, askLog, startSandbox, type Reply } from './client.ts';

const urn = { type: 'activity', value: '7100000000000000001' };

describe('a request that breaks the contract', () => {
  it.each([
    ['sec.search.companies', {}, ['body', 'count'], 'missing'],
    ['sec.search.companies', { count: 101 }, ['body', 'count'], 'too_big'],
    ['sec.search.companies', { count: 0 }, ['body', 'count'], 'too_small'],
    ['sec.search.companies', { count: '5' }, ['body', 'count'], 'invalid_type'],
    ['sec.search.companies', { count: 5, timeout: 19 }, ['body', 'timeout'], 'too_small'],
    ['sec.search.companies', { count: 5, timeout: 1501 }, ['body', 'timeout'], 'too_big'],
    ['sec.search.companies', { count: 5, date_from: '2024-02-30' }, ['body', 'date_from'], 'custom'],
    ['sec.search.companies', { count: 5, date_to: '1.2.2024' }, ['body', 'date_to'], 'invalid_format'],
    ['sec.search.companies', { count: 5, forms: ['4', 4] }, ['body', 'forms', 1], 'invalid_type'],
    ['sec.search.companies', { count: 5, form: ['4'] }, ['body', 'form'], 'extra_forbidden'],
    ['pronet.post.reposts', { count: 5 }, ['body', 'urn'], 'missing'],
    ['pronet.post.reposts', { count: 5, urn: { ...urn, type: 'share' } }, ['body', 'urn', 'type'], 'invalid_value'],
    ['pronet.post.reposts', { count: 5, urn: 'activity:7' }, ['body', 'urn'], 'invalid_type'],
    ['pronet.user.education', { count: 5, urn }, ['body', 'urn', 'type'], 'invalid_value'],
    ['pronet.user.education', { count: 101, urn: { type: 'fsd_profile', value: 'x' } }, ['body', 'count'], 'too_big'],
    ['pronet.search.users', { count: 1001 }, ['body', 'count'], 'too_big'],
    ['pronet.search.users', { count: 5, location: [{ type: 'geo' }] }, ['body', 'location', 0], 'invalid_union'],
    ['pronet.group', { group: 1001 }, ['body', 'group'], 'invalid_type'],
    ['microblog.user', { user: null }, ['body', 'user'], 'invalid_type'],
    ['photoshare.user', { user: 'x', with_posts: 'yes' }, ['body', 'with_posts'], 'invalid_type'],
    ['photoshare.user.posts', { user: 'x' }, ['body', 'count'], 'missing'],
    ['webparser.parse', { url: 'site-1.example/about' }, ['body', 'url'], 'custom'],
    ['webparser.parse', { url: 'http://a' }, ['body', 'url'], 'too_small'],
    [
      'webparser.parse',
      { url: 'https://site-1.example/', min_text_block: -1 },
      ['body', 'min_text_block'],
      'too_small',
    ],
    [
      'webparser.parse',
      { url: 'https://site-1.example/', include_tags: ['p', 'p:nonsense('] },
      ['body', 'include_tags', 1],
      'value_error',
    ],
    [
      'webparser.parse',
      { url: 'https://site-1.example/', exclude_tags: ['a[['] },
      ['body', 'exclude_tags', 0],
      'value_error',
    ],
    ['pronet.group', [], ['body'], 'invalid_type'],
    ['pronet.group', '{"group": ', ['body'], 'json_invalid'],
    ['pronet.group', '', ['body'], 'json_invalid'],
  ] as const)('%s %j is refused at %j as %s', async (endpoint, body, loc, type) => {
    const sandbox = await startSandbox();
    const reply = await ask(sandbox, endpoint, body);
    expect(reply.status).toBe(422);
    expect(reply.json).toEqual({ detail: [{ loc, msg: expect.stringMatching(/\w/), type }] });
    expect(sandbox.requests()[0]).toMatchObject({ status: 422, cost: 0, endpoint });
  });

  it.each([
    [{ limit: '0' }, ['query', 'limit']],
    [{ limit: '101' }, ['query', 'limit']],
    [{ limit: 'ten' }, ['query', 'limit']],
    [{ start_time: 'yesterday' }, ['query', 'start_time']],
    [{ cursor: '2026-03-02 09:30:00 00:00' }, ['query', 'cursor']],
    [{ page: '2' }, ['query', 'page']],
  ] as const)('the log refuses %j at %j', async (query, loc) => {
    const reply = await askLog(await startSandbox(), query);
    expect([reply.status, placesOf(reply)]).toEqual([422, [loc]]);
  });

  it('gets every mistake in one answer', async () => {
    const reply = await ask(await startSandbox(), 'sec.search.companies', { count: 200, timeout: 1, what: 1 });
    expect(placesOf(reply)).toEqual([
      ['body', 'count'],
      ['body', 'timeout'],
      ['body', 'what'],
    ]);
  });
});

describe('a request', () => {
  it('needs the token, on POST and on GET', async () => {
    const sandbox = await startSandbox({ points: 10 });
    for (const token of ['wrong', '']) {
      const reply = await ask(sandbox, 'pronet.group', { group: '1001' }, { 'access-token': token });
      expect([reply.status, reply.json]).toEqual([401, { detail: 'Invalid token' }]);
      expect(reply.headers.get('x-error')).toBe('invalid_token');
      expect(reply.headers.get('x-token-points')).toBeNull();
    }
    const bare = await fetch(`${sandbox.url}/token/requests`);
    expect([bare.status, await bare.json()]).toEqual([401, { detail: 'Invalid token' }]);
    expect((await askLog(sandbox)).items).toEqual([]);
  });

  it('for an unknown path is refused with 404, and with another method with 405', async () => {
    const sandbox = await startSandbox();
    expect((await ask(sandbox, '/api/pronet/groups', { group: '1001' })).status).toBe(404);
    expect((await ask(sandbox, '/pronet/group', { group: '1001' })).status).toBe(404);
    const got = await fetch(`${sandbox.url}/api/pronet/group`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await ask(sandbox, '/token/requests', {})).status).toBe(405);
    expect(sandbox.requests().map(({ status }) => status)).toEqual([404, 404, 405, 405]);
  });

  it('larger than a megabyte is refused whether or not it says so', async () => {
    const sandbox = await startSandbox();
    const large = JSON.stringify({ group: 'x'.repeat(1_000_000) });
    expect((await ask(sandbox, 'pronet.group', large)).status).toBe(413);
    expect(await chunked(sandbox.port, '/api/pronet/group', large)).toBe(413);
    expect((await ask(sandbox, 'pronet.group', { group: '1001' })).status).toBe(200);
  });

  it('gets its identifier, its duration and the points that are left', async () => {
    const sandbox = await startSandbox({ points: 10 });
    const reply = await ask(sandbox, 'pronet.group', { group: '1001' }, { 'x-request-id': 'mine' });
    expect(reply.headers.get('x-request-id')).toBe('mine');
    expect(reply.headers.get('x-execution-time')).toBe('0.000');
    expect(reply.headers.get('x-token-points')).toBe('9');
    expect(reply.headers.get('content-type')).toBe('application/json');
    const other = await ask(sandbox, 'pronet.group', { group: '1001' });
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

function chunked(port: number, path: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method: 'POST', headers: { 'transfer-encoding': 'chunked' } }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject);
    for (let at = 0; at < body.length; at += 50_000) sent.write(body.slice(at, at + 50_000));
    sent.end();
  });
}

const placesOf = ({ json }: Reply<unknown>): unknown[] =>
  (json as { readonly detail: readonly { readonly loc: unknown }[] }).detail.map(({ loc }) => loc);
