/**
 * What a new user runs into in the first hour: the program says where, what it found and what to do next, and spends
 * nothing. The first sync, and a word that is no command, are processes of their own; with `SLUICE_LONG=1`, the first
 * case of each command is one.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { runInProcess } from '../cli/in-process.ts';
import { run, type Ran, temporaryFolder } from '../cli/program-run.ts';
import { acquireLock } from '../../src/warehouse/lock/lock.ts';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { IS_LONG } from '../support/long.ts';
import { postgresTemplate } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';

const TOKEN = 'sandbox-token-of-the-test';
const PASSWORD = 'hidden-password';
const NOWHERE = `postgres://me:${PASSWORD}@127.0.0.1:1/warehouse`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let database: FreshDatabase;
let taken: { readonly port: number; readonly close: () => void };

const HEAD = 'service: { url: "${SLUICE_SERVICE_URL}", token: "${SLUICE_SERVICE_TOKEN}" }\nsyncs:\n';
const PAGES = '  pages:\n    endpoint: webparser.parse\n    max_age: 7d\n';
const REPOSTS = '  reposts:\n    endpoint: pronet.post.reposts\n    request: { count: 10 }\n';

/** Each is wrong in one way, but for the first. */
const FILES: Readonly<Record<string, string>> = {
  'sluice.yaml': `${HEAD}${PAGES}    for_each: { url: ["https://site-1.example/"] }\n`,
  'broken.yaml': `${HEAD}${PAGES}    for_each: { url: [ }\n`,
  'key.yaml': `${HEAD}${PAGES}    for_eech: { url: ["https://site-1.example/"] }\n`,
  'urn.yaml': `${HEAD}${REPOSTS}    for_each: { urn: ["fsd_profile:ACoAAA0000001"] }\n`,
  'file.yaml': `${HEAD}${PAGES}    for_each: { url: { file: none.csv, column: url } }\n`,
  'empty.yaml': `${HEAD}${PAGES}    for_each: { url: { file: empty.csv, column: url } }\n`,
  'empty.csv': 'url\n',
  'column.yaml': `${HEAD}${PAGES}    for_each: { url: { file: links.csv, column: url } }\n`,
  'links.csv': 'link\nhttps://site-1.example/\n',
  'query.yaml': `${HEAD}${PAGES}    for_each: { url: { query: "select adress from sluice.web_pages" } }\n`,
};

const callersFolder = process.cwd();
beforeAll(async () => {
  folder = await temporaryFolder();
  process.chdir(folder.path);
  sandbox = await serveSandbox({ token: TOKEN });
  database = await freshDatabase();
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder.path, name), text);
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  taken = { port: (server.address() as AddressInfo).port, close: () => server.close() };
});
afterAll(async () => {
  taken.close();
  await sandbox.close();
  await database.drop();
  process.chdir(callersFolder);
  await folder.remove();
});

type Env = Readonly<Record<string, string>>;

/** Commands that run as a process once. */
const isProcess = (word: string | undefined): boolean => IS_LONG || word === 'sync' || word === 'snyc';

/** The commands that ran as a process. */
const processes = new Set<string | undefined>();

/** As a person at a prompt would see it: what a machine collects is the same as JSON. */
const sluice = (words: readonly string[], env: Env = {}): Promise<Ran> =>
  (processes.has(words[0]) || !isProcess(words[0]) ? runInProcess : run)(words, {
    cwd: folder.path,
    env: { CI: '1', SLUICE_SERVICE_URL: sandbox.url, SLUICE_SERVICE_TOKEN: TOKEN, DATABASE_URL: database.url, ...env },
  });

/** All output; results of a run go to standard output, errors to standard error. */
const outputOf = ({ out, err }: Ran): string => out + err;

interface Case {
  readonly words: readonly string[] | (() => readonly string[]);
  readonly env?: Env | (() => Env);
  readonly code: number;
  /** What was found, where, and what to do next, each in a line. */
  readonly says: readonly (string | RegExp)[];
}

const withPassword = (password: string): Env => {
  const url = new URL(database.url);
  url.password = password;
  return { DATABASE_URL: url.href };
};

