/** `sluice plan --against`: the price of a change, against a file and against a revision of git. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { temporaryFolder } from './program-run.ts';

const NOW = new Date('2026-05-04T12:00:00Z');
const config = (groups: string, more = ''): string => `service: { url: "http://127.0.0.1:1" }
syncs:
  groups: { endpoint: pronet.group, schedule: "15 6 * * *", for_each: { group: ${groups} } }
${more}`;
const BEFORE = config('["1", "2"]', '  gone: { endpoint: microblog.user, for_each: { user: [a] } }\n');
const AFTER = config(
  '{ file: groups.txt }',
  '  more: { endpoint: microblog.user, after: [groups], for_each: { user: [a] } }\n',
);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
const git = (...words: string[]): void => {
  execFileSync('git', ['-C', folder.path, '-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { stdio: 'pipe' });
};
beforeAll(async () => {
  folder = await temporaryFolder();
  database = await freshDatabase(await postgresTemplate());
  const file = join(folder.path, 'sluice.yaml');
  await writeFile(join(folder.path, 'groups.txt'), '1\n2\n3\n');
  git('init', '--quiet', '--initial-branch', 'main');
  await writeFile(file, BEFORE);
  git('add', '.');
  git('commit', '--quiet', '-m', 'first');
  await writeFile(join(folder.path, 'other.yaml'), BEFORE);
  await writeFile(file, AFTER);
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});
const plan = (...words: string[]) =>
  runInProcess(['plan', ...words], {
    env: { SLUICE_CONFIG: join(folder.path, 'sluice.yaml'), DATABASE_URL: database.url },
    now: () => NOW,
  });

describe('the price of a change', () => {
  it.each([
    ['a revision', () => 'main'],
    ['a file', () => join(folder.path, 'other.yaml')],
  ])('against %s is shown for each sync and in total', async (_, against) => {
    const { code, out, err } = await plan('--against', against());
    expect({ code, err }).toEqual({ code: 0, err: '' });
    // Thirty firings of three groups and of their child, instead of thirty firings of two groups and one run.
    expect(out).toMatch(/^groups +pronet\.group +30 +60 +90 +\+30 +guess$/m);
    expect(out).toMatch(/^more +microblog\.user +30 +30 +\+30 +guess$/m);
    expect(out).toMatch(/^gone +microblog\.user +once +1 +-1 +guess$/m);
    expect(out).toContain(`A month costs 59 points more than with ${against()}: 61 before, 120 after.`);
    expect(out).toContain('if nothing fires it, one run is counted.');
  });

  it('above the limit ends with exit code 4, and at the limit with 0', async () => {
    expect(await plan('--against', 'main', '--fail-above', '58')).toMatchObject({
      code: 4,
      out: expect.stringContaining('above the allowed increase of 58 points (--fail-above)'),
    });
    expect((await plan('--against', 'main', '--fail-above', '59')).code).toBe(0);
  });

  it('is printed as JSON and as Markdown too', async () => {
    const { out } = await plan('--against', 'main', '--json', '--fail-above', '58');
    expect(JSON.parse(out)).toMatchObject({
      against: 'main',
      days: 30,
      total: { before: 61, after: 120, change: 59 },
      failAbove: 58,
      isAbove: true,
      syncs: [
        { sync: 'groups', before: { firings: 30, questions: 60 }, after: { firings: 30, questions: 90 }, change: 30 },
        { sync: 'more', before: null, change: 30 },
        { sync: 'gone', after: null, change: -1 },
      ],
    });
    const { out: markdown } = await plan('--against', 'main', '--markdown');
    expect(markdown).toContain('| groups | pronet.group | 30 | 60 | 90 | +30 | guess |');
    expect(
      markdown
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .map((line) => line.split('|').length),
    ).toEqual([9, 9, 9, 9, 9, 9]);
  });

  it('is nothing for the same config', async () => {
    const { code, out } = await plan('--against', join(folder.path, 'sluice.yaml'), '--fail-above', '0');
    expect([code, out]).toEqual([0, expect.stringContaining('A month costs the same as with')]);
  });

  it.each([
    ['a revision that does not exist', 'nowhere', 'git finds no config at this revision'],
    ['a flag of git', '--output=stolen', 'no revision begins with -'],
  ])('against %s is refused', async (_, against, because) => {
    expect(await plan(`--against=${against}`)).toMatchObject({ code: 2, err: expect.stringContaining(because) });
  });

  it('against a revision whose config is not valid names the revision', async () => {
    const file = join(folder.path, 'sluice.yaml');
    await writeFile(file, 'syncs: 1\n');
    git('commit', '--quiet', '--all', '-m', 'second');
    await writeFile(file, AFTER);
    expect(await plan('--against', 'HEAD')).toMatchObject({
      code: 2,
      err: expect.stringContaining('the config at HEAD is not valid'),
    });
    expect((await plan('--against', 'HEAD~1')).code).toBe(0);
  });

  it('refuses flags that have no effect', async () => {
    expect(await plan('--markdown')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--markdown requires --against'),
    });
    expect(await plan('--against', 'main', '--output', 'a', 'groups')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--output, names of syncs cannot be combined with --against'),
    });
    expect(await plan('--failed', '--output', 'a')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--failed cannot be combined with --output'),
    });
  });

  it('with a revision reads included files at that revision too, also from a subfolder of the repository', async () => {
    const team = join(folder.path, 'team');
    const main = join(team, 'sluice.yaml');
    await mkdir(join(team, 'parts'), { recursive: true });
    const part = (inputs: string): string =>
      `syncs: { groups: { endpoint: pronet.group, schedule: "15 6 * * *", for_each: { group: ${inputs} } } }\n`;
    await writeFile(main, 'service: { url: "http://127.0.0.1:1" }\ninclude: ["parts/*.yaml"]\n');
    await writeFile(join(team, 'parts', 'groups.yaml'), part('["1"]'));
    git('add', '.');
    git('commit', '--quiet', '-m', 'a team');
    await writeFile(join(team, 'parts', 'groups.yaml'), part('["1", "2"]'));
    const { code, out, err } = await plan('--config', main, '--against', 'HEAD');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('A month costs 30 points more than with HEAD: 30 before, 60 after.');
  });

  it('against a revision reads the input files of that revision, also if they have another name now', async () => {
    git('add', '.');
    git('commit', '--quiet', '-m', 'second');
    const now = AFTER.replace('groups.txt', 'clubs.txt');
    await writeFile(join(folder.path, 'sluice.yaml'), now);
    git('mv', 'groups.txt', 'clubs.txt');
    await writeFile(join(folder.path, 'clubs.txt'), '1\n2\n3\n4\n5\n');
    const { out, err } = await plan('--against', 'main');
    expect(err).toBe('');
    expect(out).toMatch(/^groups +pronet\.group +30 +90 +150 +\+60 +guess$/m);
  });

  it('against a revision reads its input files, although files of the same name are there now and at HEAD', async () => {
    const file = join(folder.path, 'sluice.yaml');
    await writeFile(file, AFTER);
    await writeFile(join(folder.path, 'groups.txt'), '1\n2\n');
    git('add', '.');
    git('commit', '--quiet', '-m', 'two groups');
    await writeFile(join(folder.path, 'groups.txt'), '1\n2\n3\n4\n');
    git('commit', '--quiet', '--all', '-m', 'four groups');
    await writeFile(join(folder.path, 'groups.txt'), '1\n2\n3\n4\n5\n');
    const against = async (revision: string) => (await plan('--against', revision)).out;
    expect(await against('HEAD~1')).toMatch(/^groups +pronet\.group +30 +60 +150 +\+90 +guess$/m);
    expect(await against('HEAD')).toMatch(/^groups +pronet\.group +30 +120 +150 +\+30 +guess$/m);
  });
});
