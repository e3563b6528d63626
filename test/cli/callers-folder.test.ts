/** Relative paths: they begin in the folder of the caller, also when npm runs a checkout's script. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { callersFolder, packageFolder } from '../../src/cli/package.ts';
import { freshDatabase } from '../support/database.ts';
import { runInProcess } from './in-process.ts';
import { run, temporaryFolder } from './program-run.ts';

const ours = join(packageFolder(), 'package.json');
const byNpm = { npm_package_json: ours, npm_lifecycle_event: 'sluice', INIT_CWD: '/where' };

it.each([
  ['npm, by our script', byNpm, '/where'],
  ['npm, by another script', { ...byNpm, npm_lifecycle_event: 'start' }, undefined],
  [
    'npm, by a script of that name in another package',
    { ...byNpm, npm_package_json: '/theirs/package.json' },
    undefined,
  ],
  ['a shell', {}, undefined],
])('the folder of the caller is found when the program is started by %s', (_, env, folder) => {
  expect(callersFolder(env)).toBe(folder);
});

it('a config is found in the caller’s folder', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const shop = join(folder.path, 'shop');
  expect((await runInProcess(['init', 'webparser.parse', '--dir', shop])).code).toBe(0);
  const { out } = await run(['check'], {
    cwd: packageFolder(),
    env: { ...byNpm, INIT_CWD: shop, SLUICE_SERVICE_URL: 'http://127.0.0.1:1', DATABASE_URL: database.url },
    fromSources: true,
  });
  expect(out).toContain('sluice.yaml: 2 syncs');
});
