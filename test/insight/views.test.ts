/** Every view, as declared, on a warehouse in which the quickstart has run. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { currentLowerBounds } from '../../src/ledger/coverage.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { catalog } from '../../src/service/catalog.ts';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { views } from '../../src/warehouse/schema/views/views.ts';
import { select } from '../flow/rows.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { anyWarehouse } from '../support/warehouse.ts';

/**
 * Views that the quickstart fills only when a forecast was made, when syncs have tags or checks, when something went wrong, or
 * when something changes.
 */
const EMPTY = [
  'forecast_scores',
  'run_tags',
  'daily_tag_costs',
  'check_results',
  'check_status',
  'attribute_changes',
  'quarantined_items',
  'contract_drift',
  'charged_failures',
];

const SCALARS = ['text', 'bigint', 'integer', 'double precision', 'numeric', 'boolean', 'date', 'timestamptz', 'uuid'];

describe('views', () => {
  it('hold only scalars, except for the tags of requests and the JSON columns of the tables whose history they show', () => {
    const others = views.flatMap(({ name, columns }) =>
      columns.filter(({ type }) => !SCALARS.includes(type)).map((it) => `${name}.${it.name} ${it.type}`),
    );
    const ofTables = tables.flatMap(({ name, columns }) =>
      columns.filter(({ type }) => type === 'jsonb').map((it) => `${name}_history.${it.name} jsonb`),
    );
    expect(others.filter((it) => !ofTables.includes(it))).toEqual(['logged_requests.tags jsonb']);
  });

  it('have names that Postgres does not truncate and no table has, and describe themselves and their columns', () => {
    const names = views.map(({ name }) => name);
    const taken = [...tables, ...operationsTables].map(({ name }) => name);
    expect(names.filter((name) => taken.includes(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, about, columns } of views) {
      const long = [name, ...columns.map((it) => it.name)].filter((it) => Buffer.byteLength(it) > 63);
      const silent = [about, ...columns.map((it) => it.about)].filter((it) => it.trim() === '');
      expect({ name, long, silent }).toEqual({ name, long: [], silent: [] });
    }
  });

  it('have key columns that distinguish every row', () => {
    for (const { name, key, columns } of views) {
      const strange = key.filter((it) => columns.every((column) => column.name !== it));
      expect({ name, strange, keyed: key.length > 0 }).toEqual({ name, strange: [], keyed: true });
    }
  });
});

anyWarehouse('views after the quickstart', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
    expect(await runQuickstart(warehouse)).toMatchObject({ exitCode: 0 });
  });
  const rowsOf = <Row = Readonly<Record<string, unknown>>>(statement: string): Promise<Row[]> =>
    select<Row>(warehouse, statement);
  const countOf = async (relation: string, where = 'true'): Promise<number> =>
    Number((await rowsOf<{ n: string }>(`select count(*) as n from sluice.${relation} where ${where}`))[0]?.n);

  it.each(views.map(({ name, key }) => [name, key] as const))(
    '%s has rows, each with a key of its own',
    async (name, key) => {
      const list = sql.join(key.map((it) => sql.ref(it)));
      const { rows } = await sql<{ rows: string; keys: string; holes: string }>`
      select count(*) as rows, count(distinct (${list})) as keys,
        count(*) filter (where ${sql.join(
          key.map((it) => sql`${sql.ref(it)} is null`),
          sql` or `,
        )}) as holes
      from ${sql.table(`sluice.${name}`)}`.execute(warehouse.db);
      const found = Number(rows[0]?.rows);
      expect(rows).toEqual([{ rows: String(found), keys: String(found), holes: '0' }]);
      if (!EMPTY.includes(name)) expect(found).toBeGreaterThan(0);
    },
  );

  it.each([
    ['sec_filing_overview', 'sec_filings'],
    ['pronet_post_overview', 'pronet_posts'],
    ['pronet_post_repost_overview', 'pronet_post_reposts'],
    ['pronet_post_mention_overview', 'pronet_post_mentions'],
    ['pronet_user_overview', 'pronet_users'],
    ['pronet_user_school_overview', 'pronet_user_educations'],
    ['pronet_user_search_hit_overview', 'pronet_user_search_hits'],
    ['pronet_group_overview', 'pronet_groups'],
    ['pronet_group_member_overview', 'pronet_group_members'],
    ['microblog_user_overview', 'microblog_users'],
    ['photoshare_user_overview', 'photoshare_users'],
    ['photoshare_post_overview', 'photoshare_posts'],
    ['photoshare_user_post_overview', 'photoshare_user_posts'],
    ['web_page_overview', 'web_pages'],
  ])('%s has a row for each of %s', async (view, table) => {
    expect(await countOf(view)).toBe(await countOf(table));
  });

  it('the calendar has every day once, in the terms of ISO weeks', async () => {
    expect(
      await rowsOf('select count(*)::int as n, min(date)::text as first, max(date)::text as last from sluice.dim_date'),
    ).toEqual([{ n: 21_915, first: '1990-01-01', last: '2049-12-31' }]);
    expect(
      await rowsOf(
        `select iso_year, iso_week, iso_weekday, weekday_name, is_weekend, year_quarter, iso_year_week, last_of_month::text,
          first_of_week::text, days_in_month, is_last_of_month from sluice.dim_date where date in ('2027-01-03', '2024-02-29') order by date`,
      ),
    ).toEqual([
      {
        iso_year: 2024,
        iso_week: 9,
        iso_weekday: 4,
        weekday_name: 'Thursday',
        is_weekend: false,
        year_quarter: '2024-Q1',
        iso_year_week: '2024-W09',
        last_of_month: '2024-02-29',
        first_of_week: '2024-02-26',
        days_in_month: 29,
        is_last_of_month: true,
      },
      {
        iso_year: 2026,
        iso_week: 53,
        iso_weekday: 7,
        weekday_name: 'Sunday',
        is_weekend: true,
        year_quarter: '2027-Q1',
        iso_year_week: '2026-W53',
        last_of_month: '2027-01-31',
        first_of_week: '2026-12-28',
        days_in_month: 31,
        is_last_of_month: false,
      },
    ]);
  });

  it('reactions by type add up, and are null if they were not reported', async () => {
    const types = ['like', 'praise', 'empathy', 'interest', 'appreciation', 'entertainment', 'other_reaction'];
    const sum = types.map((it) => `${it}_count`).join(' + ');
    expect(await countOf('pronet_post_overview', `reaction_count is distinct from ${sum}`)).toBe(0);
    expect(await countOf('pronet_post_overview', 'reaction_count > 0 and like_count > 0')).toBeGreaterThan(0);
    expect(
      await rowsOf(
        `select count(*)::int as n from sluice.pronet_posts p join sluice.pronet_post_overview o using (urn_type, urn_value)
         where (p.reactions_count is null) <> (o.reaction_count is null)`,
      ),
    ).toEqual([{ n: 0 }]);
  });

  it('coverage agrees with the lower bounds of status', async () => {
    const bounds = (await currentLowerBounds(operationsOf(warehouse))).length;
    expect(await countOf('sync_slices', "extent = 'lower_bound'")).toBe(bounds);
    const [sums] = await rowsOf(
      'select sum(lower_bound_slices)::int as bounds, sum(slices)::int as slices from sluice.sync_coverage',
    );
    expect(sums).toEqual({ bounds, slices: await countOf('sync_slices') });
  });

  it('every sync is fresh, clean and known', async () => {
    const syncs = await rowsOf<{ sync: string }>('select sync from sluice.sync_freshness order by 1');
    expect(syncs).toHaveLength(catalog.length);
    expect(await rowsOf('select sync from sluice.sync_quality order by 1')).toEqual(syncs);
    expect(
      await countOf(
        'sync_freshness',
        'refreshed_at is null or answered_at is null or open_requests > 0 or waiting_answers > 0',
      ),
    ).toBe(0);
    expect(
      await countOf('sync_quality', 'received <> loaded + unchanged + superseded + quarantined or received = 0'),
    ).toBe(0);
  });
});
