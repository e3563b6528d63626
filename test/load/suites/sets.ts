/** Sets that belong to a question: what a complete answer replaces and a truncated one only adds to. */
import { describe, expect, it } from 'vitest';
import type { Loader } from '../../support/loading.ts';
import { group, photosharePost, photoshareUser, urn } from '../items.ts';

export function setsSuite(openLoader: () => Promise<Loader>): void {
  describe('educations of a person', () => {
    const school = (name: string): object => ({ company: { name }, major: name });
    const begin = async (person: string) => {
      const loader = await openLoader();
      const requestOf = (count: number) => ({ urn: { type: 'fsd_profile', value: person }, count });
      return {
        take: (count: number, items: readonly unknown[], answerId?: number, isSetReplaced = false) =>
          loader.take('pronet.user.education', requestOf(count), items, {
            isSetReplaced,
            ...(answerId !== undefined && { answerId }),
          }),
        majors: async () =>
          (await loader.rows('pronet_user_educations', { user_urn_value: person })).map(({ major }) => major),
      };
    };

    it('a shorter answer replaces the set, an empty one empties it', async () => {
      const it = await begin('replaced');
      await it.take(9, ['a', 'b', 'c'].map(school));
      expect((await it.take(9, ['a', 'x'].map(school))).receipt).toMatchObject({
        received: 2,
        loaded: 1,
        changed: 1,
        unchanged: 1,
      });
      expect(await it.majors()).toEqual(['a', 'x']);
      expect((await it.take(9, [])).receipt).toEqual({
        received: 0,
        loaded: 0,
        changed: 0,
        unchanged: 0,
        superseded: 0,
        quarantined: 0,
        written: { pronet_user_educations: 2 },
      });
      expect(await it.majors()).toEqual([]);
    });

    it('an answer as long as requested, or longer, overwrites and adds, and deletes nothing', async () => {
      const it = await begin('truncated');
      await it.take(9, ['a', 'b', 'c'].map(school));
      await it.take(2, ['x', 'y'].map(school));
      expect(await it.majors()).toEqual(['x', 'y', 'c']);
      await it.take(1, ['q', 'r'].map(school));
      expect(await it.majors()).toEqual(['q', 'r', 'c']);
    });

    it('an answer with something in quarantine is not known to be complete, and deletes nothing', async () => {
      const it = await begin('half understood');
      await it.take(9, ['a', 'b', 'c'].map(school));
      expect((await it.take(9, [school('x'), { error: 'try later' }])).receipt).toMatchObject({
        loaded: 1,
        quarantined: 1,
      });
      expect(await it.majors()).toEqual(['x', 'b', 'c']);
      expect((await it.take(9, [{ error: 'try later' }])).receipt).toMatchObject({ quarantined: 1 });
      expect(await it.majors()).toEqual(['x', 'b', 'c']);
    });

    it('an older answer does not overwrite, add or delete', async () => {
      const it = await begin('older');
      const { answerId } = await it.take(9, ['a', 'b'].map(school), 200_000);
      expect((await it.take(9, ['x', 'y', 'z'].map(school), answerId - 1)).receipt).toMatchObject({
        received: 3,
        superseded: 3,
      });
      expect((await it.take(9, [], answerId - 2)).receipt).toMatchObject({ received: 0 });
      expect(await it.majors()).toEqual(['a', 'b']);
    });

    it('an older answer whose set was replaced brings no row back, although no newer row shows it', async () => {
      const it = await begin('emptied');
      const { answerId } = await it.take(9, ['a', 'b'].map(school));
      await it.take(9, []);
      expect((await it.take(9, ['a', 'b'].map(school), answerId, true)).receipt).toMatchObject({
        received: 2,
        superseded: 2,
        written: {},
      });
      expect(await it.majors()).toEqual([]);
    });
  });

  describe('hits of a search', () => {
    const people = (...names: string[]): object[] => names.map((name) => ({ urn: urn(name), name }));
    const hitsOf = async (sync: string) =>
      (await (await openLoader()).rows('pronet_user_search_hits', { sync }))
        .map((row) => `${row['position']} ${row['user_urn_value']}`)
        .toSorted();
    const search = async (
      sync: string,
      count: number,
      items: readonly object[],
      answerId?: number,
      isSetReplaced = false,
    ) =>
      (await openLoader()).take('pronet.search.users', { title: 'hits', count }, items, {
        sync,
        isSetReplaced,
        ...(answerId !== undefined && { answerId }),
      });

    it('are kept by sync and search, move with the answer, and go with a complete one', async () => {
      await search('searching', 9, people('h1', 'h2', 'h3'));
      await search('another', 9, people('h1'));
      expect(await hitsOf('searching')).toEqual(['0 h1', '1 h2', '2 h3']);
      await search('searching', 9, people('h3', 'h1'));
      expect(await hitsOf('searching')).toEqual(['0 h3', '1 h1']);
      await search('searching', 9, []);
      expect(await hitsOf('searching')).toEqual([]);
      expect(await hitsOf('another')).toEqual(['0 h1']);
      for (const name of ['h1', 'h2', 'h3'])
        expect(await (await openLoader()).rows('pronet_users', { urn_value: name })).toHaveLength(1);
    });

    it('are only added to by an answer as long as requested, or with something in quarantine', async () => {
      await search('adding', 9, people('h1', 'h2'));
      await search('adding', 9, [...people('h9'), { error: 'x' }]);
      expect(await hitsOf('adding')).toEqual(['0 h1', '0 h9', '1 h2']);
      // The requested count is part of the question, so the truncated question is a different one.
      await search('truncated', 2, people('h1', 'h2'));
      await search('truncated', 2, people('h4', 'h5'));
      expect(await hitsOf('truncated')).toEqual(['0 h1', '0 h4', '1 h2', '1 h5']);
    });

    it('stay when an older answer comes late, and writing the same again writes nothing', async () => {
      const { answerId } = await search('late', 9, people('h1'), 200_100);
      await search('late', 9, people('h2', 'h3'), answerId - 1);
      expect(await hitsOf('late')).toEqual(['0 h1']);
      expect((await search('late', 9, people('h1'))).receipt.written).toEqual({});
    });

    it('stay removed when an answer whose set was replaced is loaded again', async () => {
      const { answerId } = await search('removed', 9, people('h1', 'h2'));
      await search('removed', 9, people('h1'));
      await search('removed', 9, people('h1', 'h2'), answerId, true);
      expect(await hitsOf('removed')).toEqual(['0 h1']);
    });
  });

  it('the count of a list with keys is the number of its different elements, so it changes with them', async () => {
    const loader = await openLoader();
    const [a, b] = ['a', 'b'].map((name) => ({ user: { urn: urn(name) }, role: 'member' }));
    const industry = urn('i', 'industry');
    const takeGroup = async (members: unknown[], industries: unknown[]) => {
      const { receipt } = await loader.take('pronet.group', { group: 'g' }, [
        group('counted', { members, industries }),
      ]);
      const row = await loader.row('pronet_groups', { urn_value: 'counted' });
      return [receipt.loaded, row['members_count'], row['industries_count']];
    };
    expect(await takeGroup([a, a], [industry, industry])).toEqual([1, '1', '1']);
    expect(await takeGroup([a], [industry])).toEqual([0, '1', '1']);
    expect(await takeGroup([a, b, a, { user: { name: 'no urn' } }], [])).toEqual([1, '3', '0']);
  });

  it('reposts are linked to the requested post, which needs no row', async () => {
    const loader = await openLoader();
    const request = { urn: { type: 'activity', value: 'requested post' }, count: 9 };
    await loader.take('pronet.post.reposts', request, [{ urn: urn('r1', 'activity') }, { urn: urn('r2', 'activity') }]);
    await loader.take('pronet.post.reposts', request, [{ urn: urn('r2', 'activity') }]);
    const rows = await loader.rows('pronet_post_reposts', { post_urn_value: 'requested post' });
    expect(rows).toMatchObject([
      { post_urn_type: 'activity', repost_urn_type: 'activity', repost_urn_value: 'r2', position: '0' },
    ]);
    expect(await loader.rows('pronet_posts', { urn_value: 'requested post' })).toEqual([]);
  });

  it('posts of a profile come from either endpoint; the recent ones inside a profile delete nothing', async () => {
    const loader = await openLoader();
    const posts = ['p1', 'p2', 'p3'].map((id) => photosharePost(id, { user: { id: 'poster' } }));
    await loader.take('photoshare.user.posts', { user: 'Poster', count: 9 }, posts);
    await loader.take('photoshare.user', { user: 'Poster', with_posts: true }, [
      photoshareUser('poster', { posts: [photosharePost('p4')] }),
    ]);
    const tied = async () =>
      (await loader.rows('photoshare_user_posts', { user_asked: 'Poster' })).map((row) => [
        row['post_id'],
        row['user_id'],
        row['position'],
      ]);
    expect(await tied()).toEqual([
      ['p1', 'poster', '0'],
      ['p2', 'poster', '1'],
      ['p3', 'poster', '2'],
      ['p4', 'poster', '0'],
    ]);
    await loader.take('photoshare.user.posts', { user: 'Poster', count: 9 }, posts.slice(1));
    expect(await tied()).toEqual([
      ['p2', 'poster', '0'],
      ['p3', 'poster', '1'],
    ]);
    await loader.take('photoshare.user.posts', { user: 'Poster', count: 9 }, [photosharePost('p3')]);
    expect(await tied(), 'an item without its user').toEqual([['p3', 'poster', '0']]);
    await loader.take('photoshare.user', { user: 'Poster', with_posts: true }, [
      photoshareUser('poster', { posts: [photosharePost('p5', { user: { id: 'guest' } })] }),
    ]);
    expect(await tied(), 'a post of another author').toEqual([
      ['p3', 'poster', '0'],
      ['p5', 'poster', '0'],
    ]);
  });

  it('a question longer than a key can be is kept by its digest', async () => {
    const loader = await openLoader();
    const user = `https://photos.example/${'ü'.repeat(2000)}`;
    await loader.take('photoshare.user.posts', { user, count: 9 }, [photosharePost('of a long question')]);
    const rows = await loader.rows('photoshare_user_posts', { post_id: 'of a long question' });
    expect(rows).toMatchObject([{ user_asked: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), user_id: null }]);
  });
}
