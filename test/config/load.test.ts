/** What a config says once it is loaded: every key, the defaults, the ways in which values may be written. */
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/document/problem.ts';
import { UsageError } from '../../src/errors.ts';
import { TOP_LEVEL_INDUSTRIES } from '../../src/service/request.ts';
import { HEAD, inFolder, load, loadSync, problemsIn } from './written.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the settings', () => {
  it('fill in what a small config leaves out', async () => {
    const config = await load(`${HEAD}  a: { endpoint: token.requests }\n`);
    expect(config.service).toMatchObject({
      url: 'http://127.0.0.1:8787',
      token: undefined,
      inFlight: 4,
      requestsPerSecond: 5,
      retries: 1,
    });
    expect(config.warehouse.schema).toBe('sluice');
    expect(config.warehouse.url.reveal()).toMatch(/^embedded:\/.*\/wh$/);
    const socket = 'postgres://me@/data?host=/run/postgresql';
    const onSocket = await load(`${HEAD.replace('embedded:wh', socket)}  a: { endpoint: token.requests }\n`);
    expect(onSocket.warehouse.url.reveal()).toBe(socket);
    expect(config.budget).toEqual({});
    expect(config.prices).toEqual({});
    expect(config.syncs[0]).toMatchObject({
      request: {},
      forEach: undefined,
      window: undefined,
      splitBy: {},
      after: [],
      maxAgeMs: undefined,
      lookbackMs: HOUR_MS,
      from: undefined,
      schedule: undefined,
      inDoubt: 'reconcile',
      acceptRejects: 0.01,
      budgetPerRun: undefined,
    });
  });

  it('contain everything that a config sets', async () => {
    const config = await load(
      `
service: { url: "https://api.example.com/v1/", token: t0ken, in_flight: 8, requests_per_second: 0.5, retries: 0 }
warehouse: { url: "postgres://me:pw@db:5432/x", schema: paid }
budget: { per_run: 1, per_day: 2, keep: 3 }
prices: { pronet.group: 2, pronet.search.users: { points: 1, per: 10 }, webparser.parse: { points: 0.5 } }
accept: { rejects: 7% }
in_doubt: stop
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 100 }
    window: { from: 2024-01-01, to: 2024-02-01, lookback: 2w }
    schedule: { cron: "15 6 * * 1-5", timezone: America/New_York }
    max_age: 90m
    accept: { rejects: 0.25 }
    in_doubt: reconcile
    budget: { per_run: 9 }
  costs: { endpoint: token.requests, after: [filings], from: 2024-05-01, lookback: 30s, schedule: { cron: "@hourly".length } }
`.replace('"@hourly".length', '"0 * * * *"'),
    );
    expect(config.service).toMatchObject({
      url: 'https://api.example.com/v1',
      inFlight: 8,
      requestsPerSecond: 0.5,
      retries: 0,
    });
    expect(config.service.token?.reveal()).toBe('t0ken');
    expect(config.warehouse.schema).toBe('paid');
    expect(config.budget).toEqual({ perRun: 1, perDay: 2, keep: 3 });
    expect(config.prices).toEqual({
      'pronet.group': { points: 2 },
      'pronet.search.users': { points: 1, per: 10 },
      'webparser.parse': { points: 0.5 },
    });
    const [filings, costs] = config.syncs;
    expect(filings).toMatchObject({
      window: { from: '2024-01-01', to: '2024-02-01' },
      lookbackMs: 14 * DAY_MS,
      maxAgeMs: 1.5 * HOUR_MS,
      schedule: { cron: '15 6 * * 1-5', timezone: 'America/New_York' },
      acceptRejects: 0.25,
      inDoubt: 'reconcile',
      budgetPerRun: 9,
    });
    expect(costs).toMatchObject({
      after: ['filings'],
      from: '2024-05-01T00:00:00Z',
      lookbackMs: 30_000,
      acceptRejects: 0.07,
      inDoubt: 'stop',
      schedule: { timezone: 'UTC' },
    });
  });

  it('warns of a token that the file holds, without its text, and not of a variable', async () => {
    const head = (token: string) =>
      `service: { url: "http://127.0.0.1:8787", token: ${token} }\nsyncs: { a: { endpoint: token.requests } }\n`;
    const { warnings } = await load(head('abc123'));
    expect(warnings).toEqual([expect.stringMatching(/:1:42: service\.token is written in the file/)]);
    expect(warnings.join()).not.toContain('abc123');
    expect((await load(head('"${T}"'), { T: 'abc123' })).warnings).toEqual([]);
  });

  it('warns of a max_age with which the lookback of a window requests nothing again', async () => {
    const warningsOf = async (defaults: string, sync: string) => {
      const config = `defaults: { ${defaults} }\nsyncs:\n  filings:\n    endpoint: sec.search.companies\n    request: { count: 10 }\n    ${sync}\n`;
      return (await load(`service: { url: "http://127.0.0.1:8787" }\n${config}`)).warnings;
    };
    const window = 'window: { from: 2024-01-01, to: today, lookback: 7d }';
    expect(await warningsOf('', `${window}\n    max_age: 7d`)).toEqual([
      expect.stringMatching(/:8:5: max_age of "filings" is not shorter than the lookback of its window/),
    ]);
    expect(await warningsOf('max_age: 7d', window.replace(', lookback: 7d', ''))).toEqual([
      expect.stringMatching(/:4:3: max_age of "filings" is not shorter/),
    ]);
    expect(await warningsOf('max_age: 7d', `${window}\n    max_age: 1d`)).toEqual([]);
    expect(await warningsOf('', window)).toEqual([]);
    expect(await warningsOf('max_age: 7d', window.replace('7d', '0d'))).toEqual([]);
    expect(await warningsOf('max_age: 7d', '')).toEqual([]);
  });

  it('reads a schedule that is plain text in UTC', async () => {
    const { schedule } = await loadSync('  a: { endpoint: token.requests, schedule: "15 6 * * *" }');
    expect(schedule).toEqual({ cron: '15 6 * * *', timezone: 'UTC' });
  });

  it('never print a secret', async () => {
    const config = await load(
      'service: { url: "http://a", token: hush }\nwarehouse: { url: "postgres://me:hush@db/x" }\nsyncs: { a: { endpoint: token.requests } }\n',
    );
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}${String(config.warehouse.url)}`).not.toContain(
      'hush',
    );
  });

  it('name the file by its absolute path', async () => {
    const file = await inFolder(
      { 'a.yaml': `${HEAD}  a: { endpoint: token.requests }\n` },
      async (folder) => (await loadConfig(`${folder}/./a.yaml`, {})).file,
    );
    expect(file).toBe(resolve(file));
  });
});

describe('values', () => {
  it('keep the source text of a scalar where text is due', async () => {
    const { request } = await loadSync(
      '  a: { endpoint: sec.search.companies, request: { entity_name: 3.10, forms: [4, 10-K, 3.0, yes, true, 0x1F], location_codes: [0900, 1e3, NO, off], date_from: 2024-01-01, count: 1 } }',
    );
    expect(request).toEqual({
      entity_name: '3.10',
      forms: ['4', '10-K', '3.0', 'yes', 'true', '0x1F'],
      location_codes: ['0900', '1e3', 'NO', 'off'],
      date_from: '2024-01-01',
      count: 1,
    });
  });

  it('take null for an optional field as leaving it out, and keep an explicit false', async () => {
    const { request } = await loadSync(
      '  a: { endpoint: webparser.parse, request: { url: "http://a.example", include_tags: null, exclude_tags: ~, remove_comments: false } }',
    );
    expect(request).toEqual({ url: 'http://a.example', remove_comments: false });
  });

  it.each(['{ type: fsd_profile, value: abc }', '"fsd_profile:abc"', '"urn:li:fsd_profile:abc"', 'fsd_profile:abc'])(
    'take a URN written %s',
    async (written) => {
      const { request } = await loadSync(
        `  a: { endpoint: pronet.user.education, request: { count: 1, urn: ${written} } }`,
      );
      expect(request['urn']).toEqual({ type: 'fsd_profile', value: 'abc' });
    },
  );

  it('take a text for a name unless it begins like a URN or with a known type of one, where names are taken too', async () => {
    const { request } = await loadSync(
      '  a: { endpoint: pronet.search.users, request: { count: 1, title: "urn:li:x:1", location: ["geo:1", "urn:li:geo:1", { type: geo, value: 103035651 }, "Rue: 1", "geo: 1", "area:1", "urn:li:area:1"], industry: [4], current_company: ["fsd_company:1441"] } }',
    );
    expect(request).toEqual({
      count: 1,
      title: 'urn:li:x:1',
      location: [
        { type: 'geo', value: '1' },
        { type: 'geo', value: '1' },
        { type: 'geo', value: '103035651' },
        'Rue: 1',
        'geo: 1',
        'area:1',
        { type: 'area', value: '1' },
      ],
      industry: ['4'],
      current_company: [{ type: 'fsd_company', value: '1441' }],
    });
  });

  it('read a group’s URN as the text that the contract wants', async () => {
    expect(
      (await loadSync('  a: { endpoint: pronet.group, request: { group: "urn:li:group:1001" } }')).request,
    ).toEqual({ group: 'urn:li:group:1001' });
  });

  it('expand top_level to the industries that the contract names', async () => {
    const { splitBy } = await loadSync(
      '  a: { endpoint: pronet.search.users, request: { count: 9 }, split_by: { location: [Berlin, "urn:li:geo:1"], industry: top_level } }',
    );
    expect(Object.entries(splitBy)).toEqual([
      ['location', ['Berlin', { type: 'geo', value: '1' }]],
      ['industry', TOP_LEVEL_INDUSTRIES],
    ]);
  });

  it('follow anchors and aliases', async () => {
    const config = await load(
      `${HEAD}  a: { endpoint: pronet.group, max_age: &age 7d, for_each: &in { group: [x, y] } }\n  b: { endpoint: pronet.group, max_age: *age, for_each: *in }\n`,
    );
    expect(config.syncs[1]?.maxAgeMs).toBe(7 * DAY_MS);
    expect(config.syncs[1]?.hash).toBe(config.syncs[0]?.hash);
  });

  it('may follow a byte order mark and end lines as Windows does', async () => {
    const config = await load(`\uFEFF${HEAD}  a: { endpoint: token.requests }\n`.replaceAll('\n', '\r\n'));
    expect(config.syncs.map(({ name }) => name)).toEqual(['a']);
  });
});

describe('the hash of what a window holds', () => {
  const base = 'endpoint: sec.search.companies, request: { count: 100, forms: [10-K] }, window: { from: 2024-01-01 }';
  const hashOf = async (lines: string): Promise<string> => (await loadSync(`  a: { ${lines} }`)).windowHash;

  it.each([
    ['lookback', base.replace('2024-01-01', '2024-01-01, lookback: 1d')],
    ['count and timeout', base.replace('count: 100', 'count: 50, timeout: 60')],
    ['the first day', base.replace('2024-01-01', '2023-01-01')],
    ['the last day', base.replace('2024-01-01', '2024-01-01, to: 2024-12-31')],
    ['the inputs', `${base}, for_each: { entity_name: [AAPL] }`],
    [
      'age, schedule and what is accepted',
      `${base}, max_age: 1d, schedule: { cron: "5 4 * * *" }, accept: { rejects: 0 }`,
    ],
    ['how far a count is raised', `${base}, raise_count_to: 100`],
    ['a repeated form', base.replace('[10-K]', '[10-K, 10-K]')],
    ['a default of the contract', base.replace('count: 100', 'count: 100, entity_name: ""')],
  ])('is the same whatever %s', async (_, lines) => {
    expect(await hashOf(lines)).toBe(await hashOf(base));
  });

  it.each([
    ['filters', base.replace('10-K', '10-Q')],
    ['parts', `${base}, split_by: { forms: [10-K, 10-Q] }`],
    ['lists, also an empty one', base.replace('count: 100', 'count: 100, location_codes: []')],
  ])('is another with other %s', async (_, lines) => {
    expect(await hashOf(lines)).not.toBe(await hashOf(base));
  });
});

it('the hash of what a window holds does not depend on the order of a list without one', async () => {
  const of = async (forms: string): Promise<string> =>
    (await loadSync(`  a: { endpoint: sec.search.companies, request: { count: 100, forms: ${forms} } }`)).windowHash;
  expect(await of('[10-K, 8-K]')).toBe(await of('[8-K, 10-K]'));
});

describe('the hash of a definition', () => {
  const base =
    'endpoint: sec.search.companies, request: { count: 9, forms: [10-K] }, for_each: { entity_name: [A] }, window: { from: 2024-01-01 }, split_by: { forms: [10-K, 10-Q] }';
  const hashOf = async (lines: string): Promise<string> => (await loadSync(lines)).hash;

  it.each([
    [
      'another name, age, place and schedule',
      `\n\n  b: { max_age: 7d, schedule: { cron: "0 0 * * *" }, accept: { rejects: 2% }, ${base} }`,
    ],
    ['another order of keys', `  a: { ${base.replace('count: 9, forms: [10-K]', 'forms: [10-K], count: 9')} }`],
    ['a default said', `  a: { ${base.replace('2024-01-01', '2024-01-01, to: today, lookback: 7d')} }`],
    ['a default of the contract', `  a: { ${base.replace('count: 9', 'count: 9, timeout: 300')} }`],
    ['a repeated form', `  a: { ${base.replace('forms: [10-K]', 'forms: [10-K, 10-K]')} }`],
  ])('stays with %s', async (_, lines) => {
    expect(await hashOf(lines)).toBe(await hashOf(`  a: { ${base} }`));
  });

  it.each([
    ['request', base.replace('count: 9', 'count: 8')],
    ['timeout', base.replace('count: 9', 'count: 9, timeout: 60')],
    ['inputs', base.replace('[A]', '[A, B]')],
    ['window', base.replace('2024-01-01', '2024-01-02')],
    ['lookback', base.replace('2024-01-01', '2024-01-01, lookback: 8d')],
    ['order of split_by', base.replace('[10-K, 10-Q]', '[10-Q, 10-K]')],
  ])('moves with the %s', async (_, changed) => {
    expect(await hashOf(`  a: { ${changed} }`)).not.toBe(await hashOf(`  a: { ${base} }`));
  });

  it('stays with another order of a list without one', async () => {
    const of = (tags: string): Promise<string> =>
      hashOf(`  a: { endpoint: webparser.parse, request: { url: "https://a.example/", include_tags: ${tags} } }`);
    expect(await of('[main, nav]')).toBe(await of('[nav, main]'));
  });

  it('is the same in another folder', async () => {
    const lines = '  a: { endpoint: pronet.group, for_each: { group: { file: in.txt } } }';
    expect(await hashOf(lines)).toBe(await hashOf(lines));
  });
});

describe('a ConfigError', () => {
  it('is a usage error that shows each line with a caret, and says what next', async () => {
    const error = await load(`${HEAD}  a:\n    endpoint: sec.search.companies\n    request: { count: 101 }\n`).catch(
      (it: unknown) => it,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toBeInstanceOf(UsageError);
    const { message, next, exitCode } = error as ConfigError;
    expect(exitCode).toBe(2);
    expect(message.split('\n').map((line) => line.replace(/^.*sluice\.yaml/, 'sluice.yaml'))).toEqual([
      'sluice.yaml:6:23: count is 101; allowed is a whole number from 1 to 100',
      '  6 |     request: { count: 101 }',
      '    |                       ^^^',
    ]);
    expect(next).toBe('Fix the problems above, then run `sluice check`.');
  });

  it('holds every problem of the file, in its order, each once', async () => {
    const problems = await problemsIn(`
service: { url: "http://127.0.0.1:8787" }
warehouse: { url: "embedded:wh" }
syncs:
  schools:
    endpoint: pronet.user.education
    request: { urn: "activity:1" }
  filings:
    endpoint: sec.search.companies
    request:
      count: 101
      frms: [10-K]
`);
    expect(problems.map(({ line, column, message }) => ({ line, column, message }))).toEqual([
      {
        line: 7,
        column: 21,
        message:
          'urn is "activity:1"; only URNs of type fsd_profile are allowed here, found "activity". Also missing: count (allowed is a whole number from 1 to 100)',
      },
      { line: 11, column: 14, message: 'count is 101; allowed is a whole number from 1 to 100' },
      {
        line: 12,
        column: 7,
        message:
          'unknown key "frms"; did you mean "forms"? allowed: count, timeout, entity_name, forms, location_codes, date_from, date_to',
      },
    ]);
  });

  it('takes a misspelled key for the one that is missing', async () => {
    const problems = await problemsIn(
      `${HEAD}  a: { endpoint: photoshare.user.posts, request: { user: x, cuont: 9 } }\n`,
    );
    expect(problems.map(({ message }) => message)).toEqual([
      'unknown key "cuont"; did you mean "count"? allowed: user, count, timeout',
    ]);
  });

  it('hides logins and tokens in the lines that it shows', async () => {
    const error = (await load(
      'service: { url: "http://me:hush@api.example.com", token: "hu sh" }\nwarehouse: { url: "mysql://me:hu@/sh@db/x", schema: 3, pasword: hush }\nsyncs: {}\n',
    ).catch((it: unknown) => it)) as ConfigError;
    expect(error.problems).toHaveLength(6);
    expect(error.message).not.toMatch(/hu.{0,2}sh/);
  });
});
