/** `sluice init`: its questions, its defaults, and the files that it does not touch. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askerOf } from '../../src/cli/terminal/question.ts';
import { loadConfig } from '../../src/config/load.ts';
import { catalog } from '../../src/service/catalog.ts';
import { freshDatabase } from '../support/database.ts';
import { keptChannel } from './channels.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const ENV = { SLUICE_SERVICE_TOKEN: 'some-token', DATABASE_URL: 'embedded:memory://' };
let folders = 0;
const fresh = (): string => join(folder.path, `folder-${(folders += 1)}`);
const endpointsIn = async (dir: string): Promise<string[]> =>
  (await loadConfig(join(dir, 'sluice.yaml'), ENV)).syncs.map((it) => it.endpoint.name);

describe('at a terminal', () => {
  it('asks for endpoints, warehouse and points, and writes what was answered', async () => {
    const dir = fresh();
    const { code, err } = await runInProcess(['init', '--dir', dir], {
      columns: 80,
      answers: ['2, pronet.group', 'postgres', '750'],
    });
    expect(code).toBe(0);
    expect(err).toMatch(/^Which endpoints should the config request\?\n {2}1 {2}webparser\.parse +\S.*\n/);
    expect(await endpointsIn(dir)).toEqual(['sec.search.companies', 'pronet.group', 'token.requests']);
    const text = await readFile(join(dir, 'sluice.yaml'), 'utf8');
    expect(text).toContain('url: ${DATABASE_URL:?set it to postgres://');
    expect(text).toContain('budget: { per_run: 750, per_day: 3750 }');
    expect(await readFile(join(dir, '.env.example'), 'utf8')).toMatch(/^DATABASE_URL=$/m);
  });

  it('prints the complete next steps if the token is that of the sandbox', async () => {
    const { out, err } = await runInProcess(['init', 'webparser.parse', '--dir', fresh()], {
      env: { SLUICE_SERVICE_TOKEN: 'sandbox-token' },
    });
    expect(out + err).toContain('fill in the token');
    expect(out + err).not.toContain('[redacted]');
  });

  it('takes the default for an empty line, and asks again after an invalid answer', async () => {
    const dir = fresh();
    const answers = ['webparser.prase', '', 'mysql', '', 'many', '0', ''];
    const { code, err } = await runInProcess(['init', '--dir', dir], { columns: 80, answers });
    expect(code).toBe(0);
    expect(err).toContain('"webparser.prase" is not an endpoint for a first config; did you mean "webparser.parse"?');
    expect(err).toContain('"mysql" is not a kind of warehouse; allowed: embedded, postgres');
    expect(err).toContain('"0" is not a number of points; allowed is a whole number, 1 or more');
    expect(await endpointsIn(dir)).toEqual(['webparser.parse', 'token.requests']);
  });

  it('does not ask for what a flag sets', async () => {
    const dir = fresh();
    const words = ['init', 'all', '--warehouse', 'embedded', '--per-run', '9', '--dir', dir];
    expect(await runInProcess(words, { columns: 80, answers: [] })).toMatchObject({ code: 0, err: '' });
    expect(await endpointsIn(dir)).toHaveLength(catalog.length);
  });

  it('refuses before it asks when something is there', async () => {
    const dir = fresh();
    await runInProcess(['init', '--dir', dir]);
    const again = await runInProcess(['init', '--dir', dir], { columns: 80, answers: [] });
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('exist already; nothing was written')]);
  });
});

describe('without a terminal', () => {
  it.each([
    ['off a terminal', {}, []],
    ['in CI', { env: { CI: 'true' }, columns: 80, answers: [] }, []],
    ['as JSON', { columns: 80, answers: [] }, ['--json']],
  ])('takes what is usual: %s', async (_, options, flags) => {
    const dir = fresh();
    expect(await runInProcess(['init', '--dir', dir, ...flags], options)).toMatchObject({ code: 0, err: '' });
    expect(await endpointsIn(dir)).toEqual(['webparser.parse', 'token.requests']);
  });

  it.each([
    [['pronet.search'], '"pronet.search" is not an endpoint for a first config'],
    [['--warehouse', 'sqlite'], '"sqlite" is not a kind of warehouse'],
    [['--per-run', '0'], 'init: --per-run: found "0", allowed is a whole number, 1 or more'],
  ])('refuses what can’t be had, and writes nothing: %j', async (words, message) => {
    const dir = fresh();
    const { code, err } = await runInProcess(['init', ...words, '--dir', dir]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    await expect(readdir(dir)).rejects.toThrow('ENOENT');
  });
});

describe('what it writes', () => {
  it('is accepted by check, with the commands to continue', async () => {
    const dir = fresh();
    const { out } = await runInProcess(['init', 'pronet.user.education', '--dir', dir]);
    expect(out).toContain(`next:\n  cd ${dir}\n  cp .env.example .env\n`);
    const database = await freshDatabase();
    const env = { ...ENV, DATABASE_URL: database.url };
    const checked = await runInProcess(['check', '--config', join(dir, 'sluice.yaml')], { env });
    await database.drop();
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining('sluice.yaml: 3 syncs') });
  });

  it('leaves a .gitignore as it is, and warns when git would take secrets', async () => {
    const dir = fresh();
    await runInProcess(['init', '--dir', dir]);
    await writeFile(join(dir, '.gitignore'), 'dist\n.sluice/\n');
    const { code, err } = await runInProcess(['init', '--dir', dir, '--force']);
    expect([code, err]).toEqual([0, expect.stringContaining('.gitignore is unchanged and lacks .env')]);
    expect(await readFile(join(dir, '.gitignore'), 'utf8')).toBe('dist\n.sluice/\n');
  });
});

describe('a question', () => {
  const terminal = (text: string) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    input.write(text);
    return input;
  };

  it('takes lines that were typed ahead, each for its own question', async () => {
    const output = keptChannel(80);
    const ask = askerOf({ input: terminal('one \ntwo\n'), output, signal: new AbortController().signal });
    expect([await ask?.('a? '), await ask?.('b? ')]).toEqual(['one', 'two']);
    expect(output.text()).toBe('a? b? ');
  });

  it('is refused at the end of the input', async () => {
    const input = terminal('');
    input.end();
    const ask = askerOf({ input, output: keptChannel(80), signal: new AbortController().signal });
    await expect(ask?.('a? ')).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('input ended') });
  });

  it('is left with the reason of an interruption', async () => {
    const interruption = new AbortController();
    const ask = askerOf({ input: terminal(''), output: keptChannel(80), signal: interruption.signal });
    const answer = ask?.('a? ');
    interruption.abort(new Error('interrupted'));
    await expect(answer).rejects.toThrow('interrupted');
  });

  it('is not asked if input or output is not a terminal', () => {
    const { signal } = new AbortController();
    expect(askerOf({ input: new PassThrough(), output: keptChannel(80), signal })).toBeUndefined();
    expect(askerOf({ input: terminal(''), output: keptChannel(), signal })).toBeUndefined();
  });
});
