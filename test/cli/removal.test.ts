/** The commands `forget` and `prune`: what they report before, what they ask, what they leave, and how each ends. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveSandbox, type Sandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { SMALL } from '../flow/scene.ts';
import { execute, freshDatabase, type FreshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { type InProcessOptions, runInProcess } from './in-process.ts';
import type { Ran } from './program-run.ts';

const CONFIG = `syncs:
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002", "1003"] } }
`;
const DAY_MS = 86_400_000;

let folder: string;
let sandbox: Sandbox;
let database: FreshDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-removal-'));
  await writeFile(join(folder, 'sluice.yaml'), CONFIG);
  sandbox = await serveSandbox({ size: SMALL, token: SANDBOX_TOKEN });
  database = await freshDatabase(await postgresTemplate());
  expect((await sluice(['sync', '--quiet'])).code).toBe(0);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const sluice = (words: readonly string[], options: InProcessOptions = {}): Promise<Ran> =>
  runInProcess(words, {
    ...options,
    env: {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: database.url,
      ...options.env,
    },
  });

const rowsOf = async (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  JSON.parse((await sluice(['query', '--json', sql])).out) as never;
const groups = async (): Promise<unknown[]> =>
  (await rowsOf('select urn_value from pronet_groups order by 1')).map((it) => it['urn_value']);

describe('forget', () => {
  it.each([
    [['people', 'x'], 2, 'people is not a table of entities', 'Name one of '],
    [
      ['pronet_groups', 'x'],
      2,
      'the key of pronet_groups has 2 parts, 1 given',
      'sluice forget pronet_groups URN_TYPE URN_VALUE',
    ],
    [['pronet_groups', 'group', ''], 2, 'has 2 parts', 'URN_TYPE'],
  ] as const)('of %j is refused before a warehouse is opened', async (words, code, found, next) => {
    const ran = await sluice(['forget', ...words], { env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } });
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: '' });
    expect(ran.err).toContain(found);
    expect(ran.err).toContain(next);
  });

  it('reports what would be removed if there is no terminal, and removes nothing', async () => {
    const { code, out } = await sluice(['forget', 'pronet_groups', 'group', '1001']);
    expect(code).toBe(0);
    expect(out).toMatch(/^table +rows to remove or change$/m);
    expect(out).toMatch(/^pronet_groups +1$/m);
    expect(out).toMatch(/1 stored answer would be rewritten.*\nnothing was removed; add --yes to remove it\n$/);
    expect(await groups()).toEqual(['1001', '1002', '1003']);
  });

  it('asks at a terminal, and takes no other word for yes', async () => {
    const { code, out, err } = await sluice(['forget', 'pronet_groups', 'group', '1001'], {
      answers: ['y'],
      columns: 100,
    });
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toMatch(/pronet_groups +1\n[\s\S]*Remove all of it\? Type yes: nothing was removed\n$/);
    expect(await groups()).toEqual(['1001', '1002', '1003']);
  });

  it('removes what was confirmed, and leaves a receipt that reveals nothing of it', async () => {
    const [{ name } = { name: undefined }] = await rowsOf(`select name from pronet_groups where urn_value = '1001'`);
    const { code, out } = await sluice(['forget', 'pronet_groups', 'group', '1001'], {
      answers: ['yes'],
      columns: 100,
    });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^1 stored answer was rewritten, 0 of them erased completely; 1 request was given a pseudonym;/m,
    );
    expect(out).toMatch(/^receipt \S+: later answers will not load it again\. Backups/m);
    expect(await groups()).toEqual(['1002', '1003']);
    const left = JSON.stringify(await rowsOf('select * from sluice_ops.erasures'));
    for (const word of [String(name), '1001']) expect(left + out).not.toContain(word);
  });

  it('prints the same as JSON without a question, and brings nothing back', async () => {
    const words = ['forget', 'pronet_groups', 'group', '1002', '--json'];
    const dry = await sluice(words, { answers: [] });
    expect(JSON.parse(dry.out)).toMatchObject({ dryRun: true, found: true, receipt: null });
    const { code, out } = await sluice([...words, '--yes'], { answers: [] });
    expect(code).toBe(0);
    const { receipt, rows, ...summary } = JSON.parse(out) as Record<string, unknown>;
    expect(summary).toMatchObject({
      exitCode: 0,
      dryRun: false,
      table: 'pronet_groups',
      found: true,
      comesAgain: false,
    });
    expect(rows).toMatchObject({ pronet_groups: 1 });
    expect(receipt).toEqual(expect.any(String));
    expect(out).not.toContain('1002');
    expect((await sluice(['plan'])).out).toContain('groups: left out because of a forgotten entity: 2 requests.\n');
    expect((await sluice(['sync', '--quiet'])).code).toBe(0);
    expect(await groups()).toEqual(['1003']);
  });

  it('reports that nothing was found, and asks for the remaining decision', async () => {
    const words = ['forget', 'pronet_groups', 'group', 'none'];
    const ran = await sluice(words);
    expect({ code: ran.code, out: ran.out }).toEqual({
      code: 2,
      out: 'nothing has this key: no row of pronet_groups, no stored answer, no request. Check the key with sluice query\nnothing was removed; add --yes to keep later answers from loading it\n',
    });
    expect((await sluice(words, { answers: ['no'], columns: 100 })).err).toContain(
      'Keep later answers from loading it? Type yes: ',
    );
    expect(JSON.parse((await sluice([...words, '--json', '--yes'])).out)).toMatchObject({ found: false, rows: {} });
  });

  it('waits for no sync that is at work: it ends with 7', async () => {
    const lease = (seconds: number) =>
      execute(
        database.url,
        `update sluice_ops.leases set holder = 'other', expires_at = now() + interval '${seconds} seconds' where name = 'sync:groups'`,
      );
    await lease(600);
    const { code, err } = await sluice(['forget', 'pronet_groups', 'group', '1003', '--yes']);
    expect(code).toBe(7);
    expect(err).toMatch(/holds the lease of sync:groups: other/);
    await lease(-1);
    expect(await groups()).toEqual(['1003']);
  });
});

describe('prune', () => {
  const inAYear = { now: () => new Date(Date.now() + 365 * DAY_MS) };

  it.each([
    [[], '--older-than is missing'],
    [['--older-than', '12h'], '--older-than is 12h; allowed is an age of a day or more'],
    [['--older-than', 'soon'], '--older-than is soon'],
  ] as const)('%j is refused before a warehouse is opened', async (words, says) => {
    const ran = await sluice(['prune', ...words], { env: { DATABASE_URL: 'postgres://127.0.0.1:1/none' } });
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 2, out: '' });
    expect(ran.err).toContain(says);
    expect(ran.err).toContain('sluice prune --older-than 90d');
  });

  it('reports what would be removed, removes it after the confirmation, and then finds nothing', async () => {
    const bodies = async (): Promise<unknown> =>
      (await rowsOf('select count(*) filter (where pruned_at is null) as n from sluice_ops.answers'))[0]?.['n'];
    const before = await bodies();
    expect((await sluice(['prune', '--older-than', '90d'])).out).toMatch(/^0 bodies of .* would be deleted/);
    const dry = await sluice(['prune', '--older-than', '90d'], inAYear);
    expect(dry.code).toBe(0);
    expect(dry.out).toMatch(/^[1-9]\d* bodies of answers received before \S+ would be deleted: /);
    expect(dry.out).toMatch(/\nnothing was deleted; add --yes to delete it\n$/);
    expect(await bodies()).toBe(before);
    const dryRun = JSON.parse((await sluice(['prune', '--older-than', '90d', '--json'], inAYear)).out) as {
      answers: number;
    };
    expect(dryRun.answers).toBeGreaterThan(0);
    const done = await sluice(['prune', '--older-than', '90d', '--yes', '--json'], inAYear);
    expect(JSON.parse(done.out)).toMatchObject({ exitCode: 0, dryRun: false, answers: dryRun.answers });
    expect(await bodies()).toBe(0);
    expect(await groups()).toEqual(['1003']);
    expect((await sluice(['prune', '--older-than', '90d', '--yes'], inAYear)).out).toMatch(
      /^0 bodies of .* were deleted/,
    );
  });

  it('leaves entries of the quarantine, which say that their item is gone', async () => {
    await execute(
      database.url,
      `insert into sluice_ops.quarantine (answer_id, sync, endpoint, resource, position, pointer, reason, created_at, resolved_at)
        select id, sync, endpoint, 'PronetGroup', 0, '/0', 'no key', now(), now() from sluice_ops.answers
        where pruned_at is not null limit 1`,
    );
    const [entry] = await rowsOf('select entry_id from quarantined_items');
    const shown = await sluice(['quarantine', 'show', String(entry?.['entry_id'])]);
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(/\nThe body of the answer was removed, by sluice prune or sluice forget\.\n$/);
  });
});

it.each([
  ['forget', 'pronet_groups', 'group', '1'],
  ['prune', '--older-than', '90d'],
])('%s says so of a warehouse that is empty', async (...words) => {
  const empty = await freshDatabase();
  const { code, err } = await sluice(words, { env: { DATABASE_URL: empty.url } });
  expect(code).toBe(2);
  expect(err).toContain('the warehouse is empty');
  expect(err).toContain('DATABASE_URL');
  await empty.drop();
});
