/** Runs the README's commands, as they stand there, in a copy of the project. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { parseCommandLine } from '../../src/cli/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = await readFile(join(ROOT, 'README.md'), 'utf8');

/** Every fenced block of shell, with the words that follow `sh`. */
const blocks = [...README.matchAll(/^```sh(.*)\n([\s\S]*?)^```$/gm)].map(([, tags = '', script = '']) => ({
  tags: tags.trim().split(' '),
  script,
}));

let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'sluice-readme-'));
  await cp(join(ROOT, 'package.json'), join(project, 'package.json'));
  for (const part of ['src', 'migrations', 'configs', 'node_modules'])
    await symlink(join(ROOT, part), join(project, part));
});
const begun: ChildProcess[] = [];
afterAll(async () => {
  // Its whole group: npm and the shell stand between.
  for (const { pid } of begun) if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  await rm(project, { recursive: true });
});

function shell(script: string) {
  const child = spawn('sh', ['-eu', '-c', script], {
    cwd: project,
    env: { PATH: process.env['PATH'] ?? '', HOME: project, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  return { child, ended: Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]) };
}

async function run(script: string): Promise<string> {
  const [[code], out, err] = await shell(script).ended;
  expect({ code: code as number, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' });
  return out;
}

/** The dependencies are there already, as links. */
const installed = (script: string): string => script.replaceAll('npm ci && ', '');

describe('the README', () => {
  it('brings every endpoint into the warehouse with its first command, and shows what is there', {
    timeout: 120_000,
  }, async () => {
    const [first, look] = blocks.filter(({ tags }) => tags.includes('run'));
    const started = await run(installed(first?.script ?? ''));
    expect(started).toMatch(/^total .* exit 0$/m);
    const offered = /npm run -s sluice -- query "[^"]+"/.exec(started)?.[0] ?? '';
    expect(await run(offered)).toContain('/api/pronet/search/users');
    const shown = await run(look?.script ?? '');
    expect(shown).toMatch(/^name +headline +location$/m);
    expect(shown).toContain('/api/webparser/parse');
  });

  it('leads to a first sync against the sandbox', { timeout: 120_000 }, async () => {
    const at = blocks.findIndex(({ tags }) => tags.includes('background'));
    const [begin, set, sync] = blocks.slice(at);
    // On a free port, as any port that a test names may be taken.
    const sandbox = shell(`exec ${begin?.script.trim()} --port 0`);
    begun.push(sandbox.child);
    const printed = await new Promise<string>((resolve, reject) => {
      let written = '';
      sandbox.child.stdout.on('data', (chunk: Buffer) => {
        written += chunk.toString();
        if (/TOKEN=.*\n/.test(written)) resolve(written);
      });
      sandbox.child.once('exit', () => reject(new Error(`the sandbox ended: ${written}`)));
    });
    const exported = printed.split('\n').filter((line) => line.startsWith('export '));
    const asWritten = exported.map((line) => line.replace(/:\d+$/, ':8787'));
    expect(set?.script.split('\n').slice(0, 2)).toEqual(asWritten);
    const variables = set?.script.split('\n').filter((line) => line.startsWith('export ')) ?? [];
    const there = [...variables, ...exported].join('\n');
    const wrote = await run(set?.script ?? '');
    expect(wrote).toContain('wrote mine/sluice.yaml');
    const out = await run(`${there}\n${sync?.script}`);
    expect(out).toMatch(/^ok +config/m);
    expect(out).toMatch(/^pages .* complete$/m);
    expect(out).toMatch(/^https:\/\/site-1\.example\/about /m);
  });

  it('names only commands and flags that there are', () => {
    const lines = blocks
      .flatMap(({ script }) => script.split('\n'))
      .flatMap((line) => /sluice -- (.*)/.exec(line)?.[1] ?? []);
    expect(lines.length).toBeGreaterThan(8);
    for (const line of lines) {
      const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
      expect(parseCommandLine(words, { commands, version: '', columns: 80 }).kind, line).toBe('run');
    }
  });

  it('links only to files that are there', async () => {
    const linked = [...README.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path = '']) => path);
    expect(linked).toContain('docs/commands.md');
    for (const path of linked) await expect(readFile(join(ROOT, path)), path).resolves.toBeDefined();
  });
});