const CASES: Readonly<Record<string, Case>> = {
  'no token': {
    words: ['sync'],
    env: { SLUICE_SERVICE_TOKEN: '' },
    code: 3,
    says: [/no token: service\.token of .*sluice\.yaml is empty/, 'SLUICE_SERVICE_TOKEN_FILE to a file with the token'],
  },
  'a file of a token that is not there': {
    words: ['sync'],
    env: { SLUICE_SERVICE_TOKEN: '', SLUICE_SERVICE_TOKEN_FILE: '/none' },
    code: 2,
    says: ['sluice.yaml:1:', 'SLUICE_SERVICE_TOKEN_FILE names "/none", which can\'t be read (ENOENT)'],
  },
  'a wrong token': {
    words: ['sync'],
    env: { SLUICE_SERVICE_TOKEN: 'not-the-token' },
    code: 3,
    says: [
      /^pages .* 0 +1 .* interrupted$/m,
      'pages: the service answered 401: ',
      'next: Put a valid API token of the account into the variable that service.token names.',
    ],
  },
  'a token that no header can carry': {
    words: ['check'],
    env: { SLUICE_SERVICE_TOKEN: 'two words-of-a-token' },
    code: 2,
    says: [/sluice\.yaml:1:\d+: token is not a valid header value; allowed are printable ASCII characters/],
  },
  'no database': {
    words: ['sync'],
    env: { DATABASE_URL: NOWHERE },
    code: 5,
    says: ['Nothing answers at 127.0.0.1:1.', 'Start the database, or correct host and port in DATABASE_URL'],
  },
  'an address that is none of a database': {
    words: ['sync'],
    env: { DATABASE_URL: `mysql://me:${PASSWORD}@127.0.0.1/warehouse` },
    code: 2,
    says: ['allowed is embedded:FOLDER or postgres://USER@HOST:PORT/DATABASE'],
  },
  'a wrong password': {
    words: ['sync'],
    env: () => withPassword('hidden-password'),
    code: 3,
    says: [/The database refused the password of \w+\./, 'Correct the user and password in DATABASE_URL'],
  },
  'a database that is not there': {
    words: ['sync'],
    env: () => ({ DATABASE_URL: database.url.replace(/\/\w+$/, '/none_such') }),
    code: 2,
    says: ['The server has no database none_such.', 'Create it (createdb none_such), or correct the name'],
  },
  'a port that is taken': {
    words: () => ['sandbox', '--port', String(taken.port)],
    code: 2,
    says: [/port \d+ is not available: another process uses it \(EADDRINUSE\)/, 'Set another with --port'],
  },
  'a port of another sandbox': {
    words: () => ['sandbox', '--port', new URL(sandbox.url).port],
    code: 2,
    says: ['another process uses it', '--port 0 uses a free port.'],
  },
  'YAML that is broken': {
    words: ['sync', '--config', 'broken.yaml'],
    code: 2,
    says: [/broken\.yaml:6:\d+: the YAML is not valid/, 'Fix the problems above, then run `sluice check`.'],
  },
  'a key that is not known': {
    words: ['check', '--config', 'key.yaml'],
    code: 2,
    says: [/key\.yaml:6:5: .*for_eech.*did you mean "for_each"/, '6 |     for_eech'],
  },
  'a URN of another type': {
    words: ['sync', '--config', 'urn.yaml'],
    code: 2,
    says: [/urn\.yaml:6:23: .*only URNs of type activity are allowed here, found "fsd_profile"/],
  },
  'a file of inputs that is not there': {
    words: ['sync', '--config', 'file.yaml'],
    code: 2,
    says: [
      /^pages: .*none\.csv can't be read \(ENOENT\); allowed is a readable file, with a path relative to the folder of the config file that names it$/m,
      'defined at file.yaml:6:22',
      'next: Fix the file or its name; nothing was sent for pages.',
    ],
  },
  'a file of inputs that is empty': {
    words: ['sync', '--config', 'empty.yaml'],
    code: 2,
    says: [
      /^pages: .*empty\.csv contains no inputs; write at least one, or remove the sync$/m,
      'defined at empty.yaml:6:22',
    ],
  },
  'a file without the column': {
    words: ['check', '--config', 'column.yaml'],
    code: 2,
    says: ['links.csv:1: there is no column "url"; allowed: link', 'defined at column.yaml:6:22', 'nothing was sent'],
  },
  'a query for inputs that fails': {
    words: ['sync', '--config', 'query.yaml'],
    code: 2,
    says: [
      /query\.yaml:6:\d+: pages: The database refuses the query: column "adress" does not exist \(line 1, column 8 of the query\)/,
      'Correct the query; nothing was sent.',
    ],
  },
  'the same, when it is planned': {
    words: ['plan', '--config', 'query.yaml'],
    code: 2,
    says: [/sluice: query\.yaml:6:\d+: pages: The database refuses the query/],
  },
  'a query that fails': {
    words: ['query', 'select * frm web_pages'],
    code: 2,
    says: ['The database refuses the query: syntax error at or near "frm".', 'sluice tables lists'],
  },
  'a query on a table that does not exist': {
    words: ['query', 'select * from web_page'],
    code: 2,
    says: ['relation "web_page" does not exist', 'Did you mean web_pages?'],
  },
  'a query that writes': {
    words: ['query', 'delete from web_pages'],
    code: 2,
    says: ['A query must not begin with DELETE.', 'Begin with one of SELECT'],
  },
  'no config': {
    words: ['sync', '--config', 'none.yaml'],
    code: 2,
    says: [
      'none.yaml:1:1: no such file in the working directory; set --config or SLUICE_CONFIG, or create one with `sluice init`',
    ],
  },
  'a sync that is not there': {
    words: ['sync', 'pagse'],
    code: 2,
    says: [
      '"pagse" is not a sync of this config; did you mean "pages"? allowed: pages',
      'Name syncs of the config, or name none to select all.',
    ],
  },
  'an output that can’t be written': {
    words: ['dbt', '--output', '/dev/null/sources.yml'],
    code: 2,
    says: [
      '/dev/null/sources.yml can’t be written: a part of its path is not a folder',
      'Set another path with --output',
    ],
  },
  'a folder for a config that can’t be made': {
    words: ['init', '--dir', '/proc/none'],
    code: 2,
    says: ['/proc/none/sluice.yaml can’t be written', 'Set another path with --dir'],
  },
  'a folder for a config that is a file': {
    words: ['init', '--dir', 'links.csv'],
    code: 2,
    says: ['links.csv/sluice.yaml can’t be written: a part of its path is not a folder', 'Set another path with --dir'],
  },
  'a folder for a warehouse that can’t be made': {
    words: ['sync'],
    env: { DATABASE_URL: 'embedded:/proc/none/wh' },
    code: 2,
    says: ['The folder /proc/none/wh can’t be used', 'set DATABASE_URL=embedded:FOLDER'],
  },
  'a word that is no command': {
    words: ['snyc'],
    code: 2,
    says: ['unknown command "snyc"; did you mean sync?', 'Run sluice --help for the commands.'],
  },
};

