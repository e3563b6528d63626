/** `sluice endpoints` and `sluice tables`: everything that is declared, found by its names, without config, token or warehouse. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EndpointDetails, EndpointFacts } from '../../src/cli/reference/endpoint-facts.ts';
import { jsonSchemaOf } from '../../src/config/json-schema.ts';
import { settable } from '../../src/config/request-fields.ts';
import type { Feed } from '../../src/lineage/relations.ts';
import { catalog } from '../../src/service/catalog.ts';
import type { DictionaryColumn } from '../../src/warehouse/schema/dictionary.ts';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { views } from '../../src/warehouse/schema/views/views.ts';
import { freshDatabase } from '../support/database.ts';
import { type InProcessOptions, runInProcess } from './in-process.ts';

/** A folder without a config: the commands need none. */
let empty: string;
beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'sluice-catalog-'));
});
afterAll(() => rm(empty, { recursive: true }));

async function sluice(words: readonly string[], options: InProcessOptions = {}): Promise<string> {
  const { code, out, err } = await runInProcess(words, { cwd: empty, ...options });
  expect({ words, code, err }).toEqual({ words, code: 0, err: '' });
  return out;
}

const json = async <T>(...words: string[]): Promise<T> => JSON.parse(await sluice([...words, '--json'])) as T;

const refused = async (...words: string[]): Promise<string> => {
  const { code, out, err } = await runInProcess(words, { cwd: empty });
  expect({ words, code, out }).toEqual({ words, code: 2, out: '' });
  return err;
};

/** The lines of the table, without its two lines of heads. */
const rowsOf = (text: string): string[] => text.trimEnd().split('\n').slice(2);

describe('sluice endpoints', () => {
  it('lists every endpoint with its request, result, paging and price', async () => {
    const { endpoints } = await json<{ readonly endpoints: readonly EndpointFacts[] }>('endpoints');
    expect(endpoints).toEqual(
      catalog.map(({ name, about, method, path, returns, paging, facets, price }) => ({
        name,
        about,
        method,
        path,
        returns: returns.name,
        table: returns.table,
        paging: paging.by,
        maxCount: expect.toSatisfy((max) => max === null || max > 0),
        splitBy: facets.map((field) => expect.objectContaining({ field })),
        price: { points: price.points, per: price.per ?? null },
      })),
    );
    const rows = rowsOf(await sluice(['endpoints']));
    for (const [index, { name, method, path, returns, facets }] of catalog.entries())
      for (const word of [name, `${method} ${path}`, returns.name, facets.join(', ')])
        expect(rows[index]).toContain(word);
    expect(rows).toHaveLength(catalog.length);
  });

  it('shows the bounds of counts, the days of a window and the price of a unit', async () => {
    const text = await sluice(['endpoints']);
    const line = (name: string): string =>
      new RegExp(`^${name} .*$`, 'm').exec(text)?.[0].replaceAll(/ {2,}/g, ' | ') ?? '';
    expect(line('sec.search.companies')).toContain(
      'SecFiling | up to 100 | days, forms, location_codes | 1 point per request',
    );
    expect(line('pronet.post.reposts')).toContain('PronetPost | up to count | 1 point per 10 results');
    expect(line('token.requests')).toContain('TokenRequest | a page | free');
    expect(line('pronet.group')).toContain('PronetGroup | all | 1 point per request');
  });

  it.each(catalog.map((it) => [it.name, it] as const))(
    '%s shows every field that a config can set',
    async (name, endpoint) => {
      const { fields, setByPaging } = await json<EndpointDetails>('endpoints', name);
      expect(fields.map((it) => it.name)).toEqual(settable(endpoint));
      const { properties = {}, required = [] } = jsonSchemaOf(endpoint.request);
      for (const field of fields) {
        const { default: fallback, description, minimum, maximum } = properties[field.name] ?? {};
        const declared = { required: required.includes(field.name), default: fallback, about: description };
        expect({ field: field.name, ...declared }).toEqual({
          field: field.name,
          required: field.required,
          default: field.default,
          about: field.about,
        });
        expect(field.type).not.toBe('');
        if (minimum !== undefined)
          expect(field).toMatchObject({ min: minimum, type: expect.stringContaining(`${minimum}`) });
        if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
          expect(field).toMatchObject({ max: maximum, type: expect.stringContaining(`${maximum}`) });
      }
      expect(setByPaging.map(({ field }) => field)).toEqual(Object.keys(endpoint.paging.ownFields));
      const text = await sluice(['endpoints', name]);
      for (const field of fields) expect(text).toMatch(new RegExp(`^${field.name} +`, 'm'));
    },
  );

  it('shows examples that check accepts, for every endpoint', async () => {
    const database = await freshDatabase();
    const env = { SLUICE_SERVICE_TOKEN: 'some-token', DATABASE_URL: database.url };
    for (const { name } of catalog) {
      const { example } = await json<EndpointDetails>('endpoints', name);
      expect(await sluice(['endpoints', name])).toContain(example);
      expect(example).toContain(`endpoint: ${name}\n`);
      const file = join(empty, 'example.yaml');
      await writeFile(file, example);
      const checked = await runInProcess(['check', '--config', file], { env });
      expect({ name, code: checked.code, err: checked.err }).toEqual({ name, code: 0, err: '' });
    }
    await database.drop();
  });

  it('finds an endpoint by its path, as the request log has it', async () => {
    for (const { name, path } of catalog) expect(await json('endpoints', path)).toMatchObject({ name });
  });

  it('refuses another name with the nearest ones, exit code 2', async () => {
    expect(await refused('endpoints', 'pronet.search.user')).toBe(
      'sluice: "pronet.search.user" is not an endpoint.\nThe nearest name is pronet.search.users. Run sluice endpoints for all names.\n',
    );
    expect(await refused('endpoints', 'nothing like it')).toContain('Run sluice endpoints for all names.');
    expect(await refused('endpoints', '')).toContain('"" is not an endpoint');
  });
});

