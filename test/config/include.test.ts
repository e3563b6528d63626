/** Configs of several files: the syncs of all form one set, and each problem has the position in its own file. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/definition.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/document/problem.ts';
import { syncNames } from '../../src/config/sync-names.ts';
import { inFolder } from './written.ts';

const MAIN = 'service: { url: "http://127.0.0.1:8787", in_flight: 4 }\nwarehouse: { url: "embedded:wh" }\n';
const sync = (name: string, more = ''): string =>
  `  ${name}: { endpoint: pronet.group, for_each: { group: ["1"] }${more} }\n`;

const loadFiles = (files: Readonly<Record<string, string>>, env = {}): Promise<Config> =>
  inFolder(files, (folder) => loadConfig(join(folder, 'sluice.yaml'), env));

/** `file:line:column: message` of each problem, with the folder removed. */
const problemsOf = (files: Readonly<Record<string, string>>, env = {}): Promise<string[]> =>
  inFolder(files, async (folder) => {
    const error: unknown = await loadConfig(join(folder, 'sluice.yaml'), env).catch((thrown: unknown) => thrown);
    if (!(error instanceof ConfigError)) throw new Error('the config loads');
    return error.problems.map(({ file, line, column, message }) =>
      `${file}:${line}:${column}: ${message}`.replaceAll(`${folder}/`, '').replaceAll(folder, 'FOLDER'),
    );
  });

describe('a config with include', () => {
  it('has the syncs of all files, in the order of the files, also of files that included files include', async () => {
    const { syncs } = await loadFiles({
      'sluice.yaml': `${MAIN}include: [teams/*.yaml, "last.yaml"]\nsyncs:\n${sync('main')}`,
      'teams/b.yaml': `syncs:\n${sync('b', ', after: [a, main]')}`,
      'teams/a.yaml': `include: more/x.yaml\nsyncs:\n${sync('a')}`,
      'teams/more/x.yaml': `syncs:\n${sync('x')}`,
      'last.yaml': `include: [teams/a.yaml]\nsyncs:\n${sync('last')}`,
    });
    expect(syncs.map(({ name }) => name)).toEqual(['main', 'a', 'x', 'b', 'last']);
    expect(syncs.find(({ name }) => name === 'b')?.after).toEqual(['a', 'main']);
  });

  it('needs no syncs of its own, and gives its defaults and variables to all syncs', async () => {
    const { syncs } = await loadFiles(
      {
        'sluice.yaml': `${MAIN}defaults: { max_age: 7d }\ninclude: syncs.yaml\n`,
        'syncs.yaml': `syncs:\n  a: { endpoint: pronet.group, for_each: { group: ["\${GROUP}"] } }\n`,
      },
      { GROUP: 'urn:li:group:7' },
    );
    expect(syncs[0]).toMatchObject({ maxAgeMs: 7 * 86_400_000 });
    expect(JSON.stringify(syncs[0]?.forEach)).toContain('7');
  });

  it('takes paths in a file as relative to the folder of that file', async () => {
    await inFolder(
      {
        'sluice.yaml': `${MAIN}include: [teams/a.yaml]\n`,
        'teams/a.yaml':
          'syncs:\n  a: { endpoint: webparser.parse, for_each: { url: { file: urls.csv, column: url } } }\n',
      },
      async (folder) => {
        const { syncs, warehouse } = await loadConfig(join(folder, 'sluice.yaml'), {});
        expect(syncs[0]?.forEach).toMatchObject([{ path: join(folder, 'teams/urls.csv') }]);
        expect(warehouse.url.reveal()).toBe(`embedded:${join(folder, 'wh')}`);
      },
    );
  });

  it('reports problems of each file with its name, and both places of a name that occurs twice', async () => {
    const found = await problemsOf({
      'sluice.yaml': `${MAIN}include: [a.yaml, b.yaml]\nsyncs:\n${sync('one')}`,
      'a.yaml': `syncs:\n${sync('two', ', max_age: soon')}${sync('three', ', after: [on]')}`,
      'b.yaml': `service: {}\nsyncs:\n\n${sync('one')}`,
    });
    expect(found).toEqual([
      expect.stringMatching(/^a\.yaml:2:71: max_age is "soon"; allowed/),
      expect.stringMatching(
        /^a\.yaml:3:72: after names "on", which is not a sync of this config; did you mean "one"\?/,
      ),
      expect.stringMatching(/^b\.yaml:1:1: unknown key "service"; allowed: include, syncs$/),
      'b.yaml:4:3: "one" is already a sync, at sluice.yaml:5:3; rename one of them',
    ]);
  });

  it.each([
    [
      'that matches nothing',
      'include: [x/*.yaml]\n',
      '3:11: include is "x/*.yaml", which matches no file in FOLDER; allowed are paths and patterns relative to this folder',
    ],
    [
      'that is empty',
      'include: [empty.yaml, ""]\n',
      '3:23: include is "", which matches no file in FOLDER; allowed are paths and patterns relative to this folder',
    ],
    [
      'of itself',
      'include: sluice.yaml\n',
      '3:10: include forms a cycle: sluice.yaml includes sluice.yaml; remove one of these',
    ],
    [
      'that is a mapping',
      'include: { a: b }\n',
      '3:10: include is a mapping; allowed is a path or a pattern such as syncs/*.yaml, or a list of them',
    ],
    ['of files without syncs', 'include: empty.yaml\n', '3:1: the included files contain no sync'],
  ])('%s is refused', async (_, text, expected) => {
    const files = { 'sluice.yaml': `${MAIN}${text}`, 'empty.yaml': 'syncs: {}\n' };
    expect(await problemsOf(files)).toEqual([`sluice.yaml:${expected}`]);
  });

  it('refuses a cycle through several files, and a file that is no YAML or not UTF-8', async () => {
    const found = await problemsOf({
      'sluice.yaml': `${MAIN}include: [a.yaml, c.yaml]\nsyncs:\n${sync('one')}`,
      'a.yaml': 'include: b.yaml\n',
      'b.yaml': 'include: a.yaml\n',
      'c.yaml': '"\n',
    });
    expect(found[0]).toBe(
      'b.yaml:1:10: include forms a cycle: a.yaml includes b.yaml includes a.yaml; remove one of these',
    );
    expect(found[1]).toMatch(/^c\.yaml:\d+:\d+: /);
    expect(found).toHaveLength(2);
  });
});

