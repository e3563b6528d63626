/** The catalog against the folder of endpoints, the contract's table of tables, and itself. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { catalog } from '../../src/service/catalog.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Field, Resource } from '../../src/service/model.ts';
import { canonicalRequest } from '../../src/service/request-key.ts';
import { resourcesOf } from '../../src/warehouse/schema/resources.ts';
import { bridgeTables, rootTables, tables } from '../../src/warehouse/schema/tables.ts';
import { fullRequest, minimalRequests } from '../support/requests.ts';
import { fieldsOf } from './fixture.ts';

const ENDPOINTS = new URL('../../src/service/endpoints/', import.meta.url);

/** The resources that the values of a field are observations of. */
function observedIn(field: Field): readonly Resource[] {
  if (field.shape === 'nested' || field.shape === 'nested-list') return [field.resource()];
  const object = field.shape === 'list' ? field.element : field;
  if (!('fields' in object)) return [];
  return [...(object.observation?.resources() ?? []), ...Object.values(object.fields).flatMap(observedIn)];
}

describe('the catalog', () => {
  it('holds every endpoint that has a file, and no other', async () => {
    const files = (await readdir(ENDPOINTS)).filter((it) => it.endsWith('.ts')).toSorted();
    const declared = await Promise.all(
      files.map(async (file) => {
        const exported = Object.values((await import(new URL(file, ENDPOINTS).href)) as Record<string, Endpoint>);
        expect({ file, endpoints: exported.length }).toEqual({ file, endpoints: 1 });
        expect(file).toBe(`${exported[0]?.name.replaceAll('.', '-')}.ts`);
        return exported[0] as Endpoint;
      }),
    );
    const missing = declared.filter((it) => !catalog.includes(it)).map(({ name }) => name);
    expect({ missing, found: catalog.length }).toEqual({ missing: [], found: declared.length });
  });

  it('holds the endpoints of the contract', () => {
    expect(catalog.map(({ name, method, path }) => [name, method, path])).toEqual([
      ['token.requests', 'GET', '/token/requests'],
      ['webparser.parse', 'POST', '/api/webparser/parse'],
      ['sec.search.companies', 'POST', '/api/sec/search/companies'],
      ['pronet.post.reposts', 'POST', '/api/pronet/post/reposts'],
      ['pronet.search.users', 'POST', '/api/pronet/search/users'],
      ['pronet.user.education', 'POST', '/api/pronet/user/education'],
      ['pronet.group', 'POST', '/api/pronet/group'],
      ['microblog.user', 'POST', '/api/microblog/user'],
      ['photoshare.user', 'POST', '/api/photoshare/user'],
      ['photoshare.user.posts', 'POST', '/api/photoshare/user/posts'],
    ]);
  });

  it('marks a resource as shared if an item of another resource is an observation of it', () => {
    const observed = resourcesOf(catalog).flatMap(({ fields }) => Object.values(fields).flatMap(observedIn));
    expect(observed.filter(({ shared }) => !shared).map(({ name }) => `${name}: set shared: true`)).toEqual([]);
  });

  it('filters by no column that a foreign key or another index covers already', () => {
    const covered = tables.flatMap(({ name, indexes }) => {
      const names = indexes.map(({ columns }) => columns.join());
      return names.filter((it, at) => names.indexOf(it) < at).map((it) => `${name}: remove ${it} from filters`);
    });
    expect(covered).toEqual([]);
  });

  it('has a minimal request in the tests for each endpoint, and for no other', () => {
    expect(Object.keys(minimalRequests).toSorted()).toEqual(catalog.map(({ name }) => name).toSorted());
  });

  describe.each(catalog.map((it) => [it.name, it] as const))('%s', (name, endpoint) => {
    it('is named by its path with dots', () => {
      expect(name).toBe(endpoint.path.replace(/^\/(api\/)?/, '').replaceAll('/', '.'));
    });

    it('takes its minimal request, and every default is within its own bounds', () => {
      const filled = endpoint.request.parse(fullRequest(endpoint, 1));
      expect(endpoint.request.parse(filled)).toEqual(filled);
      expect(canonicalRequest(endpoint, filled)).toEqual(canonicalRequest(endpoint, fullRequest(endpoint, 1)));
    });

    it('refuses a field that the contract does not have', () => {
      expect(endpoint.request.safeParse({ ...fullRequest(endpoint, 1), invented: 1 }).success).toBe(false);
    });

    it('names only fields of its request', () => {
      const known = Object.keys(endpoint.request.shape);
      const switches = fieldsOf(endpoint.returns.fields).flatMap(({ field }) => field.switchedBy);
      const days = endpoint.paging.days ? [endpoint.paging.days.from, endpoint.paging.days.to] : [];
      const used = [
        ...Object.keys(endpoint.urns),
        ...endpoint.sets,
        ...endpoint.facets,
        ...Object.keys(endpoint.paging.ownFields),
        ...days,
        ...switches,
      ];
      expect(used.filter((it) => !known.includes(it))).toEqual([]);
    });

    it('says what it is, what each request field means, and what each field of its answers does', () => {
      const silent = Object.entries(endpoint.request.shape)
        .filter(([, field]) => ((field as { description?: string }).description ?? '').trim() === '')
        .map(([field]) => field);
      expect({ about: endpoint.about.trim() !== '', silent }).toEqual({ about: true, silent: [] });
      expect(fieldsOf(endpoint.returns.fields).filter(({ field }) => field.about.trim() === '')).toEqual([]);
    });
  });
});

