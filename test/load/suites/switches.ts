/** Under a request switch that is off, null and empty mean "not requested"; a value always counts. */
import { describe, expect, it } from 'vitest';
import type { Loader } from '../../support/loading.ts';
import { photosharePost, photoshareUser } from '../items.ts';

export function switchesSuite(openLoader: () => Promise<Loader>): void {
  describe('photoshare.user', () => {
    const reported = {
      created_at: 1_700_000_000,
      similar_users: [{ id: 's' }],
      posts: [photosharePost('switched 1'), photosharePost('switched 2')],
    };
    const nothing = [
      { created_at: null, similar_users: null, posts: null },
      { created_at: null, similar_users: [], posts: [] },
      {},
    ];

    it('with everything off, nothing reported before is touched', async () => {
      const loader = await openLoader();
      const on = { user: 'switched', with_posts: true, with_similar_users: true, with_creation_date: true };
      await loader.take('photoshare.user', on, [photoshareUser('switched', reported)]);
      const before = await loader.versions();
      const off = { user: 'switched', with_posts: false, with_similar_users: false, with_creation_date: false };
      for (const more of nothing) {
        const { receipt } = await loader.take('photoshare.user', off, [photoshareUser('switched', more)]);
        expect(receipt).toMatchObject({ unchanged: 1, written: {} });
      }
      expect(await loader.versions()).toEqual(before);
      expect(await loader.row('photoshare_users', { id: 'switched' })).toMatchObject({
        posts_count: '2',
        similar_users_count: '1',
        created_at_epoch: '1700000000',
      });
    });

    it('with everything off, a value counts all the same', async () => {
      const loader = await openLoader();
      const off = { user: 'switched off', with_posts: false, with_similar_users: false, with_creation_date: false };
      await loader.take('photoshare.user', off, [photoshareUser('switched off', reported)]);
      expect(await loader.row('photoshare_users', { id: 'switched off' })).toMatchObject({
        posts_count: '2',
        similar_users_count: '1',
        created_at_epoch: '1700000000',
      });
    });

    it('from the start, not requested is null and none is 0', async () => {
      const loader = await openLoader();
      const user = (id: string): object => photoshareUser(id, { similar_users: [], posts: [] });
      await loader.take('photoshare.user', { user: 'x', with_posts: true, with_similar_users: false }, [
        user('asked for posts'),
      ]);
      await loader.take('photoshare.user', { user: 'x', with_posts: false, with_similar_users: true }, [
        user('asked for others'),
      ]);
      expect(await loader.row('photoshare_users', { id: 'asked for posts' })).toMatchObject({
        posts_count: '0',
        similar_users_count: null,
      });
      expect(await loader.row('photoshare_users', { id: 'asked for others' })).toMatchObject({
        posts_count: null,
        similar_users_count: '0',
      });
    });

    it('with everything on, empty is none and null of a date is null', async () => {
      const loader = await openLoader();
      const on = { user: 'emptied', with_posts: true, with_similar_users: true, with_creation_date: true };
      await loader.take('photoshare.user', on, [photoshareUser('emptied', reported)]);
      await loader.take('photoshare.user', on, [
        photoshareUser('emptied', { created_at: null, similar_users: [], posts: [] }),
      ]);
      expect(await loader.row('photoshare_users', { id: 'emptied' })).toMatchObject({
        posts_count: '0',
        similar_users_count: '0',
        created_at_epoch: null,
      });
      expect(await loader.rows('photoshare_user_similar_users', { user_id: 'emptied' })).toEqual([]);
    });
  });

  describe('webparser.parse', () => {
    const contacts = { links: ['https://a.example/'], emails: ['a@example.com'], phones: ['+1'] };
    const page = (more: object): object => ({ cleaned_html: 'x', url: 'https://page.example/', ...more });
    const counts = (links: string | null, emails: string | null, phones: string | null): object => ({
      links_count: links,
      emails_count: emails,
      phones_count: phones,
    });

    it.each([
      [{}, counts(null, null, null)],
      [{ extract_minimal: true }, counts('0', null, null)],
      [{ extract_contacts: true }, counts('0', '0', '0')],
    ])('requested with %j, empty lists count as reported', async (options, expected) => {
      const loader = await openLoader();
      const url = `https://page.example/${JSON.stringify(options).length}`;
      await loader.take('webparser.parse', { url, ...options }, [page({ links: [], emails: [], phones: [] })]);
      expect(await loader.row('web_pages', { requested_url: url })).toMatchObject(expected);
      await loader.take('webparser.parse', { url, ...options }, [page(contacts)]);
      expect(await loader.row('web_pages', { requested_url: url })).toMatchObject(counts('1', '1', '1'));
      await loader.take('webparser.parse', { url, ...options }, [page({ links: [], emails: [], phones: [] })]);
      const emptied = Object.fromEntries(
        Object.entries(expected).map(([name, count]: [string, unknown]) => [name, count ?? '1']),
      );
      expect(await loader.row('web_pages', { requested_url: url })).toMatchObject(emptied);
    });

    it('the key is the requested address with the content options, whether or not defaults are written', async () => {
      const loader = await openLoader();
      const url = 'https://key.example/';
      await loader.take('webparser.parse', { url }, [page({ url: 'https://redirected.example/' })]);
      await loader.take('webparser.parse', { url, remove_comments: true, timeout: 20, include_tags: null }, [
        page({ title: 'same' }),
      ]);
      expect(await loader.row('web_pages', { requested_url: url })).toMatchObject({
        title: 'same',
        url: 'https://page.example/',
        options: '{}',
      });
      await loader.take('webparser.parse', { url, only_main_content: true, exclude_tags: ['nav', 'a'] }, [page({})]);
      const rows = await loader.rows('web_pages', { requested_url: url });
      expect(rows.map(({ options }) => options).toSorted()).toEqual([
        '{"exclude_tags": ["a", "nav"], "only_main_content": true}',
        '{}',
      ]);
      for (const { page_key: key } of rows) expect(key).toMatch(/^[0-9a-f]{64}$/);
    });
  });
}
