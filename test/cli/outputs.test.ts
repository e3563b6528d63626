/** Every `--json` output of a real run against its published schema, with failed and incomplete runs among them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import type { Responded, RespondRequest } from '../../src/sandbox/options.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { clockFrom, DAY_MS } from '../flow/clock.ts';
import { SMALL } from '../flow/scene.ts';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { outputNames, problemsOf } from './output-schema.ts';
import { type Ran, temporaryFolder } from './program-run.ts';

const CONFIG = `service:
  url: \${SLUICE_SERVICE_URL}
  token: \${SLUICE_SERVICE_TOKEN}
  requests_per_second: 1000000
  in_flight: 1
  retries: 1
warehouse: { url: "\${DATABASE_URL}" }
budget: { per_day: 10000, per_month: 100000, tags: { team: { research: { per_month: 50000 } } } }
alerts: { webhook: "http://127.0.0.1:9/", quarantine: 1 }
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 1 }
    window: { from: 2026-02-02, to: 2026-02-03 }
    max_age: 1h
    tags: { team: research }
    schedule: { cron: "0 6 * * *", timezone: Europe/Berlin }
    checks: [{ name: never, sql: "select 1" }, { rows: { min: 100000 }, severity: warn }]
  groups: { endpoint: pronet.group, for_each: { group: ["1001", "1002"] }, max_age: { auto: [1h, 30d] } }
  odd: { endpoint: microblog.user, for_each: { user: [ada, bob] } }
  pages: { endpoint: webparser.parse, for_each: { url: ["https://site-1.example/"] }, max_age: 30d }
  lost: { endpoint: photoshare.user, request: { user: ada }, in_doubt: stop }
  costs: { endpoint: token.requests, after: [filings, groups, pages, lost] }
`;

/** Commands with other outputs than those of this test. */
const OTHERS: Readonly<Record<string, string>> = {
  complete: 'words',
  dbt: 'the sources of dbt as JSON, in test/cli/dbt.test.ts',
  mcp: 'messages of its protocol, in test/mcp',
  schema: 'a JSON Schema',
  start: 'the output of sync',
  worker: 'the lines of schedule, in test/engine/observability.test.ts',
};

const GROUP = {
  '@type': '@pronet_group',
  urn: { type: 'group', value: '1001' },
  name: 'Renamed',
  url: 'https://pronet.example/groups/1001',
  member_count: 9,
};

const clock = clockFrom('2026-03-06T15:00:00.000Z');
const folder = await temporaryFolder();
const seen = new Set<string>();
const ran = new Set<string>();
let respond: (request: RespondRequest) => Responded | undefined;
let sandbox: Sandbox;
let database: FreshDatabase;

beforeAll(async () => {
  await writeFile(join(folder.path, 'sluice.yaml'), CONFIG);
  await writeFile(join(folder.path, 'other.yaml'), CONFIG.replace('0 6 * * *', '0 6 * * 1').replace(/ {2}odd.*\n/, ''));
  sandbox = await serveSandbox({
    size: { ...SMALL, filings: 8000 },
    now: clock.now,
    points: 5000,
    faults: [{ on: { endpoint: 'photoshare.user' }, do: { kind: 'reset', stage: 'headers' } }],
    respond: (request) => respond(request),
  });
  database = await freshDatabase(await postgresTemplate());
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await folder.remove();
});