describe('tables', () => {
  /** Resource, table, key, and what follows the table's singular in the names of its lists. */
  const CONTRACT: readonly (readonly [resource: string, table: string, key: string, lists: string])[] = [
    ['WebParserResult', 'web_pages', 'page_key', 'links emails phones'],
    [
      'SecFiling',
      'sec_filings',
      'accession_number file_name',
      'ciks display_names biz_locations biz_states inc_states sics items',
    ],
    [
      'PronetPost',
      'pronet_posts',
      'urn_type urn_value',
      'images reactions mentions document_images document_cover_images',
    ],
    ['PronetSearchUser', 'pronet_users', 'urn_type urn_value', ''],
    ['PronetUserEducation', 'pronet_user_educations', 'user_urn_type user_urn_value position', ''],
    ['EducationCompany', 'pronet_companies', 'urn_type urn_value', ''],
    ['Industry', 'pronet_industries', 'urn_type urn_value', ''],
    ['PronetGroup', 'pronet_groups', 'urn_type urn_value', 'industries members'],
    ['MicroblogUser', 'microblog_users', 'rest_id', 'profile_urls mentions professional_categories'],
    ['PhotoshareUser', 'photoshare_users', 'id', 'links mentions hashtags pinned_channels similar_users'],
    ['PhotosharePost', 'photoshare_posts', 'id', 'media'],
    ['TokenRequest', 'fact_request_costs', 'id', ''],
  ];

  it.each(CONTRACT)('%s is stored in %s by (%s), with the lists [%s]', (resource, table, key, lists) => {
    const found = rootTables.find(({ name }) => name === table);
    expect(found?.resource.name).toBe(resource);
    expect(found?.key.join(' ')).toBe(key);
    const singular = table.replace(/ies$/, 'y').replace(/s$/, '');
    const named = lists
      .split(' ')
      .filter(Boolean)
      .map((list) => `${singular}_${list}`);
    expect(found?.children.map(({ name }) => name).toSorted()).toEqual(named.toSorted());
  });

  it('are exactly those of the contract', () => {
    expect(rootTables.map(({ name }) => name).toSorted()).toEqual(CONTRACT.map(([, table]) => table).toSorted());
    expect(bridgeTables.map(({ name, key }) => [name, key.join(' ')]).toSorted()).toEqual([
      ['photoshare_user_posts', 'user_asked post_id'],
      ['pronet_post_reposts', 'post_urn_type post_urn_value repost_urn_type repost_urn_value'],
      ['pronet_user_search_hits', 'sync request_key user_urn_type user_urn_value'],
    ]);
  });

  it.each<[table: string, columns: string]>([
    [
      'pronet_posts',
      'author_urn_type repost_urn_type repost_urn_value share_urn_value event_participant_count document_total_images_count',
    ],
    ['pronet_users', 'urn_type urn_value internal_id_type internal_id_value _detail'],
    ['pronet_user_educations', 'company_industry_full_hierarchy company_urn_value company_industry_value'],
    ['pronet_groups', 'created_at created_at_epoch geo_type geo_value member_count members_count'],
    ['pronet_group_members', 'group_urn_value user_urn_value joined_at joined_at_epoch role extra'],
    ['pronet_group_industries', 'group_urn_type type value'],
    ['sec_filing_biz_states', 'filing_accession_number filing_file_name position biz_state'],
    ['microblog_users', 'birthdate_timestamp professional_categories_count verification_info_verified_since'],
    ['microblog_user_profile_urls', 'user_rest_id position item'],
    ['web_page_links', 'page_key position link'],
    ['web_pages', 'requested_url options metadata extra _first_seen_at _changed_at _run_id _answer_id _content_hash'],
    ['photoshare_user_posts', 'user_asked post_id user_id position'],
    ['pronet_post_mentions', 'post_urn_type kind urn_type extra'],
  ])('%s has the columns %s', (table, columns) => {
    const names = tables.find(({ name }) => name === table)?.columns.map(({ name }) => name) ?? [];
    expect(columns.split(' ').filter((it) => !names.includes(it))).toEqual([]);
  });

  it('have each column once, and names that Postgres does not truncate', () => {
    for (const { name, columns } of tables) {
      const names = columns.map((it) => it.name);
      expect({ name, columns: new Set(names).size }).toEqual({ name, columns: names.length });
      expect([name, ...names].filter((it) => Buffer.byteLength(it) > 63)).toEqual([]);
    }
    expect(new Set(tables.map(({ name }) => name)).size).toBe(tables.length);
  });

  it('say what they are, and so does each column', () => {
    const silent = tables.flatMap(({ name, about, columns }) => [
      ...(about.trim() === '' ? [name] : []),
      ...columns.filter((it) => it.about.trim() === '').map((it) => `${name}.${it.name}`),
    ]);
    expect(silent).toEqual([]);
  });

  it('have nothing but their key that must be there, save for who wrote the row and when', () => {
    const strict = tables.flatMap(({ name, key, columns }) =>
      columns
        .filter((it) => !it.nullable && !key.includes(it.name) && !it.name.startsWith('_'))
        .map((it) => `${name}.${it.name}`),
    );
    expect(strict).toEqual([]);
  });

  it('refer only to tables that come before them, by columns that both have', () => {
    const seen = new Set<string>();
    for (const table of tables) {
      seen.add(table.name);
      for (const { table: to, columns, references } of table.foreignKeys) {
        expect({ from: table.name, to, known: seen.has(to) }).toEqual({ from: table.name, to, known: true });
        expect(columns.every((it) => table.columns.some(({ name }) => name === it))).toBe(true);
        expect(references).toEqual(tables.find(({ name }) => name === to)?.key);
      }
    }
  });
});
