/** The published package: built, packed, and run from its own files with only its dependencies. */
import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { catalog } from '../../src/service/catalog.ts';
import { textOf } from './published.ts';

const run = promisify(execFile);
/** The files that the build needs in addition to node_modules. */
const PARTS = ['package.json', 'rolldown.config.ts', 'toolchain', 'src', 'migrations', 'configs', 'LICENSE'];
const { dependencies, version } = JSON.parse(textOf('package.json')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly version: string;
};

describe('the package', () => {
  let folder = '';
  let main = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
    const project = join(folder, 'project');
    for (const part of PARTS) cpSync(part, join(project, part), { recursive: true });
    await symlink(resolve('node_modules'), join(project, 'node_modules'));
    const PATH = [resolve('node_modules/.bin'), process.env['PATH'] ?? ''].join(delimiter);
    const { stdout } = await run('npm', ['pack', '--silent'], { cwd: project, env: { PATH, HOME: folder } });
    const modules = join(folder, 'app', 'node_modules');
    await mkdir(join(modules, 'sluice'), { recursive: true });
    const tarball = join(project, stdout.trim());
    await run('tar', ['--extract', '--file', tarball, '--strip-components=1', '--directory', join(modules, 'sluice')]);
    for (const name of Object.keys(dependencies)) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(resolve('node_modules', name), join(modules, name));
    }
    main = join(modules, 'sluice', 'dist', 'src', 'main.js');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const sluice = (...words: readonly string[]) => sluiceWith({}, words);
  const sluiceWith = (env: Readonly<Record<string, string>>, words: readonly string[]) =>
    run(process.execPath, [main, ...words], {
      cwd: join(folder, 'app'),
      env: { HOME: folder, NODE_OPTIONS: '--no-experimental-strip-types', ...env },
      maxBuffer: 2 ** 26,
    });

  it('has every config, no source, and a program that a shell can start', async () => {
    const inside = join(dirname(main), '..', '..');
    expect(await readdir(join(inside, 'configs'))).toEqual(await readdir('configs'));
    expect((await readdir(inside, { recursive: true })).filter((name) => name.endsWith('.ts'))).toEqual([]);
    expect(await readFile(main, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('prints its version and its commands', async () => {
    expect((await sluice('--version')).stdout.trim()).toBe(version);
    const { stdout } = await sluice('--help');
    for (const { name } of commands.filter(({ hidden }) => hidden !== true)) expect(stdout).toContain(`sluice ${name}`);
  });

  it('runs the quickstart, every endpoint into the embedded warehouse, and reads it', async () => {
    const summary = JSON.parse((await sluice('start', '--json')).stdout) as {
      readonly exitCode: number;
      readonly syncs: readonly { readonly endpoint: string; readonly state: string }[];
    };
    expect(summary.exitCode).toBe(0);
    expect(new Set(summary.syncs.map(({ endpoint }) => endpoint)).size).toBe(catalog.length);
    const config = join(dirname(main), '..', '..', 'configs', 'quickstart.yaml');
    // In the working folder: that of the package is replaced by its next version.
    const there = { DATABASE_URL: `embedded:${join(folder, 'app', '.sluice')}` };
    const sql = `select (select count(*) from pronet_users) as users, array_agg(name) as migrations from sluice_ops.kysely_migration`;
    const { stdout } = await sluiceWith(there, ['query', '--config', config, '--json', sql]);
    const [row] = JSON.parse(stdout) as { users: string; migrations: string[] }[];
    expect(Number(row?.users)).toBeGreaterThan(0);
    for (const name of await readdir('migrations')) expect(row?.migrations).toContain(name.replace(/\.ts$/, ''));
  });
});
