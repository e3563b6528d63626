import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { applyGrants, maskedGrantStatements } from '../../src/warehouse/migrate/grants.ts';
import { maskedSchema } from '../../src/warehouse/masking/masked-views.ts';
import { migrate } from '../../src/warehouse/migrate/migrate.ts';
import { steps } from '../../src/warehouse/migrate/migrations.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { quoted } from '../../src/warehouse/sql/identifiers.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { postgresWarehouses } from '../support/warehouse.ts';

const NAMES = { schema: 'sluice', ops: 'sluice_ops' };
const KEY = new Secret('a masking key of this test');
/** Appended to every personal text that the service sends. */
const MARK = 'zqPERSONALqz';
/** Names of people in the requests of the quickstart. */
const REQUESTED = ['north_trail', 'river_coffee', '7100000000000000001', 'site-1.example'];

/** By path of the endpoint: the fields, with all below them, that do not concern a person. All other texts get the mark. */
const NOT_PERSONAL: Readonly<Record<string, readonly string[]>> = {
  '/api/pronet/user/education': ['company'],
  '/api/pronet/group': ['urn', 'name', 'url', 'image', 'description', 'rules', 'geo', 'industries', 'members.role'],
  '/api/microblog/user': ['verified_type', 'professional.professional_type', 'verification_info'],
  '/api/photoshare/user': ['category'],
};
/** Fields of public filings that name or place filers, who can be people. */
const PERSONAL_IN_FILINGS = ['display_names', 'biz_locations'];

/** URN types of organizations, which write posts and are mentioned as people are. */
const ORGANIZATIONS = ['fsd_company', 'company', 'school'];
/** Fields that identify an entity, by their name. */
const IDENTIFIERS = ['value', 'id', 'rest_id'];

interface Marking {
  readonly endpoint: string;
  /** How many marks a text gets that does not identify an entity: another number changes the entities. */
  readonly marks: number;
}

/** The answer with the mark in every personal text, and in a field that the contract does not have. `at` is a dotted path. */
function marked(value: unknown, marking: Marking, at = ''): unknown {
  const { endpoint, marks } = marking;
  if (NOT_PERSONAL[endpoint]?.includes(at) || isOrganization(value)) return value;
  if (Array.isArray(value)) return value.map((it) => marked(it, marking, at));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([name, it]) => [name, marked(it, marking, at === '' ? name : `${at}.${name}`)] as const,
    );
    return { ...Object.fromEntries(entries), ...('@type' in value && { undeclared: `a new field ${MARK}` }) };
  }
  const field = at.split('.').at(-1) ?? '';
  const isMarked = endpoint.startsWith('/api/sec/') ? PERSONAL_IN_FILINGS.includes(field) : !/^@?type$/.test(field);
  if (typeof value !== 'string' || !isMarked) return value;
  return value + MARK.repeat(IDENTIFIERS.includes(field) ? 1 : marks);
}

const isOrganization = (value: unknown): boolean =>
  ORGANIZATIONS.includes(String((value as { readonly urn?: { readonly type?: unknown } } | null)?.urn?.type));

