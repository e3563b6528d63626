/** Relative paths in a config are relative to its folder, wherever the command runs and however the config is named. */
import { mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isCheckout, packageFolder } from '../../src/cli/package.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { copyFolder } from '../support/copy-folder.ts';
import { spoolFiles } from '../support/spool-files.ts';
import { copyEmbedded } from '../support/templates.ts';
import { runInProcess } from './in-process.ts';
import { run, temporaryFolder } from './program-run.ts';

const CONFIG = `
service: { url: "\${SLUICE_SERVICE_URL}", token: "\${SLUICE_SERVICE_TOKEN}", requests_per_second: 1000 }
syncs: { user: { endpoint: microblog.user, for_each: { user: { file: names.txt } }, max_age: 30d } }
`;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await serveSandbox({ seed: 1, size: { microblogUsers: 8, people: 10, companies: 10, filings: 10 } });
});
afterAll(async () => {
  await sandbox.close();
  await folder.remove();
});
const env = () => ({ SLUICE_SERVICE_URL: sandbox.url, SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN });

it('a sync uses one warehouse, one spool and one file from any working folder, and buys once', async () => {
  const project = join(folder.path, 'project', 'configs');
  const elsewhere = join(folder.path, 'elsewhere');
  await Promise.all([mkdir(project, { recursive: true }), mkdir(elsewhere)]);
  await writeFile(join(project, 'sluice.yaml'), CONFIG);
  await writeFile(join(project, 'names.txt'), 'acme_labs\n');

  // Creating one takes 3 s; whether this one is used shows in what it has afterwards.
  await copyEmbedded(join(project, '.sluice'));
  const first = await run(['sync', '--json', '--config', '../project/configs/sluice.yaml'], {
    cwd: elsewhere,
    env: env(),
  });
  expect(first).toMatchObject({ code: 0 });
  expect(first.err).toContain(join(project, '.sluice'));
  const byName = { ...env(), SLUICE_CONFIG: join(project, 'sluice.yaml') };
  const second = await runInProcess(['sync', '--json'], { cwd: folder.path, env: byName });
  expect(JSON.parse(second.out)).toMatchObject({ exitCode: 0, syncs: [{ sent: 0, fresh: 1 }] });
  expect(sandbox.requests()).toHaveLength(1);
  expect(await readdir(elsewhere)).toEqual([]);
  expect((await readdir(join(project, '.sluice'))).toSorted()).toEqual(['data', 'spool']);
  expect(await spoolFiles(join(project, '.sluice', 'spool'))).toEqual([]);

  // A link names the config in its own folder: that folder is the base, as for a mounted config that is swapped by links.
  const linked = join(folder.path, 'linked');
  await mkdir(linked);
  await symlink(join(project, 'sluice.yaml'), join(linked, 'sluice.yaml'));
  const config = await loadConfig(join(linked, 'sluice.yaml'), byName);
  expect(config.warehouse.url.reveal()).toBe(`embedded:${join(linked, '.sluice')}`);

  // As an earlier version left it: in the working folder.
  await rename(join(project, '.sluice'), join(elsewhere, '.sluice'));
  const refused = await runInProcess(['sync', '--config', join(project, 'sluice.yaml')], {
    cwd: elsewhere,
    env: env(),
  });
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.err).toContain(
    `no embedded warehouse in ${join(project, '.sluice')}, but there is one in ${join(elsewhere, '.sluice')}`,
  );
  expect(refused.err).toContain(`mv ${join(elsewhere, '.sluice')} ${join(project, '.sluice')}`);
  expect(sandbox.requests()).toHaveLength(1);
  copyFolder(join(elsewhere, '.sluice'), join(project, '.sluice'));
  const kept = await runInProcess(['status', '--config', join(project, 'sluice.yaml')], { cwd: elsewhere, env: env() });
  expect(kept).toMatchObject({ code: 0 });
  expect(kept.out).toContain(join(project, '.sluice'));
});

it('the warehouse of the quickstart, for every command in a checkout, is beside the program', async () => {
  expect(isCheckout(packageFolder())).toBe(true);
  const { warehouse } = await loadConfig(join(packageFolder(), 'configs', 'quickstart.yaml'), env());
  expect(warehouse.url.reveal()).toBe(`embedded:${join(packageFolder(), '.sluice')}`);
});

it.each([
  [undefined, 'embedded:/FOLDER/.sluice'],
  ['embedded:data/w', 'embedded:/FOLDER/data/w'],
  ['embedded:../w', 'embedded:/w'],
  ['embedded:/w', 'embedded:/w'],
  ['embedded:memory://', 'embedded:memory://'],
  [
    'postgres://u:p%40@h/d?sslrootcert=ca.pem&sslmode=verify-full',
    'postgres://u:p%40@h/d?sslrootcert=%2FFOLDER%2Fca.pem&sslmode=verify-full',
  ],
  [
    'postgres://u@h/d?sslrootcert=system&sslcert=/c.pem&sslkey=',
    'postgres://u@h/d?sslrootcert=system&sslcert=/c.pem&sslkey=',
  ],
])('the warehouse %s is %s', async (url, expected) => {
  const config = join(folder.path, 'sluice.yaml');
  await writeFile(config, CONFIG);
  const { warehouse } = await loadConfig(config, { ...env(), ...(url !== undefined && { DATABASE_URL: url }) });
  const encoded = encodeURIComponent(folder.path);
  const found = warehouse.url.reveal().replace(folder.path, '/FOLDER').replace(encoded, '%2FFOLDER');
  expect(found).toBe(
    expected === 'embedded:/w' && url === 'embedded:../w' ? `embedded:${join(folder.path, '..', 'w')}` : expected,
  );
});
