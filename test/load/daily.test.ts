/** The numbers of each day, in whatever order the answers with them arrive. */
import { sql } from 'kysely';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeDailyRows } from '../../src/load/history/daily.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { select } from '../flow/rows.ts';
import { type Answer, answerOf, onRows, seenIn, tableNamed } from './history.ts';

const MICROBLOG = tableNamed('microblog_users');
const POSTS = tableNamed('photoshare_posts');
const USERS = tableNamed('photoshare_users');
const PRONET = tableNamed('pronet_posts');

/** Loads answers together. */
const keep = (warehouse: Warehouse, table: typeof POSTS, ...answers: readonly Answer[]): Promise<void> =>
  keepAs(new Set(), warehouse, table, ...answers);

/** The same, for entities of which these were added a moment ago. */
async function keepAs(
  added: ReadonlySet<string>,
  warehouse: Warehouse,
  table: typeof POSTS,
  ...answers: readonly Answer[]
): Promise<void> {
  const seen = seenIn(table, answers);
  await onRows(warehouse, table, seen.keys(), (run) =>
    writeDailyRows({ executor: run, table, contexts: answers.map(({ by }) => by) }, seen, added),
  );
}

const microblogger = (id: number, at: string, more: Readonly<Record<string, unknown>>): Answer =>
  answerOf(id, at, 'microblog.user', [{ rest_id: '1', ...more }], { user: 'x' });
const posts = (id: number, at: string, ...items: readonly unknown[]): Answer =>
  answerOf(id, at, 'photoshare.user.posts', items, { user: 'x', count: 50 });
/** Posts inside a profile are previews. */
const profile = (id: number, at: string, ...items: readonly unknown[]): Answer =>
  answerOf(id, at, 'photoshare.user', [{ id: 'u', follower_count: 7, posts: items }], { user: 'x', with_posts: true });

const stored = (warehouse: Warehouse, table: string, columns: string): Promise<readonly unknown[]> =>
  select(warehouse, `select date::text, ${columns} from sluice.${table} order by 1, 2`);