interface Shown {
  readonly name: string;
  readonly kind: string;
  readonly key: readonly string[];
  readonly about: string;
  readonly area?: string;
  readonly columns?: readonly DictionaryColumn[];
  readonly references?: readonly unknown[];
  readonly reads?: readonly string[];
  readonly feeds?: readonly Feed[];
}

describe('sluice tables', () => {
  it('lists every table and view for analysts with its kind, its key and its contents', async () => {
    const { tables: listed } = await json<{ readonly tables: readonly Shown[] }>('tables');
    expect(listed.map(({ name, key, about }) => ({ name, key, about }))).toEqual(
      [...tables, ...views].map(({ name, key, about }) => ({ name, key, about })),
    );
    const kinds = Map.groupBy(listed, ({ kind }) => kind);
    expect([...kinds.keys()].toSorted()).toEqual(['bridge', 'fact', 'history', 'list', 'table', 'view']);
    const kindOf = (name: string): string | undefined => listed.find((it) => it.name === name)?.kind;
    expect(['pronet_users', 'sec_filing_items', 'pronet_post_reposts', 'pronet_user_changes'].map(kindOf)).toEqual([
      'table',
      'list',
      'bridge',
      'history',
    ]);
    expect(['fact_request_costs', 'fact_pronet_post_daily', 'dim_date'].map(kindOf)).toEqual(['fact', 'fact', 'view']);
    const rows = rowsOf(await sluice(['tables']));
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(listed.map(({ name }) => name));
  });

  it('shows the columns of every table and view, each with type and meaning', async () => {
    for (const { name, key, columns } of [...tables, ...views]) {
      const shown = await json<Shown>('tables', name);
      expect(shown).toMatchObject({ name, key, area: 'analyst' });
      expect(shown.columns?.map((it) => [it.name, it.type])).toEqual(columns.map((it) => [it.name, it.type]));
      for (const { about } of columns) expect(shown.columns?.some((it) => it.about.startsWith(about))).toBe(true);
      expect((shown.feeds ?? []).length > 0 || (shown.reads ?? []).length > 0 || name === 'dim_date', name).toBe(true);
    }
    const text = await sluice(['tables', 'pronet_group_members']);
    expect(text).toMatch(/^group_urn_type +text +no +Key of the group\.$/m);
    expect(text).toContain('\ngroup_urn_type, group_urn_value: refers to pronet_groups (urn_type, urn_value)\n');
    expect(text).toMatch(/^pronet\.group +\[\]\.members\[\]$/m);
  });

  it('finds a table with any schema, with quotes, and one for internal use', async () => {
    for (const { name } of [...tables, ...views])
      expect(await json('tables', `sluice.${name}`)).toMatchObject({ name });
    for (const name of ['other.web_pages', '"sluice"."web_pages"', 'Web_Pages'])
      expect(await json('tables', name)).toMatchObject({ name: 'web_pages' });
    for (const { name } of operationsTables)
      expect(await json('tables', `sluice_ops.${name}`)).toMatchObject({ name, kind: 'table', area: 'operations' });
  });

  it('refuses another name with the nearest ones, exit code 2', async () => {
    expect(await refused('tables', 'sluice.pronet_user')).toContain(
      'The nearest names are pronet_users, pronet_user_changes,',
    );
    expect(await refused('tables', 'userz')).toContain('pronet_users, microblog_users, photoshare_users');
    expect(await refused('tables', 'pronet_users.nmae')).toContain(
      '"nmae" is not a column of pronet_users.\nThe nearest names are image, name.',
    );
    expect(await refused('tables', 'pronet_users.name')).toContain('"pronet_users.name" is not a table or view.');
    expect(await refused('tables', 'a.b.c.d')).toContain('"a.b.c.d" is not a table or view.');
  });
});

describe('on a terminal', () => {
  it.each([['endpoints'], ['tables']])('%s fits its width', async (command) => {
    const named = command === 'endpoints' ? 'pronet.search.users' : 'pronet_posts';
    for (const words of [[command], [command, named], ['describe', named]]) {
      const text = await sluice(words, { columns: 100, color: false });
      // The example of a config can be copied as it is.
      const [shown = ''] = text.split('\na config to begin with\n');
      expect(shown.split('\n').filter((line) => line.length > 100)).toEqual([]);
    }
  });

  it('names and requests are complete at 80 columns', async () => {
    const endpoints = await sluice(['endpoints'], { columns: 80 });
    for (const { name, method, path } of catalog)
      expect(endpoints).toMatch(new RegExp(`^${name} +${method} ${path} `, 'm'));
    expect(endpoints.replaceAll(/\s+/g, ' ')).not.toContain('…');
    const lines = rowsOf(await sluice(['tables'], { columns: 80 }));
    expect(lines.map((line) => line.split(/ {2,}/)[0])).toEqual([...tables, ...views].map(({ name }) => name));
  });

  it('the meaning of a column is wrapped and not cut', async () => {
    for (const { name } of tables) expect(await sluice(['tables', name], { columns: 80 })).not.toContain('…');
    const text = await sluice(['tables', 'pronet_users'], { columns: 80 });
    const words = text.replaceAll(/\s+/g, ' ');
    expect(words).toContain('Public handle in the profile’s address; it can change hands,');
    expect(text).not.toContain('…');
  });
});
