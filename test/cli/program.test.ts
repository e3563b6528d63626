/** The words of the command line: what is taken, what is refused and how, and what every command declares. */
import { describe, expect, it } from 'vitest';
import { type Command, commonOptions } from '../../src/cli/command.ts';
import { allCommands } from '../../src/cli/commands.ts';
import { parseCommandLine } from '../../src/cli/program.ts';
import { runInProcess } from './in-process.ts';

const commands = await allCommands();

function argsOf(...words: string[]): Readonly<Record<string, unknown>> {
  const parsed = parseCommandLine(words, commands);
  if (parsed.kind !== 'run') throw new Error(parsed.kind);
  return parsed.args;
}

describe('a command line', () => {
  it('is typed as declared, without arguments that were not passed', () => {
    expect(argsOf('sync', 'a', '--max-points', '4', 'b', '--refresh', '--from=2024-02-29', '--json')).toEqual({
      json: true,
      quiet: false,
      verbose: false,
      config: undefined,
      'env-file': undefined,
      refresh: true,
      failed: false,
      limit: undefined,
      plan: undefined,
      'fail-on-truncated': false,
      from: '2024-02-29',
      to: undefined,
      'max-points': 4,
      'abandon-spool': false,
      names: ['a', 'b'],
    });
  });

  it('uses the last value of a repeated option', () => {
    expect(argsOf('status', '--config', 'a', '--config', 'b', '--json', '--json')).toMatchObject({
      config: 'b',
      json: true,
    });
  });

  it('turns a flag on or off with a value', () => {
    expect(argsOf('sync', '--json=true', '--quiet', '--quiet=false')).toMatchObject({ json: true, quiet: false });
  });

  it('may have options before the command', () => {
    expect(argsOf('--config', 'sync', '--json', 'status')).toMatchObject({ config: 'sync', json: true });
  });

  it('may name a config for every command, also for one that reads none', async () => {
    for (const { name, positionals } of commands) {
      const needed = Object.values(positionals).flatMap(({ takes, choices }) =>
        takes === 'one' ? [choices?.[0] ?? 'word'] : [],
      );
      for (const words of [
        [name, ...needed, '--config', 'FILE'],
        ['--config', 'FILE', name, ...needed],
      ])
        expect(argsOf(...words)).toMatchObject({ config: 'FILE' });
    }
    const { out } = await runInProcess(['completion', 'bash']);
    expect(await runInProcess(['completion', 'bash', '--config', '/nowhere'])).toEqual({ code: 0, out, err: '' });
    const { out: help } = await runInProcess(['completion', '--help']);
    expect(help).not.toContain('--config');
  });

  it('shows the help for the word help too', () => {
    expect(parseCommandLine(['help'], commands)).toEqual({ kind: 'help', command: undefined });
    expect(parseCommandLine(['help', 'sync'], commands)).toMatchObject({ kind: 'help', command: { name: 'sync' } });
    expect(parseCommandLine(['sync', '--help', '--nope'], commands)).toMatchObject({ kind: 'help' });
  });

  it('is a word after --, whatever it looks like', () => {
    expect(argsOf('query', '--', '--all\nselect 1')).toMatchObject({ sql: '--all\nselect 1' });
    expect(argsOf('query', '--json', '-')).toMatchObject({ sql: '-', json: true });
    expect(argsOf('sync', 'a', '--', '--json')).toMatchObject({ names: ['a', '--json'], json: false });
  });

  it('is SQL where it begins with a comment', () => {
    const sql = '-- users by=name\nselect 1 as x where 1 = 1';
    expect(argsOf('query', sql, '--json')).toMatchObject({ sql, json: true });
  });

  it('stays text where it looks like a number', () => {
    expect(argsOf('query', '1')).toMatchObject({ sql: '1' });
    expect(argsOf('sync', '007', '1e3')).toMatchObject({ names: ['007', '1e3'] });
  });
});

