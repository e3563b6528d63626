/** The reference: the committed files are what the code says, and no class, code or command is left out. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allCommands } from '../../src/cli/commands.ts';
import { generatedFiles } from '../../src/cli/reference/files.ts';
import { schemaText } from '../../src/cli/reference/schema-text.ts';
import * as errors from '../../src/errors.ts';
import { catalog } from '../../src/service/catalog.ts';
import { dictionary } from '../../src/warehouse/schema/dictionary.ts';
import { runInProcess } from '../cli/in-process.ts';

const commands = await allCommands();

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const files = generatedFiles(commands, schemaText());
const contentOf = (path: string): string => files.find((it) => it.path === path)?.content ?? '';

describe('the committed files', () => {
  it.each(files.map(({ path }) => path))('%s is as the code says; npm run docs mends it', async (path) => {
    expect(await readFile(join(ROOT, path), 'utf8')).toBe(contentOf(path));
  });
});

describe('sluice docs', () => {
  it('writes stale files, and with --check only reports them, exit code 1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
    const docs = async (...words: string[]) => {
      const { code, out, err } = await runInProcess(['docs', '--output', folder, '--json', ...words]);
      return { code, err, ...(JSON.parse(out) as { stale?: string[]; written?: string[] }) };
    };
    const all = files.map(({ path }) => path);
    expect(await docs('--check')).toMatchObject({ code: 1, stale: all });
    expect(await readdir(folder)).toEqual([]);
    expect(await docs()).toMatchObject({ code: 0, written: all });
    expect(await docs('--check')).toMatchObject({ code: 0, stale: [] });
    await writeFile(join(folder, 'docs/errors.md'), 'other');
    const stale = await docs('--check');
    expect(stale).toMatchObject({ code: 1, stale: ['docs/errors.md'] });
    expect(stale.err).toContain('run npm run docs');
    expect(await docs()).toMatchObject({ code: 0, written: ['docs/errors.md'] });
    await rm(folder, { recursive: true });
  });

  it('prints where it wrote and what is stale, with the folder of --output', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
    const docs = async (...words: string[]) => (await runInProcess(['docs', '--output', folder, ...words])).out;
    expect(await docs('--check')).toContain(`${folder}/docs/errors.md is stale\n`);
    expect(await docs()).toContain(`wrote ${folder}/docs/errors.md\n`);
    await rm(folder, { recursive: true });
  });
});

describe('sluice docs outside a checkout', () => {
  it('prints the pages and writes nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-docs-'));
    const before = process.cwd();
    process.chdir(folder);
    try {
      expect((await runInProcess(['docs', 'tables'])).out).toBe(contentOf('docs/tables.md'));
      expect((await runInProcess(['docs'])).out).toContain(contentOf('docs/errors.md'));
      expect(await runInProcess(['docs', 'table'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('did you mean "tables"?'),
      });
      // Otherwise every file would be reported as stale.
      expect(await runInProcess(['docs', '--check'])).toMatchObject({
        code: 2,
        err: expect.stringContaining('the working directory is not its folder'),
      });
      expect(await readdir(folder)).toEqual([]);
    } finally {
      process.chdir(before);
      await rm(folder, { recursive: true });
    }
  });
});

describe('nothing is left out', () => {
  it('of the classes of errors and the exit codes', () => {
    const page = contentOf('docs/errors.md');
    const classes = Object.entries(errors).filter(([name]) => name.endsWith('Error') && name !== 'SluiceError');
    for (const [name, type] of classes) {
      const { exitCode } = new (type as new (message: string) => errors.SluiceError)('');
      expect(page).toContain(`| \`${name}\` | ${exitCode} |`);
    }
    expect(page.match(/^\| `\w+Error` \|/gm)).toHaveLength(classes.length);
    for (const [name, code] of Object.entries(errors.EXIT)) expect(page).toContain(`| ${code} | ${name} |`);
  });

  it('of commands and their options', () => {
    const page = contentOf('docs/commands.md');
    for (const { name, options } of commands) {
      expect(page).toContain(`\n## ${name}\n`);
      for (const option of Object.keys(options)) expect(page).toContain(`\`--${option}`);
    }
  });

  it('of endpoints with their request fields', () => {
    const page = contentOf('docs/endpoints.md');
    for (const { name, request } of catalog) {
      const section = page.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
      for (const field of Object.keys(request.shape)) expect(section).toContain(`| \`${field}\``);
    }
  });

  it('of tables and views with their columns', () => {
    const page = contentOf('docs/tables.md');
    for (const { table, columns } of dictionary()) {
      const section = page.split(`\n## ${table}\n`)[1]?.split('\n## ')[0] ?? '';
      for (const { name } of columns) expect(section).toContain(`| \`${name}\``);
    }
  });
});

describe('links inside the reference', () => {
  it('lead to headings that are there, each of them once', () => {
    for (const { path, content } of files.filter((it) => it.path.endsWith('.md'))) {
      for (const [, page, anchor] of content.matchAll(/\]\(([a-z]+\.md)?#([^)]+)\)/g)) {
        const target = page === undefined ? content : contentOf(`docs/${page}`);
        const anchors = [...target.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
          heading
            .toLowerCase()
            .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
            .replaceAll(' ', '-'),
        );
        expect(
          anchors.filter((it) => it === anchor),
          `${path} to ${page ?? ''}#${anchor ?? ''}`,
        ).toHaveLength(1);
      }
    }
  });
});