async function sluice(
  words: readonly string[],
  options: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Ran> {
  ran.add(words[0] ?? '');
  const env = {
    SLUICE_CONFIG: join(folder.path, 'sluice.yaml'),
    SLUICE_SERVICE_URL: sandbox.url,
    SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
    DATABASE_URL: database.url,
    ...options,
  };
  const ended = await runInProcess([...words, '--json'], {
    env,
    now: clock.now,
    sleep: clock.sleep,
    ...(signal && { signal }),
  });
  const lines = ended.err.split('\n').filter((line) => line.startsWith('{'));
  for (const line of lines) {
    const { format } = JSON.parse(line) as { readonly format?: string };
    if (format !== undefined) check(format.split('/')[0] ?? '', JSON.parse(line));
  }
  return ended;
}

function check(output: string, value: unknown): void {
  expect({ output, problems: problemsOf(output, value) }).toEqual({ output, problems: [] });
  seen.add(output);
}

/** The output of a command, after the comparison with its schema. */
async function expectOutput<T>(
  output: string,
  code: number,
  ...[words, env, signal]: Parameters<typeof sluice>
): Promise<T> {
  const ended = await sluice(words, env, signal);
  expect({ words, code: ended.code, err: ended.code === code ? '' : ended.err }).toEqual({ words, code, err: '' });
  const value = JSON.parse(ended.out) as T;
  if (!Array.isArray(value)) expect(value).toHaveProperty('format', `${output}/1`);
  check(output, value);
  return value;
}

const at = (name: string): string => join(folder.path, name);
const SLOW = { timeout: 400_000 };

it('a first run with failed checks, inputs and answers prints what its schemas declare', SLOW, async () => {
  respond = ({ endpoint, body }) => {
    if (endpoint === 'microblog.user') return { body: [{ name: 'no key' }] };
    if (endpoint === 'webparser.parse') return { body: '[{"cut' };
    if (JSON.stringify(body).includes('1002')) return { status: 404, body: { detail: 'none' } };
    return undefined;
  };
  await expectOutput('schedule-explain', 0, ['schedule', '--explain']);
  await expectOutput('migrate', 0, ['migrate']);
  await expectOutput('migrate-status', 0, ['migrate', 'status']);
  await expectOutput('plan', 0, ['plan', '--output', at('plan.json')]);
  await expectOutput('sync', 5, ['sync']);
  await expectOutput('check', 0, ['check']);
  await expectOutput('check', 3, ['check'], { SLUICE_SERVICE_TOKEN: '' });
  await execute(database.url, 'delete from sluice.pronet_groups');
  await expectOutput('status', 0, ['status', '--marks', '--since', '1']);
  const [entry] = await expectOutput<{ readonly id: string }[]>('quarantine', 0, ['quarantine']);
  await expectOutput('quarantine-show', 0, ['quarantine', 'show', entry?.id ?? '']);
  await expectOutput('replay', 0, ['quarantine', 'retry']);
  await expectOutput('replay', 0, ['replay', 'groups']);
  await expectOutput('alerts', 0, ['alerts']);
  await expectOutput('alerts-test', 5, ['alerts', 'test']);

  await expectOutput('plan-for', 0, ['plan', '--for', '1d']);
});

it('later runs that fail or are partial print what their schemas declare', SLOW, async () => {
  clock.advance(2 * DAY_MS);
  respond = ({ endpoint }) => {
    if (endpoint === 'pronet.group') return { body: [GROUP] };
    return endpoint === 'sec.search.companies'
      ? { status: 402, body: { detail: 'Points limit exhausted' } }
      : undefined;
  };
  await expectOutput('marks-reset', 0, ['marks', 'reset', 'filings', '--to', '2026-02-03', '--yes']);
  await expectOutput('plan', 0, ['plan']);
  await expectOutput('plan-explain', 0, ['plan', '--explain']);
  await expectOutput('plan-against', 4, ['plan', '--against', at('other.yaml'), '--fail-above', '1']);
  await expectOutput('sync', 6, ['sync', 'filings', 'groups', 'costs']);
  await expectOutput('sync', 0, ['sync', 'groups', '--limit', '1', '--refresh']);
  await expectOutput('sync', 5, ['sync', 'pages', '--refresh', '--max-points', '9'], {
    SLUICE_SERVICE_URL: 'http://127.0.0.1:9',
  });
  await expectOutput('plan-for', 0, ['plan', '--for', '30d']);
  await expectOutput('status', 0, ['status']);
});

it('commands that read print what their schemas declare', SLOW, async () => {
  await expectOutput('diff', 0, ['diff', 'previous', 'latest', '--sync', 'groups', '--rows', 'pronet_groups']);
  await expectOutput('marks', 0, ['marks']);
  await expectOutput('costs', 0, ['costs']);
  await expectOutput('costs-by', 0, ['costs', '--by', 'tag:team']);
  await expectOutput('costs-tune', 0, ['costs', '--tune']);
  await expectOutput('report', 0, ['report']);
  await expectOutput('query', 0, ['query', 'table pronet_groups']);
  await expectOutput('export', 0, ['export', 'pronet_groups', '--output', at('lake')]);
  await expectOutput('grants', 0, ['grants']);
  await expectOutput('endpoints', 0, ['endpoints']);
  await expectOutput('endpoints-show', 0, ['endpoints', 'token.requests']);
  await expectOutput('tables', 0, ['tables']);
  await expectOutput('tables-show', 0, ['tables', 'pronet_user_overview']);
  await expectOutput('describe', 0, ['describe', 'filings']);
  await expectOutput('describe', 0, ['describe', 'fact_request_costs.cost']);
  // A field that the contract has: nothing is drafted in this checkout.
  await expectOutput('promote', 0, ['promote', 'pronet_groups', 'name', 'text']);
  await expectOutput('schedule-redrive', 0, ['schedule', '--redrive']);
});

it('commands that write print what their schemas declare', SLOW, async () => {
  await expectOutput('replay-as-of', 0, ['replay', '--as-of', '2026-03-06', '--schema', 'before']);
  await expectOutput('replay-drop', 0, ['replay', '--drop', 'before']);
  await expectOutput('forget', 0, ['forget', 'pronet_groups', 'group', '1001']);
  await expectOutput('forget', 0, ['forget', 'pronet_groups', 'group', '1001', '--yes']);
  await expectOutput('prune', 0, ['prune', '--older-than', '1d']);
  await expectOutput('prune', 0, ['prune', '--older-than', '1d', '--yes']);
  await expectOutput('init', 0, ['init', '--dir', at('new')]);
  await expectOutput('docs', 0, ['docs', '--output', at('new')]);
  await expectOutput('docs-check', 1, ['docs', '--check', '--output', folder.path]);
  await expectOutput('docs-pages', 0, ['docs', 'errors']);
  await expectOutput('completion', 0, ['completion', 'bash']);
  await expectOutput('ui', 0, ['ui', '--listen', '127.0.0.1:0'], {}, AbortSignal.abort());
  await expectOutput('sandbox', 0, ['sandbox', '--port', '0'], {}, AbortSignal.abort());
});

it('an error of a command with --json is a line of JSON with retryable', SLOW, async () => {
  for (const [words, env, expected] of [
    [['query', 'wrong'], {}, { exitCode: 2, retryable: false }],
    [['query', '--wrong'], {}, { exitCode: 2, retryable: false }],
    [
      ['query', '--csv', 'select 1'],
      {},
      { exitCode: 2, retryable: false, message: 'query: --csv cannot be combined with --json' },
    ],
    [['query', 'select 1'], { DATABASE_URL: 'postgres://sluice@127.0.0.1:9/none' }, { exitCode: 5, retryable: true }],
  ] as const) {
    const { code, out, err } = await sluice(words, env);
    expect({ code, out, error: JSON.parse(err) as unknown }).toMatchObject({
      code: expected.exitCode,
      out: '',
      error: { level: 'error', format: 'error/1', ...expected },
    });
  }
});

it('every schema and every command is in this test', () => {
  expect(outputNames.filter((name) => !seen.has(name))).toEqual(['run']);
  expect(commands.filter(({ name }) => !ran.has(name) && !(name in OTHERS))).toEqual([]);
});
