/** The editor's schema allows what the loader allows, and refuses most of what the loader refuses. */
import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { editorSchema } from '../../src/config/editor-schema.ts';
import { configTemplate, defaultInitAnswers } from '../../src/config/template.ts';
import { catalog } from '../../src/service/catalog.ts';
import { isValid } from './json-schema.ts';
import { problemsIn } from './written.ts';

type Json = Readonly<Record<string, unknown>>;
const schema = editorSchema() as Json;
const definitions = schema['$defs'] as Readonly<
  Record<string, { readonly properties: Record<string, { readonly properties?: Json }> }>
>;
const allows = (text: string): boolean => isValid(parse(text), schema);
const HEAD = 'service: { url: "http://127.0.0.1:8787" }\nwarehouse: { url: "embedded:x" }\n';
const withSync = (sync: string): string => `${HEAD}syncs: { a: { ${sync} } }`;

describe('the editor’s schema', () => {
  it('is the same on every call, and plain JSON', () => {
    expect(JSON.stringify(editorSchema())).toBe(JSON.stringify(schema));
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
  });

  it('refers only to what it defines', () => {
    const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name);
    expect(refs.filter((name) => name === undefined || !(name in definitions))).toEqual([]);
  });

  it.each(catalog.map((endpoint) => [endpoint.name, endpoint] as const))(
    'shows every request field of %s, with its meaning',
    (name, { request, paging }) => {
      const shown = definitions[name]?.properties['request']?.properties ?? {};
      expect(Object.keys(shown)).toEqual(
        Object.keys(request.shape).filter((field) => !Object.hasOwn(paging.ownFields, field)),
      );
      for (const field of Object.keys(shown))
        expect(definitions[`${name}:${field}`]).toHaveProperty('description', expect.stringMatching(/.{10}/));
    },
  );

  it('allows every shipped config, and the template', async () => {
    const shipped = (await readdir('configs')).filter((name) => name.endsWith('.yaml'));
    expect(shipped).toContain('quickstart.yaml');
    for (const name of shipped) expect([name, allows(await readFile(`configs/${name}`, 'utf8'))]).toEqual([name, true]);
    expect(allows(configTemplate(defaultInitAnswers, './sync.schema.json'))).toBe(true);
  });

  it.each([
    'endpoint: pronet.user.education, request: { count: "${N}", urn: "fsd_profile:a" }, max_age: "${AGE:-7d}"',
    'endpoint: pronet.user.education, request: { count: 1, urn: "urn:li:fsd_profile:a" }',
    'endpoint: pronet.user.education, request: { count: 1, urn: { type: fsd_profile, value: 1 } }',
    'endpoint: pronet.search.users, request: { count: 1, title: 3.10, location: ["urn:li:geo:1", Berlin, 4, { type: geo, value: x }] }, split_by: { industry: top_level }',
    'endpoint: sec.search.companies, request: { count: 1, location_codes: null }, for_each: { forms: [10-K, [10-Q, 8-K]], entity_name: { file: a.csv, column: b } }, window: { from: 2024-01-01 }',
    'endpoint: webparser.parse, for_each: { query: select url }',
    'endpoint: webparser.parse, for_each: [{ url: "https://a.example/", only_main_content: true }]',
    'endpoint: microblog.user, for_each: [{ user: a, max_age: 1d }, { user: b, max_age: null }, { user: c, max_age: "${AGE:-7d}" }]',
    'endpoint: token.requests, from: 2024-01-01, lookback: 1h',
    'endpoint: token.requests, accept: { rejects: 1% }, schedule: { cron: "0 0 * * *", timezone: UTC }',
    'endpoint: token.requests, schedule: "15 6 * * *"',
    'endpoint: token.requests, tags: { year: 2026, core: true }',
    'endpoint: microblog.user, request: null, for_each: { user: { file: 2026, column: 1 } }',
  ])('allows, as the loader does: %s', async (sync) => {
    expect(allows(withSync(sync))).toBe(true);
    expect(await problemsIn(withSync(sync), { N: '5' })).toEqual([]);
  });

  it.each([
    'endpoint: pronet.groups',
    'request: {}',
    'endpoint: pronet.group',
    'endpoint: pronet.group, request: { group: x, cuont: 1 }',
    'endpoint: pronet.group, for_each: { groop: [x] }',
    'endpoint: pronet.group, for_each: { group: [] }',
    'endpoint: pronet.group, for_each: { group: [x] }, window: { from: 2024-01-01 }',
    'endpoint: pronet.group, for_each: { group: [x] }, split_by: { group: [x] }',
    'endpoint: pronet.group, for_each: { group: [x] }, lookback: 1h',
    'endpoint: pronet.group, for_each: { group: [x] }, max_age: 7 days',
    'endpoint: pronet.group, for_each: [{ group: x, max_age: 7 days }]',
    'endpoint: pronet.group, for_each: { group: [x], max_age: [7d] }',
    'endpoint: pronet.user.education, request: { count: 1, urn: "activity:1" }',
    'endpoint: pronet.user.education, request: { count: 1, urn: { type: activity, value: x } }',
    'endpoint: sec.search.companies, request: { count: 101 }',
    'endpoint: sec.search.companies, request: { count: 1, date_from: 1.1.2024 }',
    'endpoint: sec.search.companies, request: { count: 1 }, split_by: { entity_name: [x] }',
    'endpoint: token.requests, request: { cursor: "2024-01-01T00:00:00Z" }',
    'endpoint: token.requests, in_doubt: ask',
    'endpoint: token.requests, accept: { rejects: 200% }',
  ])('refuses, as the loader does: %s', async (sync) => {
    expect(allows(withSync(sync))).toBe(false);
    expect(await problemsIn(withSync(sync))).not.toEqual([]);
  });

  it.each([
    'retries: 1',
    'prices: { pronet.groups: 1 }\nsyncs: { a: { endpoint: token.requests } }',
    'syncs: {}',
    'syncs: { A: { endpoint: token.requests } }',
  ])('refuses, as the loader does: %j', async (lines) => {
    expect(allows(`${HEAD}${lines}`)).toBe(false);
    expect(await problemsIn(`${HEAD}${lines}`)).not.toEqual([]);
  });
});
