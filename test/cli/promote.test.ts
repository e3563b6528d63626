/** An unknown field from its first answers to a filled column: proposals, the draft in a checkout, migration and replay. */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { promote } from '../../src/flow/promote/promote.ts';
import type { Proposal } from '../../src/flow/promote/unknown-fields.ts';
import { serveSandbox, type Sandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { Secret } from '../../src/config/values/secret.ts';
import { openWarehouse } from '../../src/warehouse/connect/connect.ts';
import { realEffects } from '../support/warehouse.ts';
import { SMALL } from '../flow/scene.ts';
import { execute, freshDatabase, type FreshDatabase } from '../support/database.ts';
import { COMPILED } from '../support/compiled.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { type Ran, temporaryFolder } from './program-run.ts';
import { problemsOf } from './output-schema.ts';

const CONFIG = `syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 20 } }
  schools:
    endpoint: pronet.user.education
    request: { count: 20 }
    for_each: { urn: ["fsd_profile:a", "fsd_profile:b", "fsd_profile:c", "fsd_profile:d"] }
`;

const person = (value: string, more: object): object => ({
  urn: { type: 'fsd_profile', value },
  name: value,
  alias: value,
  ...more,
});
/** The answers to the search: the last sync repeats the one before. */
const PEOPLE = [
  person('ann', { follower_count: 12, mood: 'good' }),
  person('bob', { follower_count: 'many' }),
  person('cy', { follower_count: null }),
];
const SCHOOL = { company: { urn: { type: 'fsd_company', value: 's' }, name: 'School', size: '11-50' }, major: 'Law' };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let database: FreshDatabase;
let people: readonly object[] = PEOPLE;

/** Eight processes compile the program anew, because the copy has other paths. */
const LONG_MS = 600_000;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
  for (const name of ['src', 'scripts', 'migrations', 'configs', 'package.json'])
    await cp(join(ROOT, name), join(folder.path, 'checkout', name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder.path, 'checkout', 'node_modules'));
  sandbox = await serveSandbox({
    size: SMALL,
    token: SANDBOX_TOKEN,
    respond: ({ endpoint }) => ({ body: endpoint === 'pronet.search.users' ? people : [SCHOOL] }),
  });
  database = await freshDatabase(await postgresTemplate());
  for (const syncs of [['people', 'schools'], ['people'], ['people']])
    expect((await sluice('sync', '--quiet', ...syncs)).code).toBe(0);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await folder.remove();
});

const env = (): Readonly<Record<string, string>> => ({
  SLUICE_CONFIG: join(folder.path, 'sluice.yaml'),
  SLUICE_SERVICE_URL: sandbox.url,
  SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
  DATABASE_URL: database.url,
  SLUICE_MASKING_KEY: 'a key of enough characters',
});

/** A command of this checkout. */
const sluice = (...words: readonly string[]): Promise<Ran> => runInProcess(words, { env: env() });

/** A command of the copied checkout, which has the edited declarations. */
async function sluiceInCopy(...words: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [join(folder.path, 'checkout', 'src', 'main.js'), ...words], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: COMPILED, ...env() },
  });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

async function query(statement: string): Promise<unknown> {
  return JSON.parse((await sluice('query', '--json', statement)).out);
}

async function proposals(): Promise<readonly Proposal[]> {
  return (JSON.parse((await sluice('status', '--json')).out) as { proposals: Proposal[] }).proposals;
}

it('status proposes an unknown field as soon as more than 3 answers had it', async () => {
  expect(await proposals()).toMatchObject([{ table: 'pronet_user_educations', field: 'company.size', answers: 4 }]);
  expect((await sluice('sync', '--quiet', 'people')).code).toBe(0);
  expect(await proposals()).toMatchObject([
    // A number and a text: only JSON has both as they were sent.
    { table: 'pronet_users', field: 'follower_count', answers: 4, type: 'jsonb' },
    { table: 'pronet_users', field: 'mood', type: 'text', command: 'sluice promote pronet_users mood text' },
    {
      table: 'pronet_user_educations',
      column: 'company_size',
      answers: 4,
      type: 'text',
      command: 'sluice promote pronet_user_educations company.size text',
    },
  ]);
  expect((await sluice('status')).out).toContain(
    'pronet_user_educations.company_size: 4 answers, text; run `sluice promote pronet_user_educations company.size text`\n',
  );
});

it('a request that cannot be met is refused with what is allowed', async () => {
  const refused = await sluice('promote', 'pronet_users', 'folower_count', 'bigint');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain('did you mean "follower_count"? allowed: follower_count, mood');
  const declared = await sluice('promote', 'pronet_users', 'headline', 'text');
  expect(declared).toMatchObject({
    code: 0,
    out: 'pronet_users.headline is already declared, as text; nothing is left to do\n',
  });
});

it('a declared field whose column is not filled yet names the replay that fills it', async () => {
  await execute(database.url, `insert into sluice_ops.changed_columns values ('pronet_users', 'headline')`);
  const declared = await sluice('promote', 'pronet_users', 'headline', 'text');
  await execute(database.url, 'delete from sluice_ops.changed_columns');
  expect(declared).toMatchObject({
    code: 0,
    out: 'pronet_users.headline is already declared, as text\nnext: sluice replay\n',
  });
});

