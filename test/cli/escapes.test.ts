/** What comes from elsewhere is printed harmless: no name, value or reason moves the cursor or turns a line round. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

/** Clears the screen, sets a title, rings, turns the line round, goes back, and so on, in every way that there is. */
const EVIL = 'a\u001b[2J\u001b]0;owned\u0007\u009b31m\r\nb\u0008\u007f\u202egpj.exe\u2066\u200f\u2028c\u0085d';
/** Whatever a terminal obeys, but for the line breaks that end lines of ours. */
const HARMFUL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]/gu;
const harmIn = (text: string): string[] =>
  (text.match(HARMFUL) ?? []).filter((it) => it !== '\n').map((it) => `U+${it.codePointAt(0)?.toString(16) ?? ''}`);

const CONFIG = `
service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000 }
warehouse: { url: "\${DATABASE_URL}" }
syncs:
  users: { endpoint: microblog.user, for_each: { user: [ada, ${JSON.stringify(EVIL)}] } }
  groups: { endpoint: pronet.group, for_each: { group: ["1", ${JSON.stringify(EVIL)}] } }
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
  sandbox = await serveSandbox({
    respond: ({ endpoint, body }) => {
      if (endpoint === 'microblog.user') {
        const item = { rest_id: EVIL, internal_id: EVIL, name: EVIL, alias: EVIL, url: EVIL, [EVIL]: EVIL };
        return { body: [item, EVIL, { [EVIL]: 1 }] };
      }
      const asked = (body as { readonly group: unknown }).group;
      return asked === EVIL
        ? { status: 422, body: { detail: EVIL }, headers: {} }
        : { status: 404, body: JSON.stringify({ message: `${EVIL} is not there` }) };
    },
  });
  await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await folder.remove();
});

const ran = (words: readonly string[], columns: number | 'a pipe') =>
  runInProcess(words, {
    ...(columns !== 'a pipe' && { columns }),
    env: {
      SLUICE_CONFIG: join(folder.path, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      SLUICE_SPOOL: join(folder.path, 'spool'),
      DATABASE_URL: database.url,
    },
  });

const QUERY = 'select rest_id, name, extra from microblog_users';

describe('nothing that a terminal obeys is printed', () => {
  it.each([
    [['sync'], 'partial'],
    [['plan'], 'users'],
    [['check'], 'config'],
    [['status'], 'b'],
    [['status', '--json'], '"failures"'],
    [['quarantine'], 'MicroblogUser'],
    [['quarantine', 'show', '1'], String.raw`\u001b[2J`],
    [['quarantine', 'retry'], 'answer'],
    [['report'], 'Sluice report'],
    [['report', '--json'], '"quarantine"'],
    [['replay'], 'answer'],
    [['query', QUERY], '␛[2J'],
    [['query', QUERY, '--json'], String.raw`\u001b[2J`],
    [['query', `select '${EVIL}' as "x${EVIL}"`], '␛[2J'],
    [['query', `select "${EVIL}"`], '␛[2J'],
    [['query', `${EVIL} select`], ''],
    [[EVIL], '␛[2J'],
    [['sync', EVIL], String.raw`\u001b[2J`],
    [['sync', `--${EVIL}`], ''],
    [['sync', '--from', EVIL], ''],
    [['check', '--config', EVIL], ''],
    [['quarantine', EVIL], ''],
  ] as const)('by %j', async (words, says) => {
    for (const columns of [100, 20]) {
      // Quiet, as the progress on a terminal is a line that the program itself moves about.
      const { out, err } = await ran([...words, '--quiet'], columns);
      expect(harmIn(out)).toEqual([]);
      expect(harmIn(err)).toEqual([]);
      if (columns === 100) expect(`${out}${err}`).toContain(says);
    }
  });

  it('but JSON and CSV say exactly what there is', async () => {
    const json = await ran(['query', QUERY, '--json'], 'a pipe');
    expect(JSON.parse(json.out)).toMatchObject([{ rest_id: EVIL, name: EVIL, extra: { [EVIL]: EVIL } }]);
    const csv = await ran(['query', 'select name from microblog_users', '--csv'], 'a pipe');
    expect(csv.out).toBe(`name\n"${EVIL}"\n`);
  });
});
