/** ARCHITECTURE.md and the decision records: links in both directions, sections, and files that exist. */
import { access, readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

const FOLDER = 'docs/decisions';
const SECTIONS = ['Context', 'Decision', 'Consequences', 'Rejected alternatives', 'Files'];

const architecture = await readFile('ARCHITECTURE.md', 'utf8');
const section = (page: string, head: string): string => page.split(`\n## ${head}\n`)[1]?.split('\n## ')[0] ?? '';
const records = await Promise.all(
  (await readdir(FOLDER)).toSorted().map(async (name) => ({ name, text: await readFile(`${FOLDER}/${name}`, 'utf8') })),
);
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
/** Paths in backticks that begin in a folder of the checkout. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:src|test|docs|deploy|bench|toolchain|migrations)\/[\w./-]*)`/g)].map(([, path = '']) => path);
const missingOf = async (paths: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(paths.map(async (path) => ((await exists(path)) ? [] : [path])));
  return found.flat();
};

describe('ARCHITECTURE.md', () => {
  it('has at most 150 lines of at most 150 characters', () => {
    const lines = architecture.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(150);
    expect(lines.filter((line) => line.length > 150)).toEqual([]);
  });

  it('has at most 25 terms in the glossary, in alphabetical order', () => {
    const terms = [...section(architecture, 'Glossary').matchAll(/^\| ([^|]+) \| /gm)]
      .map(([, term = '']) => term)
      .filter((term) => term !== 'term');
    expect(terms.length).toBeGreaterThan(10);
    expect(terms.length).toBeLessThanOrEqual(25);
    expect(terms).toEqual(terms.toSorted());
  });

  it('lists every record once, in order, under its title', () => {
    const listed = [...section(architecture, 'Decisions').matchAll(/^\| \[([^\]]+)\]\(([^)]+)\) \| /gm)];
    expect(listed.map(([, title, path]) => [title, path])).toEqual(
      records.map(({ name, text }) => [/^# (.+)$/m.exec(text)?.[1], `${FOLDER}/${name}`]),
    );
  });

  it('names only paths that exist', async () => {
    expect(await missingOf(pathsIn(architecture))).toEqual([]);
  });

  it('lists at most 30 files that one item passes, and all of them exist', async () => {
    const files = [...section(architecture, 'The way of one item').matchAll(/`([\w/-]+\.ts)`/g)].map(
      ([, path = '']) => `src/${path}`,
    );
    expect(files.length).toBeGreaterThan(20);
    expect(new Set(files).size).toBe(files.length);
    expect(files.length).toBeLessThanOrEqual(30);
    expect(await missingOf(files)).toEqual([]);
  });
});

describe.each(records)('the record $name', ({ name, text }) => {
  it('has its number, its title and the sections of a record', () => {
    const number = String(records.findIndex((record) => record.name === name) + 1);
    expect(name).toMatch(new RegExp(String.raw`^${number.padStart(2, '0')}-[a-z-]+\.md$`));
    expect(text).toMatch(new RegExp(String.raw`^# ${number}\. \w`));
    expect([...text.matchAll(/^## (.+)$/gm)].map(([, head]) => head)).toEqual(SECTIONS);
    for (const head of SECTIONS) expect(section(text, head).trim(), head).not.toBe('');
  });

  it('names only files that exist, and at least one source file', async () => {
    expect(pathsIn(section(text, 'Files')).length).toBeGreaterThan(0);
    expect(await missingOf(pathsIn(text))).toEqual([]);
  });
});
