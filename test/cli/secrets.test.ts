/** Secrets stay out of everything that the program says, wherever they come from. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { runHere } from './here.ts';
import { type Ran, run, temporaryFolder } from './program-run.ts';

const TOKEN = 'canary-token/"+$9';
const PASSWORD = 'canary-p@ss w%rd';

/** Any of the spellings in which a secret could slip out. */
const SPELLINGS = [TOKEN, PASSWORD].flatMap((it) => [it, encodeURIComponent(it), JSON.stringify(it).slice(1, -1)]);

function expectNoSecret({ out, err }: Ran): void {
  for (const spelling of SPELLINGS) expect(`${out}${err}`.includes(spelling), spelling).toBe(false);
  expect(`${out}${err}`).not.toContain('canary');
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let database: FreshDatabase;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase();
  // A service that repeats the token in whatever it refuses.
  const detail = `refused ${TOKEN} and ${encodeURIComponent(TOKEN)}`;
  sandbox = await serveSandbox({ token: TOKEN, respond: () => ({ status: 401, body: { detail } }) });
  const config = [
    'service: { url: "${SLUICE_SERVICE_URL}", token: "${SLUICE_SERVICE_TOKEN}", requests_per_second: 100 }',
    'warehouse: { url: "${DATABASE_URL}" }',
    'syncs: { groups: { endpoint: pronet.group, for_each: { group: ["1"] } } }',
  ];
  await writeFile(join(folder.path, 'sluice.yaml'), config.join('\n'));
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await folder.remove();
});

/** Most of it inside this process, for the sake of time; what differs outside is the last test's. */
const here = (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  runHere(words, { env: env({ SLUICE_CONFIG: join(folder.path, 'sluice.yaml'), ...more }) });

const env = (more: Readonly<Record<string, string>> = {}) => ({
  SLUICE_SERVICE_URL: sandbox.url,
  SLUICE_SERVICE_TOKEN: TOKEN,
  DATABASE_URL: `postgres://user:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/warehouse`,
  ...more,
});

describe('a database that does not answer', () => {
  it.each([['check'], ['status'], ['migrate'], ['sync', '--verbose'], ['query', 'select 1', '--verbose']])(
    'is told without its password: %s',
    async (...words) => {
      const ran = await here(words);
      expect(ran.code).toBe(5);
      expect(`${ran.out}${ran.err}`).toContain('127.0.0.1:1');
      expectNoSecret(ran);
    },
  );
});

describe('an address or a token that is wrong', () => {
  it.each([
    ['a password that was not encoded', { DATABASE_URL: `postgres://user:${PASSWORD}@127.0.0.1:1/warehouse` }],
    ['another kind of address', { DATABASE_URL: `mysql://user:${encodeURIComponent(PASSWORD)}@127.0.0.1/warehouse` }],
    [
      'an address with the password in a parameter',
      { DATABASE_URL: `postgres://h/d?sslmode=x&password=${encodeURIComponent(PASSWORD)}` },
    ],
    ['a token with a space', { SLUICE_SERVICE_TOKEN: `${TOKEN} ${TOKEN}` }],
    ['a token with a line break', { SLUICE_SERVICE_TOKEN: `${TOKEN}\n` }],
  ])('is refused without showing it: %s', async (_what, more) => {
    const ran = await here(['check', '--verbose'], more);
    expect(ran.code).toBeGreaterThan(0);
    expectNoSecret(ran);
  });
});

describe('a service that repeats the token', () => {
  it.each([[[]], [['--json']], [['--verbose']]])('is quoted without it %j', async (flags) => {
    const ran = await here(['sync', ...flags], { DATABASE_URL: database.url });
    expect(ran.code).toBe(3);
    expect(`${ran.out}${ran.err}`).toContain('[redacted]');
    expectNoSecret(ran);
    expectNoSecret(await here(['status', ...flags], { DATABASE_URL: database.url }));
  });
});

describe('a secret in a file', () => {
  it('is kept out as well, by the program itself', async () => {
    const at = join(folder.path, 'token');
    await writeFile(at, `${TOKEN}\n`);
    const { SLUICE_SERVICE_TOKEN: _, ...rest } = env({ DATABASE_URL: 'embedded:.sluice' });
    const ran = await run(['sync', '--json', '--verbose'], {
      cwd: folder.path,
      env: { ...rest, SLUICE_SERVICE_TOKEN_FILE: at },
    });
    expect(ran.code).toBe(3);
    expect(ran.out).toContain('[redacted]');
    expectNoSecret(ran);
  });
});
