/** The program from outside: exit codes, streams, help, refusals. */
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { freshDatabase } from '../support/database.ts';
import { copyEmbedded } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { run, start, temporaryFolder } from './program-run.ts';

const QUICKSTART = fileURLToPath(new URL('../../configs/quickstart.yaml', import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const sluice = (...words: string[]) => run(words, { cwd: folder.path });

/** Addresses of all that is loaded until the command ends. */
async function loadedBy(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const recorder = `import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
    process.on('exit', () => process.stderr.write(urls.join('\\n')));`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(recorder)}`];
  return (await run(words, { cwd: folder.path, env, node, fromSources: true })).err;
}

describe('a command on a server', () => {
  it('loads neither the embedded warehouse nor migrations, which most starts do without', async () => {
    const db = await freshDatabase();
    const env = { DATABASE_URL: db.url, SLUICE_SERVICE_TOKEN: 'token', SLUICE_CONFIG: QUICKSTART };
    expect((await run(['migrate'], { cwd: folder.path, env })).code).toBe(0);
    const urls = await loadedBy(['check'], env);
    await db.drop();
    expect(urls).toContain('src/warehouse/migrate/drift.ts');
    const needless = [
      '@electric-sql',
      '/yargs/',
      'string-width',
      'undici',
      'cheerio',
      '/migrations/',
      '/flow/request/',
      '/flow/run/',
      '/normalize/',
    ];
    expect(needless.filter((name) => urls.includes(name))).toEqual([]);
  });
});

describe('compiled code', () => {
  it('stays valid during a command, because the settings of V8 stay as they are', async () => {
    const db = await freshDatabase();
    const embedded = join(folder.path, 'settings', 'warehouse');
    await copyEmbedded(embedded);
    const compare = `import { cachedDataVersionTag } from 'node:v8';
      const before = cachedDataVersionTag();
      process.on('exit', () => process.stderr.write(before === cachedDataVersionTag() ? 'same' : 'changed'));`;
    const node = ['--import', `data:text/javascript,${encodeURIComponent(compare)}`];
    for (const url of [db.url, `embedded:${embedded}`]) {
      const env = { DATABASE_URL: url, SLUICE_SERVICE_TOKEN: 'token', SLUICE_CONFIG: QUICKSTART };
      expect((await run(['query', 'select 1'], { cwd: folder.path, env, node })).err, url).toMatch(/same$/);
    }
    await db.drop();
  });
});

describe('the catalog', () => {
  it.each([[['tables', 'web_pages']], [['endpoints', 'webparser.parse']], [['describe', 'web_pages']]])(
    '%j loads neither the warehouse nor the flow, because it reads declarations alone',
    async (words) => {
      const urls = await loadedBy(words);
      expect(urls).toContain('src/lineage/relations.ts');
      const needless = ['@electric-sql', '/pg/', 'kysely', 'undici', '/warehouse/connect/', '/flow/', '/normalize/'];
      expect(needless.filter((name) => urls.includes(name))).toEqual([]);
    },
  );
});

describe('help', () => {
  it('lists every command on standard output', async () => {
    const { code, out, err } = await sluice('--help');
    expect([code, err]).toEqual([0, '']);
    const help = out.replaceAll(/\s+/g, ' ');
    for (const { name, summary, hidden } of commands) expect(help.includes(summary), name).toBe(hidden !== true);
  });

  it('shows what a command takes, with examples', async () => {
    const { code, out } = await sluice('sync', '--help');
    expect(code).toBe(0);
    expect(out).toContain('--max-points');
    expect(out).toContain('sluice sync pages costs --max-points 50');
  });

  it('loads nothing that only work needs', async () => {
    const urls = await loadedBy(['--help']);
    expect(urls).toContain('src/cli/program.ts');
    const heavy = ['@electric-sql', '/pg/', 'undici', 'cheerio', 'kysely', '/zod/', '/yaml/', '/pino/'];
    expect(heavy.filter((name) => urls.includes(name))).toEqual([]);
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await sluice('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });
});

describe('what is not known', () => {
  it('is refused with exit code 2, on standard error', async () => {
    const { code, out, err } = await sluice('sync', '--refesh');
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(
      'sluice: sync: unknown flag --refesh; did you mean --refresh?\nRun sluice sync --help for its options.\n',
    );
  });
});

describe('the config', () => {
  it('is refused with its place, exit code 2', async () => {
    await writeFile(join(folder.path, 'bad.yaml'), 'service:\n  url: http://127.0.0.1\n  tokn: x\n');
    const { code, err } = await sluice('plan', '--config', 'bad.yaml');
    expect(code).toBe(2);
    expect(err).toMatch(/bad\.yaml:3:3: .*tokn.*did you mean "token"/);
  });

  it('is that of the flag, else of SLUICE_CONFIG', async () => {
    const env = { SLUICE_CONFIG: 'from-env.yaml' };
    expect((await run(['status'], { cwd: folder.path, env })).err).toContain('from-env.yaml');
    const flagged = await run(['status', '--config', 'from-flag.yaml'], { cwd: folder.path, env });
    expect([flagged.code, flagged.err]).toEqual([2, expect.stringContaining('from-flag.yaml')]);
  });
});

describe('a reader that goes away', () => {
  it('is no error', async () => {
    const { child, ended } = start(['schema'], { cwd: folder.path });
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit'), ended.catch(() => undefined)]);
    expect([code, err]).toEqual([0, '']);
  });

  const full = '/dev/full';
  if (existsSync(full)) {
    it('differs from a result that cannot be written, which is exit code 5', () => {
      const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
      const ended = (...words: string[]) =>
        spawnSync(process.execPath, [main, 'schema', ...words], {
          cwd: folder.path,
          stdio: ['ignore', openSync(full, 'w'), 'pipe'],
          encoding: 'utf8',
        });
      const message = 'the result could not be written: ENOSPC';
      const plain = ended();
      expect([plain.status, plain.stderr]).toEqual([5, expect.stringContaining(`sluice: ${message}`)]);
      const { status, stderr } = ended('--json');
      expect([status, JSON.parse(stderr)]).toEqual([
        5,
        expect.objectContaining({ format: 'error/1', exitCode: 5, message: expect.stringContaining(message) }),
      ]);
    });
  }
});

describe('init', () => {
  it('writes a config that check finds valid, and never over what is there', async () => {
    const at = join(folder.path, 'fresh');
    const written = await runInProcess(['init', '--dir', at, '--json']);
    expect(written.code).toBe(0);
    expect(JSON.parse(written.out)).toEqual({
      format: 'init/1',
      written: ['sluice.yaml', '.env.example', 'sync.schema.json', '.gitignore'].map((name) => join(at, name)),
    });
    const again = await runInProcess(['init', '--dir', at]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('nothing was written')]);
    await writeFile(join(at, '.gitignore'), 'mine\n');
    expect((await runInProcess(['init', '--dir', at, '--force'])).code).toBe(0);
    expect(await readFile(join(at, '.gitignore'), 'utf8')).toBe('mine\n');
    const SLUICE_CONFIG = join(at, 'sluice.yaml');
    const env = { SLUICE_CONFIG, SLUICE_SERVICE_TOKEN: 'some-token', DATABASE_URL: 'embedded:memory://' };
    const checked = await runInProcess(['check', '--json'], { env });
    expect(JSON.parse(checked.out)).toMatchObject({ ok: true, exitCode: 0 });
    expect(checked.code).toBe(0);
  });
});
