/** Data as services of this shape were seen to send it: each case loads as decided. */
import { expect, it } from 'vitest';
import type { Loader } from '../../support/loading.ts';
import { filing, group, logRow, photosharePost, photoshareUser, profile, urn } from '../items.ts';

export function observedSuite(openLoader: () => Promise<Loader>): void {
  const profiles = async (items: unknown): Promise<Loader> => {
    const loader = await openLoader();
    await loader.take('microblog.user', { user: 'x' }, items);
    return loader;
  };
  const profileOf = async (id: string) => (await openLoader()).row('microblog_users', { rest_id: id });

  it('NUL in a string, a key and a primary key is scrubbed before the key is made; a second run finds the same row', async () => {
    const body = '[{"rest_id":"n\\u0000ul","name":"a\\u0000b","new\\u0000field":"\\u0000"}]';
    const loader = await profiles(body);
    expect(await profileOf('nul')).toMatchObject({ name: 'ab', extra: '{"newfield": ""}' });
    const before = await loader.versions();
    const { receipt } = await loader.take('microblog.user', { user: 'x' }, body);
    expect(receipt).toMatchObject({ unchanged: 1, written: {} });
    expect(await loader.versions()).toEqual(before);
  });

  it('a literal backslash-u0000 keeps its six characters, beside a real NUL too', async () => {
    await profiles(
      String.raw`[{"rest_id":"literal","name":"\\u0000","description":"\u0000\\u0000","odd":"\\u0000\u0000"}]`,
    );
    expect(await profileOf('literal')).toMatchObject({
      name: String.raw`\u0000`,
      description: String.raw`\u0000`,
      extra: String.raw`{"odd": "\\u0000"}`,
    });
  });

  it('lone and swapped surrogates become U+FFFD, and the row loads; pairs stay', async () => {
    await profiles(
      String.raw`[{"rest_id":"surrogates","name":"a\ud800b","alias":"\udc00\ud83d","description":"\ud83d\ude00","odd\udfff":["\ud800"]}]`,
    );
    expect(await profileOf('surrogates')).toMatchObject({
      name: 'a\u{fffd}b',
      alias: '\u{fffd}\u{fffd}',
      description: '\u{1f600}',
      extra: '{"odd\u{fffd}": ["\u{fffd}"]}',
    });
  });

  it.each([
    ['bidi marks', 'a\u202eb\u2066c\u2069'],
    ['zero width', 'a\u200bb\u200d\u2060'],
    ['NFC', '\u00e9'],
    ['NFD', 'e\u0301'],
    ['U+2028', 'a\u2028b\u2029'],
    ['BOM', '\ufeffa\ufeff'],
    ['ESC', '\u001b[31mred'],
    ['backslash-N', String.raw`\N`],
    ['tabs and line ends', 'a\tb\r\nc\vd'],
    ['backslash-dot', '\\.\n'],
    ['quotes', `"'\`{}","\\"`],
    ['SQL', `'); drop table x;-- $1 $$ %s`],
    ['NULL as a word', 'NULL'],
    ['nothing', ''],
  ])('%s are stored exactly', async (name, text) => {
    const id = `exact ${name} ${text}`;
    await profiles([profile(id, { name: text, profile_urls: [text, { [text]: text }] })]);
    const loader = await openLoader();
    // One driver removes a BOM at the start of a text, so the length is read too.
    expect((await profileOf(id))['name']?.replace(/^\ufeff/, '')).toBe(text.replace(/^\ufeff/, ''));
    expect(await loader.lengths('microblog_users', { rest_id: id }, ['name'])).toEqual([{ name: text.length }]);
    const urls = await loader.rows('microblog_user_profile_urls', { user_rest_id: id });
    expect(urls.map(({ item }) => JSON.parse(item ?? 'null') as unknown)).toEqual([text, { [text]: text }]);
  });

  it('texts in different normal forms are different keys', async () => {
    await profiles([profile('\u00e9t\u00e9'), profile('e\u0301te\u0301')]);
    expect([await profileOf('\u00e9t\u00e9'), await profileOf('e\u0301te\u0301')]).toHaveLength(2);
  });

  it('"", [], {}, null and absent are five different things', async () => {
    const loader = await openLoader();
    const absences = [{ items: [] }, { items: null }, {}, { items: [''] }, { items: [null] }];
    await loader.take(
      'sec.search.companies',
      { count: 100 },
      absences.map((more, index) => filing('absence', String(index), more)),
    );
    const rows = await loader.rows('sec_filings', { accession_number: 'absence' });
    expect(rows.map(({ items_count }) => items_count)).toEqual(['0', null, null, '1', '1']);
    const items = await loader.rows('sec_filing_items', { filing_accession_number: 'absence' });
    expect(items.map(({ item }) => item)).toEqual(['', null]);
    await profiles([
      profile('absent'),
      profile('null', { description: null, professional: null }),
      profile('empty', { description: '', professional: {} }),
      profile('odd', { description: [], professional: [] }),
      profile('given', { professional: { professional_type: '' } }),
      profile('empty objects', { birthdate: {}, verification_info: {} }),
    ]);
    expect(await profileOf('empty objects')).toMatchObject({
      birthdate_visibility: null,
      verification_info_is_identity_verified: null,
      extra: null,
    });
    const expected = { description: null, professional_professional_type: null, extra: null };
    expect(await profileOf('absent')).toMatchObject(expected);
    expect(await profileOf('null')).toMatchObject(expected);
    expect(await profileOf('empty')).toMatchObject({ ...expected, description: '' });
    expect(await profileOf('odd')).toMatchObject({ ...expected, extra: '{"description": [], "professional": []}' });
    expect(await profileOf('given')).toMatchObject({ ...expected, professional_professional_type: '' });
  });

  it('a default replaces what a full answer leaves out, but not null, and not in a preview', async () => {
    const loader = await openLoader();
    await loader.take('photoshare.user', { user: 'd' }, [
      photoshareUser('default'),
      photoshareUser('nulls', { follower_count: null, is_private: null }),
    ]);
    await loader.take('photoshare.user.posts', { user: 'd', count: 9 }, [
      photosharePost('of a preview', { user: { id: 'preview', name: 'P' } }),
    ]);
    expect(await loader.row('photoshare_users', { id: 'default' })).toMatchObject({
      follower_count: '0',
      is_private: 'false',
      _detail: 'full',
    });
    expect(await loader.row('photoshare_users', { id: 'nulls' })).toMatchObject({
      follower_count: null,
      is_private: null,
    });
    const preview = { follower_count: null, is_verified: null, is_private: null };
    expect(await loader.row('photoshare_users', { id: 'preview' })).toMatchObject({ ...preview, _detail: 'preview' });

    await loader.take('photoshare.user', { user: 'd' }, [
      photoshareUser('preview', { follower_count: 7, is_private: true }),
    ]);
    await loader.take('photoshare.user.posts', { user: 'd', count: 9 }, [
      photosharePost('of a preview', { user: { id: 'preview' } }),
    ]);
    expect(await loader.row('photoshare_users', { id: 'preview' })).toMatchObject({
      follower_count: '7',
      is_private: 'true',
      _detail: 'full',
    });
  });

  it('member_count may be null, -1, 1203.0 or "1,203"; the others in the answer load', async () => {
    const loader = await openLoader();
    const counts = ['null', '-1', '1203.0', '"1,203"', '"9"', '12.6', '1e3'];
    const body = counts.map((count, index) =>
      JSON.stringify(group(`count ${index}`)).replace('"member_count":1', `"member_count":${count}`),
    );
    const { receipt } = await loader.take('pronet.group', { group: 'g' }, `[${body.join(',')}]`);
    expect(receipt).toMatchObject({ received: counts.length, loaded: counts.length });
    const found = await Promise.all(
      counts.map((_, index) => loader.row('pronet_groups', { urn_type: 'group', urn_value: `count ${index}` })),
    );
    expect(found.map((row) => [row['member_count'], row['extra']])).toEqual([
      [null, '{"member_count": null}'],
      ['-1', null],
      ['1203', null],
      [null, '{"member_count": "1,203"}'],
      ['9', null],
      [null, '{"member_count": 12.6}'],
      ['1000', null],
    ]);
  });

  it('counts above int4 and above 2^53 are exact; above int8 they are kept in extra', async () => {
    const counts = [
      '4294967296',
      '9007199254740993',
      '-9223372036854775808',
      '9223372036854775807',
      '9223372036854775808',
    ];
    await profiles(
      `[${counts.map((count, index) => `{"rest_id":"big ${index}","follower_count":${count}}`).join(',')}]`,
    );
    const found = await Promise.all(counts.map((_, index) => profileOf(`big ${index}`)));
    expect(found.map((row) => row['follower_count'])).toEqual([...counts.slice(0, 4), null]);
    expect(found[4]?.['extra']).toBe(`{"follower_count": ${counts[4]}}`);
  });

  it('an id sent as a number above 2^53 is exact text, whichever way it is written', async () => {
    await profiles(
      '[{"rest_id":9007199254740993},{"rest_id":9223372036854775807123},{"rest_id":9007199254740993.0},{"rest_id":1e21},{"rest_id":12}]',
    );
    for (const id of ['9007199254740993', '9223372036854775807123', '1000000000000000000000', '12'])
      expect(await profileOf(id)).toMatchObject({ rest_id: id });
    const loader = await openLoader();
    const all = await loader.rows('microblog_users');
    expect(all.map(({ rest_id: id }) => id).filter((id) => id?.startsWith('900719925474099'))).not.toContain(
      '9007199254740992',
    );
  });

  it('numbers that a double would round are exact in jsonb too', async () => {
    const numbers = [
      '9007199254740993',
      '0.12345678901234567890123',
      '1e400',
      '-1.5E-400',
      '123456789012345678901234567890.5',
    ];
    const loader = await profiles(
      `[{"rest_id":"exact json","profile_urls":[${numbers.join(',')}],"odd":[${numbers.join(',')}]}]`,
    );
    const urls = await loader.rows('microblog_user_profile_urls', { user_rest_id: 'exact json' });
    const plain = [
      '9007199254740993',
      '0.12345678901234567890123',
      `1${'0'.repeat(400)}`,
      `-0.${'0'.repeat(399)}15`,
      '123456789012345678901234567890.5',
    ];
    expect(urls.map(({ item }) => item)).toEqual(plain);
    expect((await profileOf('exact json'))['extra']).toBe(`{"odd": [${plain.join(', ')}]}`);
  });

  it('created_at: 0, seconds, milliseconds, microseconds, negative, after 2038, absurd', async () => {
    const cases: readonly (readonly [epoch: string, at: string | null])[] = [
      ['0', null],
      ['1700000000', '2023-11-14T22:13:20.000000Z'],
      ['1700000000123', '2023-11-14T22:13:20.123000Z'],
      ['1700000000123456', '2023-11-14T22:13:20.123456Z'],
      ['-86400', null],
      ['2500000000', '2049-03-22T04:26:40.000000Z'],
      ['9000000000000000000', null],
    ];
    await profiles(`[${cases.map(([epoch]) => `{"rest_id":"epoch ${epoch}","created_at":${epoch}}`).join(',')}]`);
    const found = await Promise.all(cases.map(([epoch]) => profileOf(`epoch ${epoch}`)));
    expect(found.map((row) => [row['created_at_epoch'], row['created_at'], row['extra']])).toEqual(
      cases.map(([epoch, at]) => [epoch, at, null]),
    );
  });

  it('a birthdate on the 31st of February loads, without a cast', async () => {
    await profiles([profile('birthdate', { birthdate: { day: 31, month: 2 } })]);
    expect(await profileOf('birthdate')).toMatchObject({
      birthdate_day: '31',
      birthdate_month: '2',
      birthdate_year: null,
      birthdate_visibility: '',
      extra: null,
    });
  });

  it.each([
    ['', null],
    ['2024-02-30', null],
    ['2024-02-29', '2024-02-29'],
    ['2023-02-29', null],
    ['31/12/2024', null],
    ['0000-00-00', null],
    ['2999-12-31', '2999-12-31'],
    ['2024-01-01T00:00:00Z', null],
  ])('a period ending %j is a date or null, with what was sent kept', async (sent, date) => {
    const loader = await openLoader();
    await loader.take('sec.search.companies', { count: 100 }, [
      filing('period', sent || 'empty', { period_ending: sent, file_date: '2024-01-01' }),
    ]);
    const row = await loader.row('sec_filings', { accession_number: 'period', file_name: sent || 'empty' });
    expect([row['period_ending'], row['extra'], row['file_date']]).toEqual([
      date,
      date === null ? JSON.stringify({ period_ending: sent }).replace(':', ': ') : null,
      '2024-01-01',
    ]);
  });

  it.each([
    ['2026-11-20T10:00:00.123456+02:00', '2026-11-20T08:00:00.123456Z'],
    ['2026-11-20 10:00:00', '2026-11-20T10:00:00.000000Z'],
    ['2026-02-30T10:00:00Z', null],
    ['2026-13-01T10:00:00Z', null],
    ['0000-01-01T00:00:00Z', null],
    ['yesterday', null],
  ])('an instant %j is to the microsecond, or null with what was sent kept', async (sent, at) => {
    const loader = await openLoader();
    const { batch } = await loader.take('token.requests', {}, [
      logRow(sent.length * 1000 + sent.charCodeAt(6), { started_at: sent }),
    ]);
    const id = batch.roots.get('fact_request_costs')?.[0]?.id ?? '';
    const row = await loader.row('fact_request_costs', { id });
    expect([row['started_at'], row['extra']]).toEqual([at, at === null ? `{"started_at": "${sent}"}` : null]);
  });

  it('one accession with two file names and one file name in two accessions are two rows each', async () => {
    const loader = await openLoader();
    const { receipt } = await loader.take('sec.search.companies', { count: 100 }, [
      filing('one', 'a.htm'),
      filing('one', 'b.htm'),
      filing('two', 'a.htm'),
    ]);
    expect(receipt.loaded).toBe(3);
    expect(await loader.rows('sec_filings', { accession_number: 'one' })).toHaveLength(2);
    expect((await loader.rows('sec_filings', { file_name: 'a.htm' })).map((it) => it['accession_number'])).toEqual([
      'one',
      'two',
    ]);
  });

  it('arrays of a filing are not parallel, and empty elements keep their place', async () => {
    const loader = await openLoader();
    const form4 = filing('form 4', 'f', {
      ciks: ['1', '2'],
      biz_locations: ['', 'Abbott Park, IL'],
      biz_states: ['IL'],
      sics: ['0900'],
      items: ['3.10', '06B', null],
    });
    await loader.take('sec.search.companies', { count: 100 }, [form4]);
    const read = async (table: string, column: string) =>
      (await loader.rows(table, { filing_accession_number: 'form 4' })).map((row) => [row['position'], row[column]]);
    expect(await read('sec_filing_ciks', 'cik')).toEqual([
      ['0', '1'],
      ['1', '2'],
    ]);
    expect(await read('sec_filing_biz_locations', 'biz_location')).toEqual([
      ['0', ''],
      ['1', 'Abbott Park, IL'],
    ]);
    expect(await read('sec_filing_biz_states', 'biz_state')).toEqual([['0', 'IL']]);
    expect(await read('sec_filing_sics', 'sic')).toEqual([['0', '0900']]);
    expect(await read('sec_filing_items', 'item')).toEqual([
      ['0', '3.10'],
      ['1', '06B'],
      ['2', null],
    ]);
  });

  it('the same id twice in one answer is one row, the last', async () => {
    const loader = await openLoader();
    const { receipt } = await loader.take('microblog.user', { user: 'x' }, [
      profile('twice', { name: 'first' }),
      profile('twice', { name: 'last' }),
    ]);
    expect(receipt).toMatchObject({ received: 2, loaded: 1, superseded: 1 });
    expect(await profileOf('twice')).toMatchObject({ name: 'last' });
  });

  it('values that would be equal when joined are distinguished', async () => {
    const loader = await profiles([
      profile('together', { name: 'ab', alias: 'c', url: null, profile_urls: ['1', '23'] }),
    ]);
    const { receipt } = await loader.take('microblog.user', { user: 'x' }, [
      profile('together', { name: 'a', alias: 'bc', url: null, profile_urls: ['1', '23'] }),
    ]);
    expect(receipt).toMatchObject({ loaded: 1 });
    expect(await profileOf('together')).toMatchObject({ name: 'a', alias: 'bc' });
    const again = await loader.take('microblog.user', { user: 'x' }, [
      profile('together', { name: 'a', alias: 'bc', url: null, profile_urls: ['12', '3'] }),
    ]);
    expect(again.receipt).toMatchObject({ loaded: 1 });
  });

  it('ids that differ by case, "1" and "01", and one number under two URN types are two rows each', async () => {
    const loader = await profiles([profile('Case'), profile('case'), profile('1'), profile('01')]);
    for (const id of ['Case', 'case', '1', '01']) expect(await profileOf(id)).toMatchObject({ rest_id: id });
    const { receipt } = await loader.take('pronet.search.users', { count: 9 }, [
      { urn: urn('77') },
      { urn: urn('77', 'member') },
    ]);
    expect(receipt.loaded).toBe(2);
    expect(await loader.rows('pronet_users', { urn_value: '77' })).toHaveLength(2);
  });

  it('a school listed twice, equal in every field, gives the same rows on each run', async () => {
    const loader = await openLoader();
    const school = { company: { name: 'Same', urn: urn('s', 'school') }, major: 'x' };
    const asked = { urn: { type: 'fsd_profile', value: 'twice at school' }, count: 9 };
    expect((await loader.take('pronet.user.education', asked, [school, school])).receipt).toMatchObject({ loaded: 2 });
    const before = await loader.versions();
    expect((await loader.take('pronet.user.education', asked, [school, school])).receipt).toMatchObject({
      unchanged: 2,
      written: {},
    });
    expect(await loader.versions()).toEqual(before);
    expect(await loader.rows('pronet_user_educations', { user_urn_value: 'twice at school' })).toHaveLength(2);
  });

  it('one bad element among good ones is quarantined with its position and reason; the good ones load', async () => {
    const loader = await openLoader();
    const items = [profile('good 1'), null, 'x', { error: 'not found' }, profile('good 2'), { name: 'no key' }];
    const { batch, receipt } = await loader.take('microblog.user', { user: 'x' }, items);
    expect(receipt).toMatchObject({ received: 6, loaded: 2, quarantined: 4 });
    expect(batch.rejects).toEqual([
      { position: 1, pointer: '/1', reason: 'not a MicroblogUser: found null' },
      { position: 2, pointer: '/2', reason: 'not a MicroblogUser: found a string' },
      { position: 3, pointer: '/3', reason: 'not a MicroblogUser: it lacks any field of MicroblogUser' },
      { position: 5, pointer: '/5', reason: 'its key field rest_id is missing, empty or of a wrong type' },
    ]);
  });

  it('an address of 3,600 characters loads, requested or sent', async () => {
    const loader = await openLoader();
    // Random, because Postgres compresses before it measures an index entry.
    const noise = Array.from({ length: 3600 }, (_, index) =>
      ((index * 7919 + index * index * 104_729) % 36).toString(36),
    ).join('');
    const long = `https://long.example/${noise}`.slice(0, 3600);
    const asked = long.slice(0, 2083);
    await loader.take('webparser.parse', { url: asked }, [{ cleaned_html: '', url: long }]);
    expect(await loader.row('web_pages', { requested_url: asked })).toMatchObject({ url: long, cleaned_html: '' });
    await profiles([profile('long', { alias: long, url: long })]);
    expect(await profileOf('long')).toMatchObject({ alias: long });
  });

  it('20 MB of HTML load', async () => {
    const loader = await openLoader();
    const html = `<p class="é">text\n</p>`.repeat(1_000_000);
    expect(Buffer.byteLength(html)).toBeGreaterThan(20_000_000);
    const { receipt } = await loader.take('webparser.parse', { url: 'https://big.example/' }, [
      { cleaned_html: html, url: 'https://big.example/' },
    ]);
    expect(receipt).toMatchObject({ loaded: 1 });
    const row = await loader.row('web_pages', { requested_url: 'https://big.example/' });
    expect(row['cleaned_html'] === html).toBe(true);
  });

  it('5,000 members of one group load', async () => {
    const loader = await openLoader();
    const members = Array.from({ length: 5000 }, (_, index) => ({
      user: { urn: urn(`m${index}`), name: `M${index}` },
      role: 'member',
      joined_at: 1_700_000_000 + index,
    }));
    const { receipt } = await loader.take('pronet.group', { group: 'g' }, [group('large', { members })]);
    expect(receipt.written).toMatchObject({ pronet_group_members: 5000, pronet_users: 5000 });
    expect(await loader.rows('pronet_group_members', { group_urn_value: 'large' })).toHaveLength(5000);
  });

  it('of duplicate JSON keys the last wins; unknown fields and a text where an object is due are kept in extra', async () => {
    const loader = await openLoader();
    await loader.take(
      'photoshare.user',
      { user: 'x' },
      '[{"id":"dup","name":"first","name":"last","location":"London","unknown":{"deep":[1,{"x":null}]},"__proto__":{"polluted":1},"constructor":2}]',
    );
    const row = await loader.row('photoshare_users', { id: 'dup' });
    expect(row).toMatchObject({ name: 'last', location_city: null });
    expect(Object.entries(JSON.parse(row['extra'] ?? '') as object).toSorted()).toEqual([
      ['__proto__', { polluted: 1 }],
      ['constructor', 2],
      ['location', 'London'],
      ['unknown', { deep: [1, { x: null }] }],
    ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('hidden counts are negative, null is not 0, and an empty repost has no text and no counts', async () => {
    const loader = await openLoader();
    const id = (value: string) => ({ urn: urn(value, 'activity'), url: 'u' });
    const empty = {
      ...id('empty'),
      is_empty_repost: true,
      text: null,
      comment_count: null,
      share_count: null,
      created_at: 1_700_000_000,
    };
    const hidden = { ...id('hidden'), comment_count: -1, reactions: [{ type: 'an open word', count: -1 }] };
    await loader.take('pronet.post.reposts', { urn: { type: 'activity', value: 'x' }, count: 9 }, [empty, hidden]);
    const expected = { text: null, comment_count: null, share_count: null, extra: null };
    expect(await loader.row('pronet_posts', { urn_value: 'empty' })).toMatchObject({
      ...expected,
      is_empty_repost: 'true',
    });
    expect(await loader.row('pronet_posts', { urn_value: 'hidden' })).toMatchObject({
      ...expected,
      comment_count: '-1',
      created_at_epoch: '0',
    });
    expect(await loader.rows('pronet_post_reactions', { post_urn_value: 'hidden' })).toMatchObject([
      { type: 'an open word', count: '-1' },
    ]);
    await loader.take('photoshare.user.posts', { user: 'x', count: 9 }, [
      photosharePost('hidden', { like_count: -1, view_count: null }),
    ]);
    expect(await loader.row('photoshare_posts', { id: 'hidden' })).toMatchObject({
      like_count: '-1',
      comment_count: '0',
      view_count: null,
    });
  });

  it('masked people who share name, alias and address are people of their own', async () => {
    const loader = await openLoader();
    const masked = { name: 'A member', alias: 'headless', url: 'https://people.example/headless' };
    const { receipt } = await loader.take('pronet.search.users', { count: 9 }, [
      { urn: urn('masked 1'), ...masked },
      { urn: urn('masked 2'), ...masked },
    ]);
    expect(receipt.loaded).toBe(2);
    expect(await loader.rows('pronet_users', { alias: 'headless' })).toHaveLength(2);
  });

  it.each([
    ['true', true],
    ['1', 1],
    ['null', null],
    ['yes', 'yes'],
  ])('a flag sent as %s is no flag unless it is one', async (_, sent) => {
    await profiles([profile(`flag ${String(sent)} ${typeof sent}`, { verified: sent })]);
    const row = await profileOf(`flag ${String(sent)} ${typeof sent}`);
    const kept = typeof sent === 'boolean' || sent === null ? null : `{"verified": ${JSON.stringify(sent)}}`;
    expect([row['verified'], row['extra']]).toEqual([sent === true ? 'true' : null, kept]);
  });

  it('items of undocumented lists are any JSON, nulls and empty objects among them', async () => {
    const loader = await openLoader();
    const any = ['text', null, {}, [], 0, false, '', { url: 'x', nested: [[]] }];
    await loader.take('photoshare.user', { user: 'x' }, [photoshareUser('any', { links: any, hashtags: [null] })]);
    const rows = await loader.rows('photoshare_user_links', { user_id: 'any' });
    expect(rows.map(({ item }) => JSON.parse(item ?? '"absent"') as unknown)).toEqual(any);
    expect(await loader.row('photoshare_users', { id: 'any' })).toMatchObject({
      links_count: '8',
      hashtags_count: '1',
      mentions_count: null,
    });
  });

  it('another @type never refuses an item; it is kept, and counted', async () => {
    const loader = await openLoader();
    const { batch } = await loader.take('microblog.user', { user: 'x' }, [
      profile('typed', { '@type': 'MicroblogUserV2' }),
      profile('tagged', { '@type': '@microblog_user' }),
    ]);
    expect(await profileOf('typed')).toMatchObject({ extra: '{"@type": "MicroblogUserV2"}' });
    expect(await profileOf('tagged')).toMatchObject({ extra: null });
    expect(batch.drift).toContainEqual({
      resource: 'MicroblogUser',
      path: '@type',
      kind: 'other @type',
      count: 1,
      sampleType: 'string',
    });
  });
}
