/** What `sluice dbt` writes, against the tables and views that are declared. dbt itself checks it where it is installed. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { dbtSources } from '../../src/cli/reference/dbt.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { views } from '../../src/warehouse/schema/views/views.ts';
import { runInProcess } from './in-process.ts';

type Test =
  | string
  | Readonly<Record<string, { readonly name?: string; readonly arguments: Readonly<Record<string, string>> }>>;
interface Table {
  readonly name: string;
  readonly description: string;
  readonly config?: { readonly loaded_at_query: string; readonly freshness: unknown };
  readonly data_tests?: readonly Test[];
  readonly columns: readonly {
    readonly name: string;
    readonly description: string;
    readonly data_type: string;
    readonly quote: boolean;
    readonly config?: { readonly meta: { readonly personal: boolean } };
    readonly data_tests?: readonly Test[];
  }[];
}
interface Sources {
  readonly version: number;
  readonly sources: readonly { readonly name: string; readonly schema: string; readonly tables: readonly Table[] }[];
}

const text = dbtSources({ schema: 'my "odd" schema', warnAfterHours: 12 });
const [source] = (parse(text) as Sources).sources;
const found = source?.tables ?? [];
const tableNamed = (name: string): Table | undefined => found.find((it) => it.name === name);

describe('sources of dbt', () => {
  it('are all tables and views for analysts, each column with type and meaning', () => {
    expect(source).toMatchObject({ name: 'sluice', schema: 'my "odd" schema' });
    const declared = [...tables, ...views].map(({ name, about, columns }) => ({
      name,
      about,
      columns: columns.map((it) => [it.name, it.personal ? `${it.about} Personal data.` : it.about]),
    }));
    expect(
      found.map(({ name, description: about, columns }) => ({
        name,
        about,
        columns: columns.map((it) => [it.name, it.description]),
      })),
    ).toEqual(declared);
    expect(found.flatMap(({ columns }) => columns).filter((it) => it.data_type === '' || !it.quote)).toEqual([]);
  });

  it('mark the columns with personal data', () => {
    const markedIn = (name: string) =>
      tableNamed(name)
        ?.columns.filter((it) => it.config?.meta.personal)
        .map((it) => it.name);
    expect(markedIn('pronet_user_search_hits')).toEqual(['request_key', 'user_urn_value']);
    expect(markedIn('pronet_industries')).toEqual([]);
  });

  it('hold nothing that dbt would take for a template', () => {
    expect(text).not.toMatch(/\{\{|\{%|\{#/);
  });

  it('are tested by their keys: one column by itself, several together', () => {
    const column = (table: string, name: string) =>
      tableNamed(table)?.columns.find((it) => it.name === name)?.data_tests;
    expect(column('web_pages', 'page_key')).toEqual(['unique', 'not_null']);
    expect(column('web_pages', 'title')).toBeUndefined();
    expect(column('sync_freshness', 'sync')).toEqual(['unique', 'not_null']);
    expect(column('pronet_users', 'urn_value')).toEqual(['not_null']);
    expect(tableNamed('pronet_users')?.data_tests).toEqual([
      {
        unique: {
          name: 'sluice_pronet_users_key',
          arguments: {
            column_name:
              'case when "urn_type" is not null and "urn_value" is not null then row("urn_type", "urn_value")::text end',
          },
        },
      },
    ]);
    for (const { name, key } of [...tables, ...views]) {
      const own =
        tableNamed(name)
          ?.columns.filter((it) => it.data_tests?.includes('unique'))
          .map((it) => it.name) ?? [];
      const together = tableNamed(name)?.data_tests?.filter((it) => typeof it === 'object' && 'unique' in it) ?? [];
      expect({ name, own, together: together.length }).toEqual({
        name,
        own: key.length === 1 ? key : [],
        together: key.length === 1 ? 0 : 1,
      });
    }
  });

  it('are tested by what they refer to', () => {
    const related = found.flatMap((it) =>
      [...(it.data_tests ?? []), ...it.columns.flatMap((column) => column.data_tests ?? [])].flatMap((test) =>
        typeof test === 'object' && 'relationships' in test
          ? [{ from: it.name, to: test['relationships']?.arguments['to'] }]
          : [],
      ),
    );
    const declared = tables.flatMap(({ name, foreignKeys }) =>
      foreignKeys.map(({ table }) => ({ from: name, to: `source('sluice', '${table}')` })),
    );
    expect(related.toSorted(byText)).toEqual(declared.toSorted(byText));
    expect(related.length).toBeGreaterThan(30);
  });

  it('have names of tests that are short enough, each once', () => {
    const names = found.flatMap((it) =>
      (it.data_tests ?? []).flatMap((test) =>
        typeof test === 'object' ? Object.values(test).map(({ name }) => name ?? '') : [],
      ),
    );
    expect(names.filter((it) => it === '' || Buffer.byteLength(it) > 63)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are as fresh as the syncs that feed them', () => {
    const query = (name: string) => tableNamed(name)?.config?.loaded_at_query;
    const from = 'select max(refreshed_at) from "my ""odd"" schema"."sync_freshness" where endpoint in';
    expect(query('sec_filing_items')).toBe(`${from} ('sec.search.companies')`);
    expect(query('photoshare_user_posts')).toBe(`${from} ('photoshare.user', 'photoshare.user.posts')`);
    // Posts are also inside the profiles.
    expect(query('photoshare_posts')).toBe(`${from} ('photoshare.user', 'photoshare.user.posts')`);
    expect(query('fact_microblog_user_daily')).toBe(`${from} ('microblog.user')`);
    expect(tables.filter(({ name }) => query(name) === undefined)).toEqual([]);
    expect(views.filter(({ name }) => query(name) !== undefined)).toEqual([]);
    expect(tableNamed('web_pages')?.config?.freshness).toEqual({ warn_after: { count: 12, period: 'hour' } });
  });

  it('are printed for the schema of the config', async () => {
    const { code, out } = await runInProcess(['dbt', '--config', 'configs/quickstart.yaml', '--warn-after', '48'], {});
    expect(code).toBe(0);
    expect(out).toBe(dbtSources({ schema: 'sluice', warnAfterHours: 48 }));
  });
});

it('the sources of dbt are the same document with --json', async () => {
  const { code, out } = await runInProcess(['dbt', '--config', 'configs/quickstart.yaml', '--json'], {});
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(parse(dbtSources({ schema: 'sluice', warnAfterHours: 36 })));
});

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
