/** `--env-file`: variables of a file, which the real environment overrides and no output shows. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runInProcess } from './in-process.ts';

const SECRET = 'S3cr3t-from-the-file';
let folder: string;
let config: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-env-'));
  config = join(folder, 'sluice.yaml');
  await writeFile(
    config,
    'service: { in_flight: "${CALLS}" }\nsyncs:\n  groups: { endpoint: pronet.group, for_each: { group: ["1001"] }, max_age: "${AGE}" }\n',
  );
  await writeFile(
    join(folder, 'test.env'),
    `# a comment\nexport AGE="30d"\nCALLS=2\nDATABASE_URL=embedded:memory\nSLUICE_CONFIG=${config}\nSLUICE_SERVICE_TOKEN=${SECRET}\n`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

const plan = (env: Readonly<Record<string, string>>, ...more: string[]) =>
  runInProcess(['plan', '--verbose', ...more, '--env-file', join(folder, 'test.env')], { env });

describe('--env-file', () => {
  it('sets the variables of the file, also the one that names the config', async () => {
    const { code, out } = await plan({ DATABASE_URL: `embedded:${join(folder, 'wh')}` }, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ syncs: [{ sync: 'groups', requests: 1 }] });
  });

  it('may follow a byte order mark and end lines as Windows does', async () => {
    const file = join(folder, 'windows.env');
    await writeFile(file, `\uFEFFAGE=30d\r\nCALLS=2\r\nSLUICE_CONFIG=${config}\r\n`);
    const env = { DATABASE_URL: `embedded:${join(folder, 'wh')}` };
    const { code, err } = await runInProcess(['plan', '--env-file', file], { env });
    expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  });

  it('is refused when it isn’t UTF-8, instead of losing bytes', async () => {
    const file = join(folder, 'utf-16.env');
    await writeFile(file, Buffer.from(`\uFEFFAGE=30d\r\n`, 'utf16le'));
    const { code, err } = await runInProcess(['plan', '--env-file', file], { env: {} });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`${file} is not UTF-8 text`) as string });
  });

  it('leaves a variable of the real environment as it is, even if it is empty', async () => {
    const wrong = await plan({ AGE: 'soon' });
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain('max_age is the value of ${AGE}');
    expect((await plan({ AGE: '' })).code).toBe(2);
  });

  it('never prints a secret of the file', async () => {
    const { err, code } = await plan({ AGE: SECRET, DATABASE_URL: `postgres://127.0.0.1:1/${SECRET}` });
    expect(code).toBe(2);
    expect(err).not.toContain(SECRET);
    const unreachable = await plan({ DATABASE_URL: `postgres://127.0.0.1:1/${SECRET}` });
    expect(unreachable.code).not.toBe(0);
    expect(unreachable.err).not.toContain(SECRET);
    // No config was read, so only the variables say what is secret.
    const missing = await plan({ SLUICE_CONFIG: join(folder, `${SECRET}.yaml`) });
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('[redacted].yaml') });
    expect(missing.err).not.toContain(SECRET);
  });

  it.each([
    ['missing.env', /--env-file: .*missing\.env can't be read \(ENOENT\); allowed is a readable file/],
    ['.', /can't be read \(EISDIR\)/],
  ])('that is %s is refused', async (name, message) => {
    const ran = await runInProcess(['check', '--config', config, '--env-file', join(folder, name)]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(message);
    expect(ran.err).toContain('Name an existing file.');
  });

  it('that is missing is refused by the program, although Node reads the option of its arguments too', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
      readonly scripts: { readonly sluice: string };
    };
    const [program, ...words] = scripts.sluice.split(' ');
    expect(program).toBe('node');
    const ran = spawnSync(process.execPath, [...words, 'check', '--env-file', 'missing.env'], { cwd: root });
    expect({ code: ran.status, err: String(ran.stderr) }).toEqual({
      code: 2,
      err: expect.stringContaining("missing.env can't be read (ENOENT)"),
    });
  });
});