describe('what is not known', () => {
  it.each([
    [['sync', '--max-point=3'], 'sync: unknown flag --max-point; did you mean --max-points?'],
    [['sync', '-x'], 'sync: unknown flag -x'],
    [['sync', '--constructor=3'], 'sync: unknown flag --constructor'],
    [['sync', '--json=maybe'], 'sync: --json: found "maybe", allowed are true and false'],
    [['sync', '--config', '--quiet'], 'sync: --config needs a value: FILE'],
    [['--nope', 'sync'], 'sync: unknown flag --nope'],
    [['query', 'select 1', '--jsn'], 'query: unknown flag --jsn; did you mean --json?'],
    [['docs', '--confg', 'x'], 'docs: unknown flag --confg; did you mean --config?'],
    [['schema', '--config'], 'schema: --config needs a value: FILE'],
    [['status', '--no-quiet'], 'status: unknown flag --no-quiet'],
    [['sync', '--names', 'a'], 'sync: unknown flag --names; write its value as a plain word'],
    [['snyc', '--help'], 'unknown command "snyc"; did you mean sync?'],
    [['snyc'], 'unknown command "snyc"; did you mean sync?'],
    [['__proto__'], 'unknown command "__proto__"'],
    [['--vrebose'], 'unknown flag --vrebose; did you mean --verbose?'],
    [['migrate', 'dwon'], 'migrate: action: found "dwon", allowed are up, down, status; did you mean down?'],
    [['sync', '--max-points', 'many'], 'sync: --max-points: found "many", allowed is a whole number, 0 or more'],
    [['sync', '--max-points', '-1'], 'sync: --max-points: found "-1", allowed is a whole number, 0 or more'],
    [['sync', '--max-points', '1.5'], 'sync: --max-points: found "1.5", allowed is a whole number, 0 or more'],
    [['sync', '--from', '2024-02-30'], 'sync: --from: found "2024-02-30", allowed is a day of the calendar'],
    [['sync', '--config'], 'sync: --config needs a value'],
    [['sync', '--config='], 'sync: --config needs a value'],
    [['query'], 'query: it needs <sql>: The statement'],
    [['query', 'a', 'b'], 'query: found "b", which is one word too many'],
    [['quarantine', 'show'], 'quarantine: show takes the number of one entry, found none'],
    [['quarantine', 'show', '1 or 1=1'], 'quarantine: show takes the number of one entry, found "1 or 1=1"'],
    [['quarantine', 'retry', '3'], 'quarantine: retry takes no number, found "3"'],
    [[], 'no command given; allowed are init, check'],
    [['sandbox', '--port', '99999'], 'sandbox: port 99999 is not available'],
    [['sandbox', '--faults', 'fire'], 'The fault "fire" is not valid'],
    [['sandbox', '--size', 'huge'], 'The sandbox has no size "huge"'],
  ])('is refused with exit code 2: %j', async (words, message) => {
    const { code, out, err } = await runInProcess(words);
    expect([code, out]).toEqual([2, '']);
    expect(err.startsWith(`sluice: ${message}`), err).toBe(true);
  });

  it('is shown without anything that a terminal would interpret', async () => {
    const { code, err } = await runInProcess(['\u001b[2J\u009b2J\u202e']);
    expect(code).toBe(2);
    expect(err).toContain('␛[2J\\u009b2J\\u202e');
    expect(err.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\u202e/u);
  });

  it('is a line of the log where a command that logs refuses it', async () => {
    const { code, err } = await runInProcess(['replay', 'a', '--rebuild']);
    expect(code).toBe(2);
    expect(JSON.parse(err)).toMatchObject({ level: 'error', exitCode: 2, next: 'Leave out the names, or --rebuild.' });
    const inCi = await runInProcess(['replay', 'a', '--rebuild'], { env: { CI: 'true' } });
    expect(inCi.err).toMatch(/^sluice: replay: --rebuild rebuilds the tables of all syncs/);
  });
});

describe.each(commands.map((it): [string, Command] => [it.name, it]))('%s', (name, command) => {
  it('says what it does, and what each of its words means', () => {
    const texts = [
      command.summary,
      command.about,
      ...Object.values(command.options).map(({ about }) => about),
      ...Object.values(command.positionals).map(({ about }) => about),
      ...command.examples.map(({ about }) => about),
    ];
    for (const text of texts) expect(text).toMatch(/[.;]$/);
    expect(command.summary.length).toBeLessThan(80);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const [option, { type, value }] of Object.entries(command.options)) {
      expect([option, value !== undefined]).toEqual([option, type !== 'flag']);
      expect(Object.keys(commonOptions)).not.toContain(option);
    }
  });

  it('has examples that it takes', () => {
    for (const { line } of command.examples) {
      if (line === 'npm start') continue;
      const [program_, ...words] = shellWords(line);
      expect([program_, words[0]]).toEqual(['sluice', name]);
      expect(parseCommandLine(words, commands)).toMatchObject({ kind: 'run', command: { name } });
    }
  });

  it('has a help that shows every option and example', async () => {
    const { code, out, err } = await runInProcess([name, '--help']);
    expect([code, err]).toEqual([0, '']);
    for (const option of Object.keys(command.options)) expect(out).toContain(`--${option} `);
    for (const { line } of command.examples) expect(out.replaceAll(/\s+/g, ' ')).toContain(line);
  });
});

/** The words of a line up to a redirection; quotes are the only thing that a shell does here. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((it) => it[1] ?? it[2] ?? it[3] ?? '');
  const end = words.findIndex((word) => word === '<' || word === '>');
  return end < 0 ? words : words.slice(0, end);
}
