/** What views work out, on rows made by hand. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { currentLowerBounds } from '../../src/ledger/coverage.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from '../flow/rows.ts';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const SEEN = '2026-03-06T12:00:00.000Z';

/** A requested slice, or a question that was split instead. */
interface Slice {
  readonly endpoint: string;
  readonly sync: string;
  readonly request_key: string;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly returned: number;
  readonly reason: string | null;
}

anyWarehouse('views of rows made by hand', (open) => {
  const root = {
    _first_seen_at: SEEN,
    _changed_at: SEEN,
    _run_id: 1,
    _answer_id: 1,
    _content_hash: '',
    _part_hashes: '',
  };

  async function enter(
    warehouse: Warehouse,
    table: string,
    rows: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void> {
    for (const row of rows) {
      const names = sql.join(Object.keys(row).map((it) => sql.ref(it)));
      await sql`insert into ${sql.table(`sluice.${table}`)} (${names}) values (${sql.join(Object.values(row))})`.execute(
        warehouse.db,
      );
    }
  }

  it('filings show their lists in order, without empty places, side by side', async () => {
    const warehouse = await open();
    const of = { filing_accession_number: 'a', filing_file_name: 'f' };
    const list = (column: string, texts: readonly string[]) =>
      texts.map((it, position) => ({ ...of, position, [column]: it }));
    await enter(warehouse, 'sec_filings', [
      {
        accession_number: 'a',
        file_name: 'f',
        filing_type: '4/A',
        file_date: '2026-03-01',
        period_ending: '2026-02-27',
        ciks_count: 3,
        display_names_count: 2,
        ...root,
      },
    ]);
    await enter(warehouse, 'sec_filing_ciks', list('cik', ['3', '1', '2']));
    await enter(warehouse, 'sec_filing_display_names', list('display_name', ['Abbott', 'Doe, J.']));
    await enter(warehouse, 'sec_filing_biz_locations', list('biz_location', ['', 'Abbott Park, IL']));
    expect(
      await select(
        warehouse,
        'select filers, ciks, filer_count::int, first_cik, biz_locations, items, is_amendment, days_to_file from sluice.sec_filing_overview',
      ),
    ).toEqual([
      {
        filers: 'Abbott; Doe, J.',
        ciks: '3, 1, 2',
        filer_count: 3,
        first_cik: '3',
        biz_locations: 'Abbott Park, IL',
        items: null,
        is_amendment: true,
        days_to_file: 2,
      },
    ]);
    expect(
      await select(warehouse, 'select position::int, cik, display_name from sluice.sec_filing_filers order by 1'),
    ).toEqual([
      { position: 0, cik: '3', display_name: 'Abbott' },
      { position: 1, cik: '1', display_name: 'Doe, J.' },
      { position: 2, cik: '2', display_name: null },
    ]);
  });

  it.each([
    ['the one with the latest year', ['2001 - 2005', '2015-2019', '2010 to 2014'], '2015-2019'],
    ['the one attended at present', ['2018 - 2022', '2019 - Present'], '2019 - Present'],
    ['of equals the one listed first', ['1999', '1995 - 1999'], '1999'],
    ['without any year the one listed first', [null, 'as a child'], null],
  ])('the latest school is %s', async (_what, intervals, latest) => {
    const warehouse = await open();
    const person = { user_urn_type: 'fsd_profile', user_urn_value: 'p' };
    await enter(warehouse, 'pronet_users', [{ urn_type: 'fsd_profile', urn_value: 'p', _detail: 'full', ...root }]);
    await enter(
      warehouse,
      'pronet_user_educations',
      intervals.map((interval, position) => ({
        ...person,
        position,
        interval,
        company_name: `school ${position}`,
        ...root,
      })),
    );
    const hits = ['a k', 'b k', 'b l'].map((it) => ({ sync: it[0], request_key: it[2], ...person, _answer_id: 1 }));
    await enter(warehouse, 'pronet_user_search_hits', hits);
    const schools = await select<{ is_latest: boolean; interval: string | null; school_name: string }>(
      warehouse,
      'select is_latest, interval, school_name from sluice.pronet_user_school_overview order by position',
    );
    const found = schools.filter((it) => it.is_latest);
    expect(found.map(({ interval }) => interval)).toEqual([latest]);
    // Two syncs share the answer of one search.
    expect(
      await select(warehouse, 'select school_name, school_count::int, search_count from sluice.pronet_user_overview'),
    ).toEqual([{ school_name: found[0]?.school_name, school_count: intervals.length, search_count: '2' }]);
  });

  it('rates leave out what is hidden or not reported, and never divide by zero', async () => {
    const warehouse = await open();
    const opened = new Date(Date.parse(SEEN) - 10 * 86_400_000);
    await enter(warehouse, 'microblog_users', [
      {
        rest_id: '1',
        created_at: opened,
        follower_count: 50,
        following_count: 0,
        tweet_count: 20,
        media_count: 5,
        listed_count: -1,
        ...root,
      },
      { rest_id: '2', follower_count: 50, following_count: 20, tweet_count: null, ...root },
    ]);
    expect(
      await select(
        warehouse,
        'select age_days, followers_per_following, followers_per_day, tweets_per_day, listed_per_1000_followers, media_share from sluice.microblog_user_overview order by rest_id',
      ),
    ).toEqual([
      {
        age_days: 10,
        followers_per_following: null,
        followers_per_day: 5,
        tweets_per_day: 2,
        listed_per_1000_followers: null,
        media_share: 0.25,
      },
      {
        age_days: null,
        followers_per_following: 2.5,
        followers_per_day: null,
        tweets_per_day: null,
        listed_per_1000_followers: null,
        media_share: null,
      },
    ]);
    await enter(warehouse, 'photoshare_users', [{ id: 'u', follower_count: 100, _detail: 'full', ...root }]);
    await enter(warehouse, 'photoshare_posts', [
      { id: 'a', user_id: 'u', like_count: 10, comment_count: 0, _detail: 'full', ...root },
      { id: 'b', user_id: 'u', like_count: 30, comment_count: 4, _detail: 'full', ...root },
      { id: 'c', user_id: 'u', like_count: -1, comment_count: 2, _detail: 'full', ...root },
    ]);
    expect(
      await select(
        warehouse,
        'select loaded_post_count::int, mean_like_count, mean_comment_count, engagement_rate from sluice.photoshare_user_overview',
      ),
    ).toEqual([{ loaded_post_count: 3, mean_like_count: 20, mean_comment_count: 2, engagement_rate: 0.22 }]);
    expect(
      await select(
        warehouse,
        'select id, engagement_count::int, engagement_rate from sluice.photoshare_post_overview order by id',
      ),
    ).toEqual([
      { id: 'a', engagement_count: 10, engagement_rate: 0.1 },
      { id: 'b', engagement_count: 34, engagement_rate: 0.34 },
      { id: 'c', engagement_count: 2, engagement_rate: null },
    ]);
  });

  it('pages show their host, and links to it, also without a scheme', async () => {
    const warehouse = await open();
    await enter(warehouse, 'web_pages', [
      {
        page_key: 'k',
        requested_url: 'http://a.example',
        url: 'HTTPS://user:pw@A.Example:8443/x?y=http://b.example/#z',
        cleaned_html: 'é',
        links_count: 6,
        ...root,
      },
      { page_key: 'l', requested_url: 'http://[::1]:80/', url: 'http://[::1]:80/', ...root },
    ]);
    const links = [
      '/about',
      'https://a.example/',
      'mailto:x@a.example',
      'https://b.example/?a.example',
      '//b.example/x',
      '//A.example:8443/y',
    ];
    await enter(
      warehouse,
      'web_page_links',
      links.map((link, position) => ({ page_key: 'k', position, link })),
    );
    expect(
      await select(
        warehouse,
        'select host, is_redirected, content_bytes, link_count::int, host_link_count::int from sluice.web_page_overview order by page_key',
      ),
    ).toEqual([
      { host: 'a.example', is_redirected: true, content_bytes: 2, link_count: 6, host_link_count: 3 },
      { host: '[::1]', is_redirected: false, content_bytes: null, link_count: null, host_link_count: null },
    ]);
  });

  it('lower bounds are those of status, whatever was requested since', async () => {
    const warehouse = await open();
    const day = fc.constantFrom('2026-01-01', '2026-01-02');
    const forms = fc.constantFrom(['10-K'], ['10-Q']);
    const filings = fc.record(
      { entity_name: fc.constantFrom('x', 'x', 'x', 'y'), forms, date_from: day, date_to: day },
      { requiredKeys: ['entity_name', 'date_from', 'date_to'] },
    );
    const people = fc.record(
      { title: fc.constant('x'), location: forms, industry: forms },
      { requiredKeys: ['title'] },
    );
    const asked = fc.oneof(
      fc.record({ endpoint: fc.constant('sec.search.companies'), filters: filings }),
      fc.record({ endpoint: fc.constant('pronet.search.users'), filters: people }),
      fc.record({
        endpoint: fc.constant('pronet.post.reposts'),
        filters: fc.record({ urn: fc.constantFrom('1', '2') }),
      }),
    );
    const slice = fc
      .tuple(
        asked,
        fc.record({
          sync: fc.constantFrom('a', 'a', 'b'),
          returned: fc.constantFrom(9, 10),
          reason: fc.constantFrom(null, 'full'),
          request_key: fc.constantFrom('k', 'l', 'm', 'n', 'o'),
        }),
      )
      .map(([question, rest]): Slice => ({ ...question, ...rest }));
    const of = { endpoint: 'sec.search.companies', sync: 'a', request_key: 'k' };
    const after = (date_from: string, date_to: string): Slice => ({
      ...of,
      filters: { entity_name: 'x', date_from, date_to },
      returned: 9,
      reason: null,
    });
    const bound = { ...after('2026-01-01', '2026-01-02'), returned: 10, reason: 'full' };
    await fc.assert(
      fc.asyncProperty(fc.array(slice, { minLength: 4, maxLength: 14 }), async (slices) => {
        await sql`truncate sluice_ops.coverage, sluice_ops.runs cascade`.execute(warehouse.db);
        const ops = warehouse.db.withSchema(warehouse.ops);
        for (const { returned, reason, filters, request_key, ...of } of slices) {
          const { id: run_id } = await ops
            .insertInto('runs')
            .values({ ...of, definition_hash: '', state: 'complete', today: '2026-03-06', started_at: SEEN })
            .returning('id')
            .executeTakeFirstOrThrow();
          const { id: request_id } = await ops
            .insertInto('requests')
            .values({ ...of, state: 'loaded', run_id, request_key, body: '{}', input: '{}', planned_at: SEEN })
            .returning('id')
            .executeTakeFirstOrThrow();
          const result = { returned, reason, complete: reason === null, filters: JSON.stringify(filters) };
          await ops
            .insertInto('coverage')
            .values({ ...of, ...result, request_id, run_id, request_key, asked: 10, depth: 0, as_of: SEEN })
            .execute();
        }
        const bounds = await currentLowerBounds(operationsOf(warehouse));
        const shown = await select<{ run_id: string }>(
          warehouse,
          "select run_id from sluice.sync_slices where extent = 'lower_bound'",
        );
        expect(shown.map((it) => it.run_id).toSorted()).toEqual(bounds.map(({ runId }) => runId).toSorted());
      }),
      {
        numRuns: countOf(40, 100),
        examples: [[[bound, after('2026-01-02', '2026-01-02')]], [[bound, after('2026-01-01', '2026-01-01')]]],
      },
    );
  });
});