/** The address of a server that passes requests to the sandbox without the mark, and answers back with it. */
const markingService =
  (marks: number) =>
  async (sandboxUrl: string): Promise<string> => {
    const server = createServer((request, response) => {
      void forward(sandboxUrl, request, marks).then(({ status, text }) => response.writeHead(status).end(text));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

async function forward(
  sandboxUrl: string,
  request: IncomingMessage,
  marks: number,
): Promise<{ status: number; text: string }> {
  const body = (await buffer(request)).toString().replaceAll(MARK, '');
  const url = new URL(request.url ?? '/', sandboxUrl);
  const response = await fetch(url, {
    method: request.method ?? 'GET',
    headers: { 'access-token': String(request.headers['access-token']), 'content-type': 'application/json' },
    ...(request.method === 'POST' && { body }),
  });
  const text = await response.text();
  if (response.status !== 200 || url.pathname.includes('token')) return { status: response.status, text };
  return { status: 200, text: JSON.stringify(marked(JSON.parse(text), { endpoint: url.pathname, marks })) };
}

/** A role of this test; it is dropped at the end. */
function newRole(warehouse: Warehouse): string {
  const role = `masked ${randomBytes(6).toString('hex')}`;
  onTestFinished(async () => {
    const { rows } = await sql`select from pg_roles where rolname = ${role}`.execute(warehouse.db);
    if (rows.length === 0) return;
    await sql.raw(`drop owned by ${quoted(role)} cascade`).execute(warehouse.db);
    await sql.raw(`drop role ${quoted(role)}`).execute(warehouse.db);
  });
  return role;
}

/** Does work in the role. */
const as = <T>(warehouse: Warehouse, role: string, statement: string): Promise<readonly T[]> =>
  warehouse.db.transaction().execute(async (tx) => {
    await sql.raw(`set local role ${quoted(role)}`).execute(tx);
    const { rows } = await sql.raw<T>(statement).execute(tx);
    return rows;
  });

/** Every relation that the role can read, including those of the catalog that show values, as text. */
async function readable(warehouse: Warehouse, role: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'v', 'm', 'p') and has_schema_privilege(${role}, n.oid, 'usage')
      and has_any_column_privilege(${role}, c.oid, 'select')
      and (n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') or c.relname in ('pg_stats', 'pg_stats_ext', 'pg_views'))
    order by 1`.execute(warehouse.db);
  const texts = new Map<string, string>();
  for (const { name } of rows) {
    const [text] = await as<{ text: string }>(
      warehouse,
      role,
      `select coalesce(string_agg(t::text, E'\\n'), '') as text from ${name} t`,
    );
    texts.set(name, text?.text ?? '');
  }
  return texts;
}

const countOf = async (warehouse: Warehouse, query: string): Promise<string> => {
  const { rows } = await sql
    .raw<{ count: string }>(`select count(*)::text as count from ${query}`)
    .execute(warehouse.db);
  return rows[0]?.count ?? '';
};

describe('a role without personal data', () => {
  const open = postgresWarehouses();

  it('reads no personal text that any answer or request of the quickstart contained, and can still count and join', async () => {
    const warehouse = await open();
    await runQuickstart(warehouse, '2026-11-20T12:00:00Z', markingService(1));
    await runQuickstart(warehouse, '2027-01-20T12:00:00Z', markingService(2));
    await sql`analyze`.execute(warehouse.db);
    const [reader, masked] = [newRole(warehouse), newRole(warehouse)];
    await applyGrants(warehouse, reader);
    await applyGrants(warehouse, masked, KEY);

    const unmasked = await readable(warehouse, reader);
    for (const table of [
      'pronet_users',
      'web_pages',
      'microblog_users',
      'photoshare_posts',
      'sync_inputs',
      'pronet_user_changes',
      'web_page_changes',
      'pronet_users_history',
      'pronet_posts_history',
    ])
      expect(unmasked.get(`sluice.${table}`), table).toContain(MARK);

    const texts = await readable(warehouse, masked);
    const leaks = [...texts].flatMap(([name, text]) =>
      [MARK, ...REQUESTED].filter((secret) => text.includes(secret)).map((secret) => `${name} shows ${secret}`),
    );
    expect(leaks, 'mark the fields as personal in src/service/resources, or name them in NOT_PERSONAL').toEqual([]);
    expect([...texts.keys()].filter((name) => /^sluice(_ops)?\./.test(name))).toEqual([]);

    for (const table of ['pronet_users', 'pronet_posts', 'sec_filings', 'sync_runs', 'fact_request_costs'])
      expect(await countOf(warehouse, `sluice_masked.${table}`)).toBe(await countOf(warehouse, `sluice.${table}`));
    for (const [from, prefix, to] of [
      ['pronet_user_search_hits', 'user_urn', 'pronet_users'],
      ['pronet_posts', 'author_urn', 'pronet_users'],
      ['pronet_posts', 'author_urn', 'pronet_companies'],
      ['pronet_post_overview', 'author_urn', 'pronet_companies'],
      ['pronet_posts_history', 'author_urn', 'pronet_companies'],
      ['pronet_post_mentions', 'urn', 'pronet_users'],
      ['pronet_post_mentions', 'urn', 'pronet_companies'],
      ['pronet_post_mention_overview', 'mentioned_urn', 'pronet_companies'],
      ['pronet_user_educations', 'company_urn', 'pronet_companies'],
    ] as const) {
      const joined = (schema: string) =>
        `${schema}.${from} f join ${schema}.${to} t on t.urn_type = f.${prefix}_type and t.urn_value = f.${prefix}_value`;
      const found = { from, to, rows: await countOf(warehouse, joined('sluice')) };
      expect({ from, to, rows: await countOf(warehouse, joined('sluice_masked')) }).toEqual(found);
      expect(found).not.toEqual({ from, to, rows: '0' });
    }
  });

  it('gets other hashes with another key, and the same with the same', async () => {
    const warehouse = await open();
    await sql`insert into sluice.microblog_users (rest_id, name, _first_seen_at, _changed_at, _run_id, _answer_id, _content_hash, _part_hashes)
      values ('42', 'Ada', now(), now(), 1, 1, '', '')`.execute(warehouse.db);
    const role = newRole(warehouse);
    const hash = async (key: string): Promise<unknown> => {
      await applyGrants(warehouse, role, new Secret(key));
      const rows = await as<{ rest_id: string }>(warehouse, role, 'select rest_id from sluice_masked.microblog_users');
      return rows[0]?.rest_id;
    };
    const first = await hash('the first key of all');
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await hash('the second key of all')).not.toBe(first);
    expect(await hash('the first key of all')).toBe(first);
    await expect(as(warehouse, role, 'select name from sluice_masked.microblog_users')).rejects.toThrow(
      'does not exist',
    );
    await expect(as(warehouse, role, 'select key from sluice_ops.masking_keys')).rejects.toThrow('permission denied');
  });

  it('keeps its views and its rights when a migration replaces what they read', async () => {
    const warehouse = await open();
    const role = newRole(warehouse);
    await applyGrants(warehouse, role, KEY);
    const before = await readable(warehouse, role);
    await sql`alter view sluice.pronet_user_overview rename column headline to former`.execute(warehouse.db);
    await sql`update sluice_ops.applied_views set checksum = 'x' where name = 'pronet_user_overview'`.execute(
      warehouse.db,
    );
    await migrate(warehouse, 'up');
    expect([...(await readable(warehouse, role)).keys()]).toEqual([...before.keys()]);
    await sql`delete from sluice_ops.masking_keys`.execute(warehouse.db);
    const reverted = Object.keys(steps).filter((name) => name >= '0003_quality_and_erasure');
    for (const name of reverted.toReversed()) expect(await migrate(warehouse, 'down')).toEqual([name]);
    expect(await countOf(warehouse, `pg_views where schemaname = 'sluice_masked'`)).toBe('0');
    await migrate(warehouse, 'up');
    expect([...(await readable(warehouse, role)).keys()]).toEqual([...before.keys()]);
  });

  it('keeps views of users on its views, unless columns change that they may read', async () => {
    const warehouse = await open();
    const { db } = warehouse;
    const role = newRole(warehouse);
    await applyGrants(warehouse, role, KEY);
    const before = await readable(warehouse, role);
    await sql`create view public.mine as select urn_value from sluice_masked.pronet_users`.execute(db);
    await sql`create view public.other as select token from sluice_masked.balance_forecast`.execute(db);
    const renameAColumn = async () => {
      await sql`alter view sluice.logged_requests rename column log_id to old_id`.execute(db);
      await sql`update sluice_ops.applied_views set checksum = 'x' where name = 'logged_requests'`.execute(db);
    };

    expect(await migrate(warehouse, 'up')).toEqual([]);
    await renameAColumn();
    await expect(migrate(warehouse, 'up')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/view (public\.)?other depends on view sluice_masked\.balance_forecast/),
      next: 'Nothing was changed. Drop your objects, run the migration again, and recreate them.',
    });
    await sql`drop view public.other`.execute(db);
    await sql`alter view sluice_masked.web_pages rename column page_key to former`.execute(db);
    expect(await migrate(warehouse, 'up')).toEqual([]);

    expect(await countOf(warehouse, 'public.mine')).toBe('0');
    await sql`drop view public.mine`.execute(db);
    expect([...(await readable(warehouse, role)).keys()]).toEqual([...before.keys()]);
    await as(warehouse, role, 'select page_key from sluice_masked.web_pages');
  });

  it('loses the view of another version with what the view reads, and keeps views of users', async () => {
    const warehouse = await open();
    const { db } = warehouse;
    await applyGrants(warehouse, newRole(warehouse), KEY);
    for (const statement of [
      'create view sluice.gone as select 1 as one',
      "insert into sluice_ops.applied_views values ('gone', 'x')",
      'create view sluice_masked.gone as select one from sluice.gone',
      'create view sluice.mine as select 1 as one',
      'create view sluice_masked.mine as select one from sluice.mine',
    ])
      await sql.raw(statement).execute(db);

    expect(await migrate(warehouse, 'up')).toEqual([]);

    const { rows } = await sql<{ name: string }>`
      select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('sluice', 'sluice_masked') and c.relname in ('gone', 'mine', 'sync_runs') order by 1`.execute(
      db,
    );
    expect(rows.map(({ name }) => name)).toEqual([
      'sluice.mine',
      'sluice.sync_runs',
      'sluice_masked.mine',
      'sluice_masked.sync_runs',
    ]);
  });

  it('loses what it could read before, and is refused while it could read more in another way', async () => {
    const warehouse = await open();
    const role = newRole(warehouse);
    await applyGrants(warehouse, role);
    await applyGrants(warehouse, role, KEY);
    await sql`create table sluice.later as select 'Ada' as name`.execute(warehouse.db);
    expect([...(await readable(warehouse, role)).keys()].filter((name) => !name.startsWith('sluice_masked.'))).toEqual([
      'pg_catalog.pg_stats',
      'pg_catalog.pg_stats_ext',
      'pg_catalog.pg_views',
    ]);
    await sql`grant usage on schema sluice_ops to public`.execute(warehouse.db);
    await sql`grant select (body) on sluice_ops.answers to public`.execute(warehouse.db);
    await expect(applyGrants(warehouse, newRole(warehouse), KEY)).rejects.toThrow(
      'can still read 1 tables and views with personal data, such as sluice_ops.answers, through PUBLIC',
    );
  });

  it('is created by the printed statements only in a session with a key that is long enough', async () => {
    const warehouse = await open();
    const role = newRole(warehouse);
    const run = (key: string | undefined): Promise<void> =>
      warehouse.db.transaction().execute(async (tx) => {
        if (key !== undefined) await sql`select set_config('sluice.masking_key', ${key}, true)`.execute(tx);
        for (const statement of maskedGrantStatements(NAMES, role)) await sql.raw(statement).execute(tx);
      });
    await expect(run(undefined)).rejects.toThrow(/sluice\.masking_key/);
    await expect(run('short')).rejects.toThrow('the setting sluice.masking_key has fewer than 16 characters');
    await run('long enough for a key');
    expect(await as(warehouse, role, 'select sync from sluice_masked.sync_freshness')).toEqual([]);
  });

  it('needs a schema whose name leaves room for its suffix', () => {
    const schema = 's'.repeat(57);
    expect(maskedSchema(schema)).toHaveLength(64);
    expect(() => maskedGrantStatements({ schema, ops: `${schema}_ops` }, 'reader')).toThrow('is too long');
  });
});