describe('defaults', () => {
  const all =
    'defaults: { accept: { rejects: 5% }, in_doubt: stop, max_age: 7d, schedule: "15 6 * * *", budget: { per_run: 9 }, in_flight: 2 }\n';
  const load = async (syncs: string) => (await loadFiles({ 'sluice.yaml': `${MAIN}${all}syncs:\n${syncs}` })).syncs;

  it('apply to every sync that does not set the key', async () => {
    expect((await load(sync('a')))[0]).toMatchObject({
      acceptRejects: 0.05,
      acceptsUnreadable: true,
      inDoubt: 'stop',
      maxAgeMs: 7 * 86_400_000,
      schedule: { cron: '15 6 * * *', timezone: 'UTC' },
      budgetPerRun: 9,
      inFlight: 2,
    });
    const own =
      ', accept: { rejects: 1% }, in_doubt: reconcile, max_age: 1d, schedule: "0 0 * * *", budget: { per_run: 1 }, in_flight: 1';
    expect((await load(sync('a', own)))[0]).toMatchObject({
      acceptRejects: 0.01,
      inDoubt: 'reconcile',
      maxAgeMs: 86_400_000,
      schedule: { cron: '0 0 * * *' },
      budgetPerRun: 1,
      inFlight: 1,
    });
  });

  it('do not apply to a sync that sets null, max_age not to the log, and schedule not to a sync with parents', async () => {
    const none = ', accept: null, in_doubt: null, max_age: null, schedule: null, budget: null, in_flight: null';
    const [a, b, log] = await load(
      `${sync('a', none)}${sync('b', ', after: [a]')}  log: { endpoint: token.requests }\n`,
    );
    expect(a).toMatchObject({
      acceptRejects: 0.01,
      inDoubt: 'reconcile',
      maxAgeMs: undefined,
      schedule: undefined,
      budgetPerRun: undefined,
      inFlight: undefined,
    });
    expect(a).not.toHaveProperty('acceptsUnreadable');
    expect(b).toMatchObject({ schedule: undefined, maxAgeMs: 7 * 86_400_000 });
    expect(log).toMatchObject({ schedule: { cron: '15 6 * * *' }, maxAgeMs: undefined });
  });

  it.each([
    ['an unknown key', 'defaults: { window: {} }\n', /^3:13: unknown key "window"; allowed: max_age, /],
    [
      'a key that is also beside syncs',
      'in_doubt: stop\ndefaults: { in_doubt: stop }\n',
      /^4:13: in_doubt is set in defaults and beside syncs/,
    ],
    ['a wrong cron expression', 'defaults: { schedule: "99 * * * *" }\n', /^3:23: cron: /],
    [
      'more in_flight than the service',
      'defaults: { in_flight: 5 }\n',
      /^3:24: in_flight is 5, more than service.in_flight, 4/,
    ],
  ])('with %s are refused once, at its place', async (_, text, expected) => {
    const found = await problemsOf({ 'sluice.yaml': `${MAIN}${text}syncs:\n${sync('a')}${sync('b')}` });
    expect(found.map((it) => it.replace('sluice.yaml:', ''))).toEqual([expect.stringMatching(expected)]);
  });

  it('of a sync with more in_flight than the service are refused', async () => {
    expect(await problemsOf({ 'sluice.yaml': `${MAIN}syncs:\n${sync('a', ', in_flight: 5')}` })).toEqual([
      expect.stringMatching(/^sluice\.yaml:4:\d+: in_flight is 5, more than service.in_flight, 4/),
    ]);
  });
});

it('completion offers the names of included files too, also of a config with a mistake', async () => {
  const files = {
    'sluice.yaml': `include: [a.yaml]\nsyncs:\n${sync('one')}  two: [\n`,
    'a.yaml': `include: [sluice.yaml]\nsyncs:\n${sync('three')}`,
  };
  expect(await inFolder(files, (folder) => syncNames(join(folder, 'sluice.yaml')))).toEqual(['one', 'two', 'three']);
});
