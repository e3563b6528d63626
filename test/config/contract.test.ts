/**
 * The request fields that a config can set against the service's contract, written here as it reads there: names, types,
 * bounds and defaults.
 */
import { describe, expect, it } from 'vitest';
import { catalog } from '../../src/service/catalog.ts';
import { minimalRequests } from '../support/requests.ts';
import { loadSync, problemsOf } from './written.ts';

/** A line is a field: its type, its bounds, and its default or `required`. Assumed: no request asks for 0 results. */
const CONTRACT: Readonly<Record<string, string>> = {
  'token.requests': `
    start_time: moment null
    end_time: moment null
    limit: integer 1 100 default 10
  `,
  'webparser.parse': `
    url: address 10 2083 required
    timeout: integer 20 1500 default 300
    include_tags: texts null
    exclude_tags: texts null
    only_main_content: flag default false
    remove_comments: flag default true
    resolve_srcset: flag default true
    return_full_html: flag default false
    min_text_block: integer 0 - default 200
    remove_base64_images: flag default true
    strip_all_tags: flag default false
    extract_contacts: flag default false
    same_origin_links: flag default false
    social_links_only: flag default false
    extract_minimal: flag default false
  `,
  'sec.search.companies': `
    count: integer 1 100 required
    timeout: integer 20 1500 default 300
    entity_name: text default ""
    forms: texts null
    location_codes: texts null
    date_from: day null
    date_to: day null
  `,
  'pronet.post.reposts': `
    urn: activity required
    count: integer 1 - required
    timeout: integer 20 1500 default 300
  `,
  'pronet.search.users': `
    count: integer 1 1000 required
    timeout: integer 20 1500 default 300
    keywords: text default ""
    first_name: text default ""
    last_name: text default ""
    title: text default ""
    company_keywords: text default ""
    school_keywords: text default ""
    current_company: names
    past_company: names
    location: names
    industry: names
    education: names
  `,
  'pronet.user.education': `
    urn: fsd_profile required
    count: integer 1 100 required
    timeout: integer 20 1500 default 300
    alias: text null
  `,
  'pronet.group': `
    group: text required
    timeout: integer 20 1500 default 300
  `,
  'microblog.user': `
    user: text required
    timeout: integer 20 1500 default 300
  `,
  'photoshare.user': `
    user: text required
    timeout: integer 20 1500 default 300
    with_creation_date: flag default false
    with_similar_users: flag default true
    with_posts: flag default false
  `,
  'photoshare.user.posts': `
    user: text required
    count: integer 1 - required
    timeout: integer 20 1500 default 300
  `,
};

interface ContractField {
  readonly endpoint: string;
  readonly field: string;
  readonly facts: readonly string[];
}

const fieldsOf = (endpoint: string): ContractField[] =>
  (CONTRACT[endpoint] ?? '')
    .trim()
    .split('\n')
    .map((line) => {
      const [field = '', facts = ''] = line.trim().split(': ');
      return { endpoint, field, facts: facts.split(' ') };
    });

const fields = Object.keys(CONTRACT).flatMap(fieldsOf);

const urn = (type: string): object => ({ type, value: '7' });

/** Values of the type that a config accepts, at their bounds, and values that it refuses. */
function valuesOf({ facts }: ContractField): { readonly good: readonly unknown[]; readonly bad: readonly unknown[] } {
  const [type = '', low = '', high = ''] = facts;
  switch (type) {
    case 'integer': {
      const [least, most] = [Number(low), high === '-' ? 1_000_000 : Number(high)];
      return { good: [least, most], bad: [least - 1, least + 0.5, 'many', [], ...(high === '-' ? [] : [most + 1])] };
    }
    case 'flag':
      return { good: [true, false], bad: [2, 'maybe', []] };
    case 'text':
      return { good: ['a b'], bad: [['a'], { a: 1 }] };
    case 'texts':
      return { good: [['a', 'b']], bad: [{ a: 1 }, [['a']]] };
    case 'names':
      return { good: [['a', urn('other')]], bad: [{ a: 1 }, [['a']], [{ type: 'other' }]] };
    case 'moment':
      return {
        good: ['2024-02-29T01:02:03Z', '2024-02-29T01:02:03.5+02:00'],
        bad: ['2023-02-29T01:02:03Z', 'now', []],
      };
    case 'day':
      return { good: ['2024-02-29'], bad: ['2023-02-29', '20240229', 'today', []] };
    case 'address': {
      const long = (length: number): string => 'https://a.example/'.padEnd(length, 'x');
      return { good: ['http://a.b', long(Number(high))], bad: ['http://a.', 'no address', long(Number(high) + 1)] };
    }
    default:
      return { good: [urn(type)], bad: [urn('other'), 'an alias', 'https://a.example/b', urn('')] };
  }
}

/** The lines of a sync whose request has this value. JSON is YAML. */
function linesOf({ endpoint, field }: ContractField, value: unknown): string {
  const request = { ...minimalRequests[endpoint]?.(1), [field]: value };
  return `  a: { endpoint: ${endpoint}, request: ${JSON.stringify(request)} }`;
}

describe('the fields of a request', () => {
  it.each(catalog.map((it) => [it.name, it] as const))(
    'of %s are those of the contract',
    (name, { request, paging }) => {
      const settable = Object.keys(request.shape).filter((field) => !Object.hasOwn(paging.ownFields, field));
      expect(settable).toEqual(fieldsOf(name).map(({ field }) => field));
      // The service takes a date-time for the cursor, but each page decides the next one.
      expect(Object.keys(paging.ownFields)).toEqual(name === 'token.requests' ? ['cursor'] : []);
    },
  );

  it('have the defaults of the contract', () => {
    for (const { endpoint, field, facts } of fields) {
      const declared = catalog.find(({ name }) => name === endpoint)?.request.shape[field];
      const given = declared?.safeParse(undefined);
      const text = facts[facts.indexOf('default') + 1] ?? '';
      const expected = facts.includes('default') ? (JSON.parse(text) as unknown) : undefined;
      expect({ endpoint, field, ...given }).toMatchObject({ endpoint, field, success: !facts.includes('required') });
      expect({ endpoint, field, value: given?.data }).toEqual({ endpoint, field, value: expected });
    }
  });

  it('take what the contract allows, at its bounds', async () => {
    for (const at of fields)
      for (const value of valuesOf(at).good)
        expect({ at, value: (await loadSync(linesOf(at, value))).request[at.field] }).toEqual({ at, value });
  });

  it('take null as left out where the contract does', async () => {
    for (const at of fields.filter(({ facts }) => facts.includes('null')))
      expect({ at, request: (await loadSync(linesOf(at, null))).request }).not.toHaveProperty(['request', at.field]);
  });

  it('refuse what the contract does not allow', async () => {
    for (const at of fields)
      for (const value of valuesOf(at).bad) {
        const problems = await problemsOf(linesOf(at, value));
        expect({ at, value, problems }).toEqual({
          at,
          value,
          problems: [expect.stringMatching(/allowed|must|missing/)],
        });
      }
  });

  it('are required where the contract requires them', async () => {
    for (const at of fields.filter(({ facts }) => facts.includes('required')))
      expect({ at, problems: await problemsOf(linesOf(at, undefined)) }).toEqual({
        at,
        problems: [expect.stringContaining(`: missing: ${at.field} (allowed is `)],
      });
  });
});
