/** Bodies that are no array of items, and rows of the log that are completed later. */
import { expect, it } from 'vitest';
import type { Loader } from '../../support/loading.ts';
import { logRow, profile } from '../items.ts';

export function answersSuite(openLoader: () => Promise<Loader>): void {
  it.each([
    ['nothing', ''],
    ['blanks', ' \n'],
    ['null', 'null'],
    ['a text', '"x"'],
    ['a number', '9007199254740993'],
    ['HTML', '<html><body>[]</body></html>'],
    ['a cut body', '[{"rest_id":"cut"},{"rest_'],
    ['an envelope', '{"data":[{"rest_id":"in an envelope"}]}'],
    ['an error', '{"detail":"not now"}'],
    ['an empty object', '{}'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x5b])],
    ['arrays without end', '['.repeat(200_000)],
    ['deep arrays', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ])('%s is quarantined completely', async (_, body) => {
    const loader = await openLoader();
    const before = await loader.versions();
    const { batch, receipt } = await loader.take('microblog.user', { user: 'x' }, body);
    expect(receipt).toMatchObject({ received: 1, quarantined: 1, written: {} });
    expect(batch.rejects).toHaveLength(1);
    expect(batch.rejects[0]).toMatchObject({
      pointer: expect.stringMatching(/^(\/0)?$/),
      reason: expect.stringMatching(/\S/),
    });
    expect(await loader.versions()).toEqual(before);
  });

  it('an empty array has no items; a single object is one item; a byte order mark before them is ignored', async () => {
    const loader = await openLoader();
    expect((await loader.take('microblog.user', { user: 'x' }, '[]')).receipt).toMatchObject({
      received: 0,
      quarantined: 0,
    });
    expect((await loader.take('microblog.user', { user: 'x' }, JSON.stringify(profile('lone')))).receipt).toMatchObject(
      { received: 1, loaded: 1 },
    );
    expect(
      (await loader.take('microblog.user', { user: 'x' }, `\ufeff[${JSON.stringify(profile('marked'))}]`)).receipt,
    ).toMatchObject({ received: 1, loaded: 1 });
  });

  const page = (entity: string) => ({ url: `https://lone.example/${entity}` });
  const school = (entity: string) => ({ urn: { type: 'fsd_profile', value: `lone ${entity}` }, count: 9 });

  it.each([
    ['sec.search.companies', { count: 20 }, '{"items":[{"accession_number":"1","file_name":"a"}],"total":1}'],
    ['pronet.search.users', { count: 20 }, '{"name":"Too Many Requests","url":"https://status.example/"}'],
    ['webparser.parse', page('error'), '{"title":"Bad Gateway","status":502,"detail":"not now"}'],
    ['webparser.parse', page('nulls'), '{"title":"Bad Gateway","url":null,"cleaned_html":null}'],
    ['pronet.user.education', school('error'), '{"ok":false,"description":"Too Many Requests"}'],
  ])('%s %j: an object that is no item is quarantined completely: %s', async (name, request, body) => {
    const loader = await openLoader();
    const before = await loader.versions();
    const { batch, receipt } = await loader.take(name, request, body);
    expect(receipt).toMatchObject({ received: 1, quarantined: 1, written: {} });
    expect(batch.rejects).toEqual([
      {
        position: undefined,
        pointer: '',
        reason: expect.stringMatching(/^the body is an object.*; expected a JSON array$/),
      },
    ]);
    expect(await loader.versions()).toEqual(before);
  });

  it.each([
    ['webparser.parse', page('address'), '{"url":"https://lone.example/","title":"t"}'],
    ['webparser.parse', page('content'), '{"cleaned_html":""}'],
    ['webparser.parse', page('tag'), '{"@type":"@web_parser_result","title":"t"}'],
    ['pronet.user.education', school('company'), '{"company":{"name":"A school"}}'],
    ['pronet.user.education', school('listed'), '[{"@type":"@another","company":null,"major":"Law"}]'],
  ])(
    '%s %j: an object with its tag, a field that each item has, or in a list only known fields loads: %s',
    async (name, request, body) => {
      const loader = await openLoader();
      expect((await loader.take(name, request, body)).receipt).toMatchObject({ received: 1, loaded: 1 });
    },
  );

  it.each([
    ['webparser.parse', page('listed error'), '[{"title":"Bad Gateway","status":502}]'],
    ['pronet.user.education', school('listed error'), '[{"ok":false,"description":"Too Many Requests"}]'],
  ])('%s %j: an element that is no item replaces nothing: %s', async (name, request, body) => {
    const loader = await openLoader();
    const before = await loader.versions();
    const { batch, receipt } = await loader.take(name, request, body);
    expect(receipt).toMatchObject({ received: 1, quarantined: 1, written: {} });
    expect(batch.foreign).toBe(1);
    expect(batch.owner?.complete ?? false).toBe(false);
    expect(batch.rejects).toEqual([
      {
        position: 0,
        pointer: '/0',
        reason: expect.stringMatching(/^not a \w+: it lacks any field that each \w+ has$/),
      },
    ]);
    expect(await loader.versions()).toEqual(before);
  });

  it('an item that is nested too deeply is quarantined, the others load', async () => {
    const loader = await openLoader();
    const deep = (levels: number): string =>
      `{"rest_id":"deep ${levels}","odd":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const { batch, receipt } = await loader.take(
      'microblog.user',
      { user: 'x' },
      `[${deep(10_000)},${deep(400)},${JSON.stringify(profile('beside'))}]`,
    );
    expect(receipt).toMatchObject({ received: 3, loaded: 2, quarantined: 1 });
    expect(batch.rejects).toEqual([{ position: 0, pointer: '/0', reason: expect.stringContaining('nested deeper') }]);
  });

  it('reposts nested deeper than the rows that are read stay with the innermost of these rows', async () => {
    const loader = await openLoader();
    const post = (level: number): object => ({
      urn: { type: 'activity', value: `nested ${level}` },
      text: `level ${level}`,
      ...(level < 60 && { repost: post(level + 1) }),
    });
    const request = { urn: { type: 'activity', value: 'asked' }, count: 9 };
    const { batch, receipt } = await loader.take('pronet.post.reposts', request, [post(0)]);
    expect(receipt).toMatchObject({ received: 1, loaded: 1, quarantined: 0 });
    const rows = batch.roots.get('pronet_posts') ?? [];
    const inner = rows.find(({ id }) => id.endsWith('nested 50'));
    expect(rows).toHaveLength(51);
    expect(JSON.stringify(inner)).toContain('level 60');
  });

  it('more items than requested load', async () => {
    const loader = await openLoader();
    const items = Array.from({ length: 5 }, (_, index) => ({ urn: { type: 'fsd_profile', value: `more ${index}` } }));
    expect((await loader.take('pronet.search.users', { count: 2 }, items)).receipt).toMatchObject({
      received: 5,
      loaded: 5,
    });
  });

  it('an incomplete row of the log never erases a complete one; an incomplete one is completed', async () => {
    const loader = await openLoader();
    const log = (more: object) => loader.take('token.requests', {}, [logRow(1, more)]);
    const row = () => loader.row('fact_request_costs', { id: '00000000-0000-4000-8000-000000000001' });
    await log({ points_left: 9 });
    expect(await row()).toMatchObject({ response_status_code: null, points_left: '9' });
    await log({ points_left: 8, response_status_code: 200, duration: 0.25, response_count: 3 });
    const complete = await row();
    expect(complete).toMatchObject({
      response_status_code: '200',
      duration: '0.25',
      response_count: '3',
      points_left: '8',
    });
    expect((await log({ points_left: 9 })).receipt).toMatchObject({ unchanged: 1, written: {} });
    expect(await row()).toEqual(complete);
  });

  it('an upper-case UUID is the same row of the log', async () => {
    const loader = await openLoader();
    const id = 'ABCDEF00-0000-4000-8000-00000000000F';
    await loader.take('token.requests', {}, [{ ...logRow(2), id }]);
    expect((await loader.take('token.requests', {}, [{ ...logRow(2), id: id.toLowerCase() }])).receipt).toMatchObject({
      unchanged: 1,
    });
  });
}
