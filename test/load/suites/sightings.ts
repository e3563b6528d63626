/** Entities seen from several places: one row, which a lesser or older sighting never makes poorer. */
import { describe, expect, it } from 'vitest';
import { type Loader, receivedAt } from '../../support/loading.ts';
import { group, photosharePost, photoshareUser, urn } from '../items.ts';

const post = (value: string, more: object = {}): object => ({
  urn: urn(value, 'activity'),
  url: 'https://posts.example/',
  ...more,
});
const REPOSTS = { urn: { type: 'activity', value: 'sighted' }, count: 99 };

export function sightingsSuite(openLoader: () => Promise<Loader>): void {
  const reposts = async (...items: readonly object[]) =>
    (await openLoader()).take('pronet.post.reposts', REPOSTS, items);
  const person = async (value: string) =>
    (await openLoader()).row('pronet_users', { urn_type: 'fsd_profile', urn_value: value });
  const postRow = async (value: string) =>
    (await openLoader()).row('pronet_posts', { urn_type: 'activity', urn_value: value });

  it('a preview fills what is null and erases nothing; a full one writes its nulls too', async () => {
    const loader = await openLoader();
    const full = { urn: urn('s1'), name: 'Full', alias: 'a', url: 'u', headline: null, location: 'Berlin' };
    await loader.take('pronet.search.users', { count: 9 }, [full]);
    await reposts(post('by s1', { author: { urn: urn('s1'), name: 'Preview', headline: 'H', image: null } }));
    expect(await person('s1')).toMatchObject({
      name: 'Full',
      headline: 'H',
      location: 'Berlin',
      open_to_work: 'false',
      _detail: 'full',
    });
    await loader.take('pronet.search.users', { count: 9 }, [full]);
    expect(await person('s1')).toMatchObject({ name: 'Full', headline: null });
  });

  it('a preview fills no time of an epoch that a full one reported: both columns hold one value', async () => {
    const loader = await openLoader();
    const timed = async (full: object) => {
      await reposts(post('timed', full));
      await reposts(post('repeats timed', { repost: post('timed', { created_at: 1_700_000_000 }) }));
      const { created_at, created_at_epoch } = await loader.row('pronet_posts', { urn_value: 'timed' });
      return [created_at, created_at_epoch];
    };
    expect(await timed({})).toEqual([null, '0']);
    expect(await timed({ created_at: -1 })).toEqual([null, '-1']);
    expect(await timed({ created_at: null })).toEqual(['2023-11-14T22:13:20.000000Z', '1700000000']);
  });

  it('of equal detail the newer one writes what it reports, and leaves what it does not', async () => {
    await reposts(post('by s2', { author: { urn: urn('s2'), name: 'One', headline: 'H' } }));
    await reposts(post('by s2', { author: { urn: urn('s2'), name: 'Two', headline: null } }));
    expect(await person('s2')).toMatchObject({ name: 'Two', headline: 'H', _detail: 'preview' });
    const loader = await openLoader();
    await loader.take('pronet.group', { group: 'g' }, [
      group('g2', { members: [{ user: { urn: urn('s2'), headline: 'Member' } }] }),
    ]);
    expect(await person('s2')).toMatchObject({ name: 'Two', headline: 'Member' });
    await reposts(post('mentions s2', { mentioned: [{ urn: urn('s2'), name: 'Reference' }] }));
    expect(await person('s2')).toMatchObject({ name: 'Two', _detail: 'preview' });
  });

  it('a fuller sighting that says nothing else still raises the detail, and is no change', async () => {
    const loader = await openLoader();
    const school = { urn: urn('s3', 'fsd_company'), name: 'School', url: 'u', alias: 'a' };
    await reposts(post('mentions s3', { mentioned: [school] }));
    const row = () => loader.row('pronet_companies', { urn_value: 's3' });
    const before = await row();
    expect(before['_detail']).toBe('reference');
    const { answerId } = await loader.take(
      'pronet.user.education',
      { urn: { type: 'fsd_profile', value: 'p' }, count: 9 },
      [{ company: school }],
    );
    expect(await row()).toMatchObject({
      ...before,
      _detail: 'full',
      _answer_id: String(answerId),
      _part_hashes: expect.any(String),
    });

    const request = { user: 'detail', count: 9 };
    const same = photosharePost('s4', {
      like_count: 1,
      comment_count: 0,
      reshare_count: 0,
      carousel_media_count: 0,
      is_paid_partnership: false,
    });
    await loader.take('photoshare.user', { user: 'detail', with_posts: true }, [
      photoshareUser('detail', { posts: [same] }),
    ]);
    const { receipt } = await loader.take('photoshare.user.posts', request, [same]);
    expect(receipt).toMatchObject({ received: 1, loaded: 0, unchanged: 1 });
    expect(await loader.row('photoshare_posts', { id: 's4' })).toMatchObject({
      _detail: 'full',
      _changed_at: receivedAt(answerId + 1),
    });
    const versions = await loader.versions();
    expect((await loader.take('photoshare.user.posts', request, [same])).receipt).toMatchObject({
      unchanged: 1,
      written: {},
    });
    expect(await loader.versions()).toEqual(versions);
  });

  it('an older one that reports more is not lost to a newer one that was loaded before it', async () => {
    const loader = await openLoader();
    const preview = { urn: urn('s5'), name: 'Preview', headline: 'H', alias: null };
    const reference = { urn: urn('s5'), name: 'Reference', alias: 'a' };
    const { answerId } = await reposts(post('by s5', { author: preview }));
    await reposts(post('mentions s5', { mentioned: [reference] }));
    const inOrder = await person('s5');
    expect(inOrder).toMatchObject({ name: 'Preview', headline: 'H', alias: 'a', _detail: 'preview' });

    const other = (of: object): object => ({ ...of, urn: urn('s6') });
    await loader.take('pronet.post.reposts', REPOSTS, [post('mentions s6', { mentioned: [other(reference)] })], {
      answerId: answerId + 9,
    });
    const late = await loader.take('pronet.post.reposts', REPOSTS, [post('by s6', { author: other(preview) })], {
      answerId: answerId + 8,
    });
    expect(late.receipt).toMatchObject({ received: 1, loaded: 1 });
    const contentOf = (row: Readonly<Record<string, string | null>>) =>
      Object.fromEntries(
        Object.entries(row).filter(([name]) => name !== 'urn_value' && (name === '_detail' || !name.startsWith('_'))),
      );
    expect(contentOf(await person('s6'))).toEqual(contentOf(inOrder));
    // An older observation of the same or less detail changes nothing, and neither does a replay.
    await loader.take('pronet.post.reposts', REPOSTS, [post('by s6', { author: { urn: urn('s6'), name: 'Older' } })], {
      answerId: answerId + 7,
    });
    expect(contentOf(await person('s6'))).toEqual(contentOf(inOrder));
    const versions = await loader.versions();
    await loader.take('pronet.post.reposts', REPOSTS, [post('by s6', { author: other(preview) })], {
      answerId: answerId + 8,
    });
    await loader.take('pronet.post.reposts', REPOSTS, [post('mentions s6', { mentioned: [other(reference)] })], {
      answerId: answerId + 9,
    });
    expect(await loader.versions()).toEqual(versions);
  });

  it('a preview beside a full one in an answer that does not report a list leaves the stored list', async () => {
    const loader = await openLoader();
    const listed = (more: object): object => post('listed', { text: 'same', ...more });
    const stored = async () => ({
      ...(await postRow('listed')),
      mentions: await loader.rows('pronet_post_mentions', { post_urn_value: 'listed' }),
    });
    const first = [listed({ mentioned: [{ name: 'M' }], images: ['i'] })];
    const { answerId } = await reposts(...first);
    const before = await stored();
    expect(before).toMatchObject({ mentioned_count: '1', mentions: [{ name: 'M' }] });
    const empty = listed({ mentioned: [], images: [] });
    for (const items of [
      [listed({}), post('repeats listed', { repost: empty })],
      [post('repeats listed', { repost: empty }), listed({})],
    ]) {
      await reposts(...items);
      expect(await stored()).toEqual(before);
    }
    await loader.take('pronet.post.reposts', REPOSTS, first, { answerId });
    expect(await loader.rows('pronet_post_changes', { post_urn_value: 'listed' })).toEqual([]);
  });

  it('a preview of a profile never writes a count', async () => {
    const loader = await openLoader();
    await loader.take('photoshare.user', { user: 'x' }, [
      photoshareUser('counted', { follower_count: 5, media_count: 9 }),
    ]);
    await loader.take('photoshare.user.posts', { user: 'x', count: 9 }, [
      photosharePost('counting', { user: { id: 'counted', name: 'P', follower_count: 1 } }),
    ]);
    expect(await loader.row('photoshare_users', { id: 'counted' })).toMatchObject({
      follower_count: '5',
      media_count: '9',
      name: 'n',
    });
    expect(await loader.row('photoshare_posts', { id: 'counting' })).toMatchObject({
      user_name: 'P',
      extra: '{"user": {"follower_count": 1}}',
    });
  });

  it('authors and mentions are companies by the type of their URN, else people; without a URN they get no row', async () => {
    const loader = await openLoader();
    const types = ['fsd_company', 'company', 'school', 'fsd_profile', 'member', ''];
    await reposts(
      ...types.map((type) => post(`by type ${type}`, { author: { urn: urn(`typed ${type}`, type) } })),
      post('by nobody', {
        author: { name: 'Nobody' },
        mentioned: [{ name: 'Nobody' }, { urn: urn('m', 'school') }, { urn: urn('m') }, 'text', null],
      }),
    );
    const found = async (table: string) =>
      (await loader.rows(table)).flatMap((row) => (row['urn_value']?.startsWith('typed ') ? [row['urn_type']] : []));
    expect((await found('pronet_companies')).toSorted()).toEqual(['company', 'fsd_company', 'school']);
    expect((await found('pronet_users')).toSorted()).toEqual(['fsd_profile', 'member']);
    const mentions = await loader.rows('pronet_post_mentions', { post_urn_value: 'by nobody' });
    expect(mentions.map(({ position, kind, name }) => [position, kind, name])).toEqual([
      ['0', null, 'Nobody'],
      ['1', 'company', null],
      ['2', 'user', null],
    ]);
    expect(await postRow('by nobody')).toMatchObject({
      mentioned_count: '5',
      extra: '{"mentioned": {"3": "text", "4": null}}',
    });
  });

  it('what can’t be keyed goes to its parent’s extra under its path', async () => {
    const loader = await openLoader();
    const members = [
      { user: { urn: urn('k1') }, role: 'owner' },
      { user: { name: 'no urn' } },
      'odd',
      { user: { urn: urn('') } },
    ];
    await loader.take('pronet.group', { group: 'g' }, [
      group('unkeyed', { members, industries: [urn('i', 'industry'), {}, null] }),
    ]);
    expect(await loader.rows('pronet_group_members', { group_urn_value: 'unkeyed' })).toHaveLength(1);
    const row = await loader.row('pronet_groups', { urn_value: 'unkeyed' });
    expect(JSON.parse(row['extra'] ?? '')).toEqual({
      members: { 1: members[1], 2: 'odd', 3: members[3] },
      industries: { 1: {}, 2: null },
    });
    expect(row).toMatchObject({ members_count: '4', industries_count: '3' });
  });

  it.each([
    ['empty', ''],
    ['longer than a key can be', 'x'.repeat(5000)],
  ])('a reference that is %s refers to nothing: its row loads, and what was sent is kept', async (_, value) => {
    const loader = await openLoader();
    const id = `referring ${value.length}`;
    await loader.take('photoshare.user.posts', { user: 'x', count: 9 }, [
      photosharePost(id, { user: { id: value, name: 'N', odd: 1 } }),
    ]);
    const found = await loader.row('photoshare_posts', { id });
    expect(found).toMatchObject({ user_id: null, user_name: 'N' });
    expect(JSON.parse(found['extra'] ?? '')).toEqual({ user: { id: value, odd: 1 } });

    const company = {
      name: 'C',
      urn: urn(value, 'company'),
      industry: urn(value, 'industry'),
      industry_full: { urn: urn(value, 'industry'), name: 'I' },
    };
    const { batch } = await loader.take(
      'pronet.user.education',
      { urn: { type: 'fsd_profile', value: id }, count: 9 },
      [{ company }],
    );
    const education = await loader.row('pronet_user_educations', { user_urn_value: id });
    expect(education).toMatchObject({
      company_name: 'C',
      company_urn_type: null,
      company_urn_value: null,
      company_industry_type: null,
      company_industry_full_name: 'I',
    });
    expect(JSON.parse(education['extra'] ?? '')).toEqual({
      company: { urn: company.urn, industry: company.industry, industry_full: { urn: company.industry } },
    });
    expect(batch.drift).toContainEqual(expect.objectContaining({ path: 'company', kind: 'wrong type' }));
  });

  it('keys as long as allowed load in every table that refers to them; longer ones are quarantined', async () => {
    const loader = await openLoader();
    // Random, because Postgres compresses before it measures an index entry.
    const noise = (length: number, seed: number): string => {
      let state = seed;
      return Array.from({ length }, () =>
        String.fromCharCode(97 + (((state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) >>> 16) % 26)),
      ).join('');
    };
    const longest = 640;
    const keyed = { type: noise(longest, 1), value: noise(longest, 2) };
    const member = { user: { urn: { type: noise(longest, 3), value: noise(longest, 4) } } };
    const { receipt } = await loader.take('pronet.group', { group: 'g' }, [
      { ...group(''), urn: keyed, members: [member] },
      { ...group(''), urn: urn(noise(longest + 1, 5)) },
    ]);
    expect(receipt).toMatchObject({ loaded: 1, quarantined: 1, written: { pronet_group_members: 1 } });
    const request = { urn: { type: 'activity', value: noise(longest, 6) }, count: 9 };
    expect(
      (await loader.take('pronet.post.reposts', request, [{ urn: keyed, repost: { urn: member.user.urn } }])).receipt
        .loaded,
    ).toBe(1);
  });

  describe('reposts', () => {
    it('with a URN are rows of their own, to any depth', async () => {
      await reposts(post('d0', { repost: post('d1', { text: 'one', repost: post('d2', { text: 'two' }) }) }));
      expect(await postRow('d0')).toMatchObject({ repost_urn_value: 'd1', _detail: 'full' });
      expect(await postRow('d1')).toMatchObject({ repost_urn_value: 'd2', text: 'one', _detail: 'preview' });
      expect(await postRow('d2')).toMatchObject({ repost_urn_value: null, text: 'two' });
    });

    it.each([
      ['a text'],
      [{}],
      [{ text: 'only a text', author: { urn: { type: 'fsd_profile', value: 'quoted' } } }],
      [7],
      [[]],
    ])('without a URN stay in extra: %j', async (repost) => {
      const id = `keyless ${JSON.stringify(repost)}`;
      await reposts(post(id, { repost }));
      const row = await postRow(id);
      expect(row).toMatchObject({ repost_urn_type: null, repost_urn_value: null });
      expect(JSON.parse(row['extra'] ?? '')).toEqual({ repost });
    });

    it('may be new when the post that repeats them is not', async () => {
      await reposts(post('grows'));
      await reposts(post('grows', { repost: post('grown') }));
      expect(await postRow('grows')).toMatchObject({ repost_urn_value: 'grown' });
      await reposts(post('grows', { repost: post('grown again', { repost: post('grows') }) }));
      expect(await postRow('grown again')).toMatchObject({ repost_urn_value: 'grows' });
    });

    it('may repeat themselves', async () => {
      await reposts(post('self', { text: 'full', repost: post('self', { text: 'preview', video_url: 'v' }) }));
      expect(await postRow('self')).toMatchObject({
        text: 'full',
        video_url: null,
        repost_urn_value: 'self',
        _detail: 'full',
      });
    });
  });

  it('numbers beyond 2^53 in extra survive a lesser sighting, which then is no change', async () => {
    const loader = await openLoader();
    await loader.take(
      'pronet.search.users',
      { count: 9 },
      '[{"urn":{"type":"fsd_profile","value":"big"},"name":"B","x":[9007199254740993,1e30,0.1234567890123456789,1e-7]}]',
    );
    const before = await person('big');
    expect(before['extra']).toBe(
      '{"x": [9007199254740993, 1000000000000000000000000000000, 0.1234567890123456789, 0.0000001]}',
    );
    await reposts(post('by big', { author: { urn: urn('big'), name: 'Lesser' } }));
    expect(await person('big')).toEqual(before);
  });

  it('texts that begin with a BOM survive a lesser sighting, as keys too', async () => {
    const loader = await openLoader();
    const people = [{ urn: urn('\ufeffbom'), name: '\ufeffB', headline: null }];
    await loader.take('pronet.search.users', { count: 9 }, people);
    await reposts(post('by bom', { author: { urn: urn('\ufeffbom'), headline: '\ufeffH' } }));
    const { receipt } = await loader.take('pronet.search.users', { count: 9 }, [{ ...people[0], headline: '\ufeffH' }]);
    expect(receipt).toMatchObject({ unchanged: 1, written: {} });
    // One driver removes a BOM at the start of a text, so the lengths are read.
    const found = await loader.lengths('pronet_users', { name: '\ufeffB' }, ['urn_value', 'name', 'headline']);
    expect(found).toEqual([{ urn_value: 4, name: 2, headline: 2 }]);
  });
}