anyWarehouse('numbers by day', (open) => {
  it('are the last reported of each UTC day; an unchanged observation gives its day a row too', async () => {
    const warehouse = await open();
    await keep(warehouse, MICROBLOG, microblogger(1, '2026-03-01T08:00:00Z', { follower_count: 10 }));
    await keep(warehouse, MICROBLOG, microblogger(2, '2026-03-01T23:59:59.999Z', { follower_count: 12 }));
    await keep(
      warehouse,
      MICROBLOG,
      microblogger(3, '2026-03-02T00:00:00Z', { follower_count: 12 }),
      microblogger(4, '2026-03-03T00:00:00Z', { follower_count: 9_007_199_254_740_991 }),
    );
    expect(
      await stored(warehouse, 'fact_microblog_user_daily', 'user_rest_id, follower_count, listed_count, _answer_id'),
    ).toEqual([
      { date: '2026-03-01', user_rest_id: '1', follower_count: '12', listed_count: null, _answer_id: '2' },
      { date: '2026-03-02', user_rest_id: '1', follower_count: '12', listed_count: null, _answer_id: '3' },
      {
        date: '2026-03-03',
        user_rest_id: '1',
        follower_count: '9007199254740991',
        listed_count: null,
        _answer_id: '4',
      },
    ]);
  });

  it('of new entities are merged with those of another writer that was quicker', async () => {
    const warehouse = await open();
    const ids = Array.from({ length: 30 }, (_, at) => `p${at + 10}`);
    const seen = (by: number, at: string, likes: number, of: readonly string[]): Answer =>
      posts(by, at, ...of.map((id) => ({ id, like_count: likes })));
    await keep(warehouse, POSTS, seen(2, '2026-03-01T09:00:00Z', 2, ['p20']));
    await keepAs(new Set(ids), warehouse, POSTS, seen(1, '2026-03-01T08:00:00Z', 1, ids));
    expect(await stored(warehouse, 'fact_photoshare_post_daily', 'post_id, like_count, _answer_id')).toEqual(
      ids.map((id) => ({
        date: '2026-03-01',
        post_id: id,
        ...(id === 'p20' ? { like_count: '2', _answer_id: '2' } : { like_count: '1', _answer_id: '1' }),
      })),
    );
  });

  it('are ordered by receipt, so that an answer that was stored late does not replace the last value of the day', async () => {
    const warehouse = await open();
    await keep(warehouse, MICROBLOG, microblogger(1, '2026-03-01T12:00:00Z', { follower_count: 12 }));
    await keep(warehouse, MICROBLOG, microblogger(2, '2026-03-01T10:00:00Z', { follower_count: 10 }));
    await keep(warehouse, MICROBLOG, microblogger(3, '2026-03-01T12:00:00Z', { follower_count: 13 }));
    expect(await stored(warehouse, 'fact_microblog_user_daily', 'follower_count, _answer_id')).toEqual([
      { date: '2026-03-01', follower_count: '13', _answer_id: '3' },
    ]);
  });

  it('are taken from previews that report them; what a preview leaves out stays', async () => {
    const warehouse = await open();
    await keep(warehouse, POSTS, posts(1, '2026-03-01T08:00:00Z', { id: 'a', like_count: 5, view_count: 100 }));
    await keep(
      warehouse,
      POSTS,
      profile(2, '2026-03-01T09:00:00Z', { id: 'a', like_count: 6 }, { id: 'b', text: 'no number' }),
    );
    await keep(warehouse, POSTS, profile(3, '2026-03-02T09:00:00Z', { id: 'a', like_count: -1 }));
    expect(
      await stored(
        warehouse,
        'fact_photoshare_post_daily',
        'post_id, like_count, comment_count, view_count, _answer_id, _earlier',
      ),
    ).toEqual([
      {
        date: '2026-03-01',
        post_id: 'a',
        like_count: '6',
        comment_count: '0',
        view_count: '100',
        _answer_id: '2',
        _earlier: Object.fromEntries(
          ['comment_count', 'reshare_count', 'view_count'].map((it) => [it, ['2026-03-01T08:00:00.000000Z', '1']]),
        ),
      },
      {
        date: '2026-03-02',
        post_id: 'a',
        like_count: '-1',
        comment_count: null,
        view_count: null,
        _answer_id: '3',
        _earlier: null,
      },
    ]);
    await keep(
      warehouse,
      USERS,
      profile(4, '2026-03-03T09:00:00Z'),
      posts(5, '2026-03-03T10:00:00Z', { id: 'a', user: { id: 'u' } }),
    );
    expect(await stored(warehouse, 'fact_photoshare_user_daily', 'user_id, follower_count, _answer_id')).toEqual([
      { date: '2026-03-03', user_id: 'u', follower_count: '7', _answer_id: '4' },
    ]);
  });

  it('count reactions of all types, hidden ones left out, unless the sum is larger than a bigint', async () => {
    const warehouse = await open();
    const post = (value: string, reactions?: unknown) => ({
      urn: { type: 'activity', value },
      comment_count: 1,
      reactions,
    });
    const reactions = [
      { type: 'like', count: 2 },
      { type: 'praise', count: -1 },
      { type: 'odd', count: 3 },
      { type: 'none' },
    ];
    await keep(
      warehouse,
      PRONET,
      answerOf(
        1,
        '2026-03-01T08:00:00Z',
        'pronet.post.reposts',
        [post('a', reactions), post('b', []), post('c'), post('d', [...reactions, { count: '9223372036854775807' }])],
        {
          urn: { type: 'activity', value: '9' },
          count: 50,
        },
      ),
    );
    expect(await stored(warehouse, 'fact_pronet_post_daily', 'post_urn_value, reaction_count')).toEqual([
      { date: '2026-03-01', post_urn_value: 'a', reaction_count: '5' },
      { date: '2026-03-01', post_urn_value: 'b', reaction_count: '0' },
      { date: '2026-03-01', post_urn_value: 'c', reaction_count: null },
      { date: '2026-03-01', post_urn_value: 'd', reaction_count: null },
    ]);
  });

  it('that change and return are those of the same answers loaded one by one', async () => {
    const [together, single] = [await open(), await open()];
    const at = (hour: number): string => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
    const first = posts(1, at(8), { id: 'a', like_count: 5, view_count: 100 });
    const later = [
      posts(2, at(9), { id: 'a', like_count: 6 }),
      profile(3, at(10), { id: 'a', like_count: 5, view_count: 100 }),
      profile(4, at(11), { id: 'a', view_count: 100 }),
    ];
    for (const it of [first, ...later]) await keep(single, POSTS, it);
    await keep(together, POSTS, first);
    await keep(together, POSTS, ...later);
    const days = (warehouse: Warehouse) => select(warehouse, 'select * from sluice.fact_photoshare_post_daily');
    expect(await days(together)).toEqual(await days(single));
    expect(await days(single)).toMatchObject([{ _answer_id: '3', like_count: '5', view_count: '100' }]);
    const anew = await open();
    await keepAs(new Set(['a']), anew, POSTS, first, ...later);
    expect(await days(anew)).toEqual(await days(single));
  });

  it('are not written again by a replay, and go with their entity', async () => {
    const warehouse = await open();
    const answers = [
      posts(1, '2026-03-01T08:00:00Z', { id: 'a', like_count: 5, view_count: 100 }),
      profile(2, '2026-03-01T09:00:00Z', { id: 'a', like_count: 6 }),
      posts(3, '2026-03-02T08:00:00Z', { id: 'a', like_count: 5 }),
    ];
    const versions = () => select(warehouse, 'select xmin::text, ctid::text from sluice.fact_photoshare_post_daily');
    for (const it of answers) await keep(warehouse, POSTS, it);
    const before = await versions();
    for (const it of answers) await keep(warehouse, POSTS, it);
    await keep(warehouse, POSTS, ...answers);
    expect(await versions()).toEqual(before);
    expect(before).toHaveLength(2);
    await sql`delete from sluice.photoshare_posts`.execute(warehouse.db);
    expect(await versions()).toEqual([]);
  });

  it('are the last reported, with whatever other answers they are loaded, and stay when they are loaded again', async () => {
    const warehouse = await open();
    const count = fc.option(fc.integer({ min: -1, max: 3 }), { nil: undefined });
    const reported = fc.record({
      full: fc.boolean(),
      id: fc.constantFrom('a', 'b'),
      hour: fc.integer({ min: 0, max: 40 }),
      like: count,
      view: count,
      comment: count,
    });
    const plan = fc.array(reported, { minLength: 1, maxLength: 6 }).chain((items) =>
      fc.record({
        items: fc.constant(items.toSorted((a, b) => a.hour - b.hour)),
        again: fc.shuffledSubarray([...items.keys()]),
        together: fc.integer({ min: 1, max: 3 }),
      }),
    );
    const days = () =>
      stored(warehouse, 'fact_photoshare_post_daily', 'post_id, like_count, view_count, comment_count');
    const reports = () => stored(warehouse, 'fact_photoshare_post_daily', 'post_id, _seen_at, _answer_id, _earlier');
    const empty = () => sql`truncate sluice.photoshare_posts cascade`.execute(warehouse.db);
    await fc.assert(
      fc.asyncProperty(plan, async ({ items, again, together }) => {
        await empty();
        const answers = items.map(({ full, id, hour, like, view, comment }, place) =>
          (full ? posts : profile)(place + 1, new Date(Date.UTC(2026, 2, 1, hour)).toISOString(), {
            id,
            like_count: like,
            view_count: view,
            comment_count: comment,
          }),
        );
        for (const it of answers) await keep(warehouse, POSTS, it);
        const oneByOne = await reports();
        await empty();
        for (let at = 0; at < answers.length; at += together)
          await keep(warehouse, POSTS, ...answers.slice(at, at + together));
        expect(await days()).toEqual(expectedOf(items));
        expect(await reports()).toEqual(oneByOne);
        for (const place of again) await keep(warehouse, POSTS, ...answers.slice(place, place + 1));
        expect(await days()).toEqual(expectedOf(items));
      }),
      { numRuns: countOf(20, 40) },
    );
  });
});

interface Item {
  readonly full: boolean;
  readonly id: string;
  readonly hour: number;
  readonly like: number | undefined;
  readonly view: number | undefined;
  readonly comment: number | undefined;
}

/** The rows as computed by hand: the last reported value of each number on that day. */
function expectedOf(items: readonly Item[]): unknown[] {
  const days = new Map<string, Record<string, unknown>>();
  for (const it of items) {
    // What a full answer leaves out of these two is 0; views that it leaves out are not reported.
    const numbers = {
      like_count: it.like ?? (it.full ? 0 : undefined),
      comment_count: it.comment ?? (it.full ? 0 : undefined),
      view_count: it.view,
    };
    const reported = Object.entries(numbers).filter(([, value]) => value !== undefined);
    if (!it.full && reported.length === 0) continue;
    const date = it.hour < 24 ? '2026-03-01' : '2026-03-02';
    const key = `${date} ${it.id}`;
    const day = days.get(key) ?? { date, post_id: it.id, like_count: null, view_count: null, comment_count: null };
    days.set(key, { ...day, ...Object.fromEntries(reported.map(([name, value]) => [name, String(value)])) });
  }
  return [...days.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, day]) => day);
}