it('a declared field without a migration, as a killed process leaves it, names the draft of one', async () => {
  await execute(database.url, 'alter table sluice.pronet_users rename column headline to other');
  const declared = await sluice('promote', 'pronet_users', 'headline', 'text');
  await execute(database.url, 'alter table sluice.pronet_users rename column other to headline');
  expect(declared).toMatchObject({
    code: 0,
    out: expect.stringMatching(/already declared, as text\nnext: npm run migration:draft -- promote_pronet_users\n/),
  });
  expect(declared.out).toMatch(/next: sluice migrate\nnext: sluice replay\n$/);
});

it('an installed package shows SQL that reads the field', async () => {
  const warehouse = await openWarehouse({ url: new Secret(database.url), schema: 'sluice' }, realEffects);
  const options = {
    table: 'pronet_users',
    field: 'follower_count',
    type: 'bigint',
    personal: undefined,
    about: undefined,
  };
  const error = await promote(warehouse, { ...options, checkout: undefined }).catch((it: unknown) => it);
  await warehouse.close();
  expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('this is an installed package') });
  const [, statement = ''] = /query: (.*)$/.exec((error as { next: string }).next) ?? [];
  expect(await query(`${statement} order by 1 nulls last`)).toEqual([
    { follower_count: 12 },
    { follower_count: null },
    { follower_count: null },
  ]);
});

it(
  'a promoted field is a filled column after migrate and replay, without requests and without changes of entities',
  async () => {
    const rows = `select urn_value, _first_seen_at, _changed_at, _answer_id from pronet_users order by 1`;
    const before = await query(rows);
    const sent = sandbox.requests().length;
    const drafted = await sluiceInCopy(
      'promote',
      'pronet_users',
      'follower_count',
      'bigint',
      '--about',
      'Number of followers.',
    );
    expect(drafted).toMatchObject({ code: 0, err: '' });
    expect(drafted.out.split('\n')).toEqual(
      expect.arrayContaining([
        'drafted pronet_users.follower_count as bigint, personal data (content)',
        '1 of 2 values do not fit bigint and will stay in extra',
        'wrote src/service/resources/pronet-people.ts',
        '  alter table "pronet_users" add column "follower_count" bigint',
        'next: sluice migrate',
        'next: sluice replay',
      ]),
    );
    const inObject = await sluiceInCopy(
      'promote',
      'pronet_user_educations',
      'company.size',
      'text',
      '--personal',
      'none',
      '--json',
    );
    expect(JSON.parse(inObject.out)).toMatchObject({
      state: 'drafted',
      columns: ['company_size'],
      statements: ['alter table "pronet_user_educations" add column "company_size" text'],
    });
    expect(problemsOf('promote', JSON.parse(inObject.out))).toEqual([]);
    const again = await sluiceInCopy('promote', 'pronet_users', 'follower_count', 'bigint');
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringMatching(/already declared, as bigint\nnext: sluice migrate\nnext: sluice replay\n$/),
    });
    const source = await readFile(join(folder.path, 'checkout', 'src/service/resources/pronet-people.ts'), 'utf8');
    expect(source).toContain("follower_count: personal(integer('Number of followers.')),");

    expect(await sluiceInCopy('migrate')).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^applied .*promote_pronet_users_follower_count, .*company_size\nnext: sluice replay, or the next sync, fills pronet_user_educations.company_size, pronet_users.follower_count\n$/,
      ),
    });
    const replayed = JSON.parse((await sluiceInCopy('replay', '--json')).out) as object;
    expect(replayed).toMatchObject({
      exitCode: 0,
      loaded: 0,
      written: {},
      filled: [
        { table: 'pronet_users', column: 'follower_count', rows: 1 },
        { table: 'pronet_user_educations', column: 'company_size', rows: 4 },
      ],
    });
    expect(sandbox.requests()).toHaveLength(sent);
    expect(await query('select urn_value, follower_count, extra from pronet_users order by 1')).toEqual([
      { urn_value: 'ann', follower_count: 12, extra: { mood: 'good' } },
      { urn_value: 'bob', follower_count: null, extra: { follower_count: 'many' } },
      { urn_value: 'cy', follower_count: null, extra: null },
    ]);
    expect(await query('select distinct company_size, extra from pronet_user_educations')).toEqual([
      { company_size: '11-50', extra: null },
    ]);
    expect(await query(rows)).toEqual(before);
    expect(await query('select count(*)::int as n from pronet_user_changes')).toEqual([{ n: 0 }]);
    expect(await query("select path from sluice_ops.drift where kind = 'unknown field'")).toEqual([{ path: 'mood' }]);

    people = [person('ann', { follower_count: 13, mood: 'good' }), ...PEOPLE.slice(1)];
    const checked = JSON.parse((await sluiceInCopy('check', '--json')).out) as object;
    expect(checked).toMatchObject({ ok: true });
    const synced = JSON.parse((await sluiceInCopy('sync', '--json', 'people')).out) as { syncs: object[] };
    expect(synced.syncs).toMatchObject([{ loaded: 1, unchanged: 2 }]);
    expect(await query('select attribute, from_value, to_value from pronet_user_changes')).toEqual([
      { attribute: 'follower_count', from_value: '12', to_value: '13' },
    ]);
    // A role without the right to personal data does not see it.
    const { out: grants } = await sluiceInCopy('grants', '--without-personal');
    const maskedView = (table: string): string | undefined =>
      grants.split('create or replace view ').find((it) => it.startsWith(`"sluice_masked"."${table}" `));
    expect(maskedView('pronet_users')).toContain('open_to_work');
    expect(maskedView('pronet_users')).not.toContain('follower_count');
    expect(maskedView('pronet_user_educations')).toContain('company_size');
  },
  LONG_MS,
);
