/** The commands `diff` and `status --since`: what they count and list, and what they refuse. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveSandbox, type Sandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { SMALL } from '../flow/scene.ts';
import { freshDatabase, type FreshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import type { Ran } from './program-run.ts';

const CONFIG = `syncs:
  people: { endpoint: pronet.search.users, request: { title: engineer, count: 20 } }
  groups: { endpoint: pronet.group, for_each: { group: ["1001"] } }
  schools: { endpoint: pronet.user.education, request: { urn: "fsd_profile:ann", count: 20 } }
`;

const person = (value: string, headline: string): object => ({
  urn: { type: 'fsd_profile', value },
  name: `name of ${value}`,
  alias: value,
  headline,
});
/** The answers to the search, one for each run. */
const ANSWERS = [
  [person('ann', 'Engineer'), person('bob', 'Engineer'), person('cy', 'Engineer')],
  [person('ann', 'Manager'), person('bob', 'Engineer'), person('dee', 'Engineer')],
  [person('ann', 'Manager'), person('bob', 'Engineer'), person('dee', 'Engineer')],
];

const school = (name: string): object => ({ company: { name } });
/** The schools of a person, one list for each run: the second one comes, leaves and returns. */
const SCHOOLS = [[school('A')], [school('A'), school('B')], [school('A')], [school('A'), school('C')]];

let folder: string;
let sandbox: Sandbox;
let database: FreshDatabase;
let turn = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-diff-'));
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  sandbox = await serveSandbox({
    size: SMALL,
    token: SANDBOX_TOKEN,
    respond: ({ endpoint }) => {
      if (endpoint === 'pronet.search.users') return { body: ANSWERS[turn] };
      return endpoint === 'pronet.user.education' ? { body: SCHOOLS[turn] } : undefined;
    },
  });
  database = await freshDatabase(await postgresTemplate());
  for (turn = 0; turn < ANSWERS.length; turn += 1) expect((await sluice('sync', '--quiet', 'people')).code).toBe(0);
  expect((await sluice('sync', '--quiet', 'groups')).code).toBe(0);
  for (turn = 0; turn < SCHOOLS.length; turn += 1) expect((await sluice('sync', '--quiet', 'schools')).code).toBe(0);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const sluice = (...words: readonly string[]): Promise<Ran> =>
  runInProcess(words, {
    env: {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: database.url,
    },
  });

/** The ids of the runs of a sync, in order. */
async function runIds(sync = 'people'): Promise<readonly string[]> {
  const { out } = await sluice(
    'query',
    '--json',
    `select run_id::text from sync_runs where sync = '${sync}' order by run_id`,
  );
  return (JSON.parse(out) as { readonly run_id: string }[]).map(({ run_id: id }) => id);
}

describe('diff', () => {
  it('counts and lists what is new, changed and gone after the first run, up to the second', async () => {
    const [first = '', second = '', third = ''] = await runIds();
    const { code, out } = await sluice('diff', first, second, '--rows', 'pronet_users', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      from: { id: first, sync: 'people' },
      to: { id: second },
      tables: [{ table: 'pronet_users', new: 1, changed: 1, gone: 1 }],
      rows: [
        { change: 'changed', key: { urn_type: 'fsd_profile', urn_value: 'ann' }, columns: ['headline'] },
        { change: 'gone', key: { urn_value: 'cy' }, columns: [] },
        { change: 'new', key: { urn_value: 'dee' }, columns: [] },
      ],
      isCut: false,
    });
    expect((await sluice('diff', second, third)).out).toContain('no row is new, changed or gone');
    expect((await sluice('diff', 'previous', 'latest', '--sync', 'people')).out).toBe(
      (await sluice('diff', second, third)).out,
    );
    const { out: text } = await sluice('diff', first, third, '--rows', 'sluice.pronet_users', '--limit', '1');
    expect(text).toMatch(/^pronet_users +1 +1 +1$/m);
    expect(text).toMatch(/^changed +fsd_profile ann +headline\nmore rows differ; use --limit to list them\n$/m);
  });

  it('compares earlier runs as before after an element of a list returned', async () => {
    const ids = await runIds('schools');
    const changes = async (from: number, to: number): Promise<unknown> => {
      const { out } = await sluice(
        'diff',
        ids[from] ?? '',
        ids[to] ?? '',
        '--json',
        '--rows',
        'pronet_user_educations',
      );
      const { rows } = JSON.parse(out) as { readonly rows: { change: string; key: { position: string } }[] };
      return rows.map(({ change, key }) => `${change} ${key.position}`);
    };
    expect(await changes(0, 1)).toEqual(['new 1']);
    // It is not gone, because a later answer contains it.
    expect(await changes(1, 2)).toEqual([]);
    expect(await changes(2, 3)).toEqual(['new 1']);
    expect(await changes(1, 3)).toEqual(['new 1']);
    expect(await changes(0, 2)).toEqual([]);
  });

  it('refuses runs that cannot be compared, with the next step', async () => {
    const [first = '', second = ''] = await runIds();
    const refused = async (...words: readonly string[]): Promise<string> => {
      const { code, err } = await sluice('diff', ...words);
      expect(code).toBe(2);
      return err;
    };
    expect(await refused(second, first)).toContain(`run ${second} is not earlier than run ${first}`);
    expect(await refused('previous', 'latest')).toContain(
      'with sluice diff, --sync can name one of groups, people, schools.',
    );
    expect(await refused(first, '999')).toContain('There is no run 999.');
    expect(await refused(first, 'x')).toContain('x names no run; a run is an id, latest or previous.');
    expect(await refused(first, String(Number(second) + 2))).toContain('Name two runs of one sync.');
    expect(await refused(first, second, '--rows', 'people')).toContain('Name one of web_pages, ');
    expect(await refused(first, second, '--limit', '5')).toContain('--limit is for --rows');
  });
});

describe('status --since', () => {
  it('counts what the answers of all later runs changed', async () => {
    const [first = '', second = ''] = await runIds();
    const changesSince = async (run: string): Promise<readonly { readonly table: string }[]> =>
      (JSON.parse((await sluice('status', '--since', run, '--json')).out) as { changes: { table: string }[] }).changes;
    expect(await changesSince(first)).toContainEqual({ table: 'pronet_groups', new: 1, changed: 0, gone: 0 });
    expect((await changesSince(first)).find(({ table }) => table === 'pronet_users')).toMatchObject({
      changed: 1,
      gone: 1,
    });
    expect((await changesSince(second)).find(({ table }) => table === 'pronet_users')).toMatchObject({
      changed: 0,
      gone: 0,
    });
    expect((await sluice('status', '--since', second)).out).toMatch(/^table +new +changed +gone$/m);
    expect((await sluice('status', '--json')).out).not.toContain('"changes"');
  });
});