describe('the first hour', () => {
  it.each(Object.entries(CASES))('%s', async (_, { words, env = {}, code, says }) => {
    const paid = sandbox.requests().length;
    const typed = typeof words === 'function' ? words() : words;
    const ran = await sluice(typed, typeof env === 'function' ? env() : env);
    processes.add(typed[0]);
    expect({ code: ran.code, output: outputOf(ran) }).toMatchObject({ code });
    for (const text of says) expect(outputOf(ran)).toMatch(text instanceof RegExp ? text : literally(text));
    for (const secret of [TOKEN, PASSWORD, 'not-the-token', 'words-of-a-token'])
      expect(outputOf(ran)).not.toContain(secret);
    expect(outputOf(ran)).not.toMatch(/\n {4}at |undefined|\[object/);
    expect(
      sandbox
        .requests()
        .slice(paid)
        .filter(({ cost }) => cost > 0),
    ).toEqual([]);
  });

  it('a schema that is older', async () => {
    const older = await freshDatabase(await postgresTemplate());
    const env = { DATABASE_URL: older.url };
    expect((await sluice(['migrate', 'down'], env)).code).toBe(0);
    const refused = await sluice(['sync'], env);
    expect([refused.code, refused.err]).toEqual([8, expect.stringContaining('sluice migrate')]);
    const checked = await sluice(['check'], env);
    expect([checked.code, checked.out]).toEqual([8, expect.stringMatching(/failed +schema: older: it lacks \d{4}_/)]);
    expect(sandbox.requests().filter(({ cost }) => cost > 0)).toEqual([]);
    expect((await sluice(['migrate'], env)).code).toBe(0);
    await older.drop();
  });

  it('a role that may only read, or may not make the tables', async () => {
    const shared = await freshDatabase();
    const role = `reader_${randomBytes(6).toString('hex')}`;
    await execute(shared.url, `create role ${role} login password '${PASSWORD}'`);
    await execute(shared.url, `revoke create on schema public from public`);
    const url = new URL(shared.url);
    url.username = role;
    url.password = PASSWORD;
    const env = { DATABASE_URL: url.href };
    const checked = await sluice(['check'], env);
    expect([checked.code, checked.out]).toEqual([
      2,
      expect.stringMatching(/failed +schema: The migration lacks a right/),
    ]);
    expect((await sluice(['migrate'], { DATABASE_URL: shared.url })).code).toBe(0);
    expect((await sluice(['grants', '--role', role, '--apply'], { DATABASE_URL: shared.url })).code).toBe(0);
    for (const words of [['costs'], ['status'], ['plan'], ['sync'], ['report', '--output', 'r.html']]) {
      const { code, err, out } = await sluice(words, env);
      expect({ words, code, output: err + out }).toEqual({
        words,
        code: 2,
        output: expect.stringContaining('permission denied for schema sluice_ops'),
      });
      expect(err).toContain('Grant the right to the user in DATABASE_URL, or use a user who has it');
    }
    expect((await sluice(['query', 'select count(*) from web_pages'], env)).code).toBe(0);
    const mistakes = [
      ['select titel from web_pages', 'column "titel" does not exist'],
      ['select * from web_page', 'Did you mean web_pages?'],
    ] as const;
    for (const [statement, said] of mistakes) {
      const { code, err } = await sluice(['query', statement], env);
      expect([code, err]).toEqual([2, expect.stringContaining(said)]);
      expect(err).not.toContain('permission denied');
    }
    await execute(shared.url, `drop owned by ${role}`);
    await shared.drop();
    await execute(database.url, `drop role ${role}`);
  });

  it('a table that was changed by hand: nothing is bought for it', async () => {
    const changed = await freshDatabase(await postgresTemplate());
    const env = { DATABASE_URL: changed.url };
    await execute(changed.url, 'alter table sluice.web_pages drop column title cascade');
    const sent = sandbox.requests().length;
    const { code, err } = await sluice(['sync'], env);
    expect([code, err]).toEqual([8, expect.stringContaining('sluice.web_pages is missing or lacks columns')]);
    expect(err).toContain('Run sluice check to see the differences');
    expect(sandbox.requests().length).toBe(sent);
    expect((await sluice(['check'], env)).code).toBe(8);
    await changed.drop();
  });

  it('an embedded warehouse that another process has', async () => {
    const shared = join(folder.path, 'shared');
    await mkdir(shared);
    const release = await acquireLock(join(shared, 'lock.json'), { command: 'sluice sync', waitMs: 0 }, realEffects);
    const { code, err } = await run(['status'], {
      cwd: folder.path,
      env: { SLUICE_SERVICE_URL: sandbox.url, SLUICE_SERVICE_TOKEN: TOKEN, DATABASE_URL: 'embedded:shared' },
    });
    release();
    expect([code, err]).toEqual([
      7,
      expect.stringContaining(`is in use by process ${process.pid} (sluice sync) since`),
    ]);
    expect(err).toContain(
      'Wait for it to end, or set DATABASE_URL to a Postgres server, which several processes can use',
    );
  });
});

const literally = (text: string): RegExp => new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
