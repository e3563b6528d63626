/** `sluice export`: its arguments, what it prints, and its memory. */
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { postgresTemplate } from '../support/templates.ts';
import { type InProcessOptions, runInProcess } from './in-process.ts';
import { type Ran, run, start, temporaryFolder } from './program-run.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let database: FreshDatabase;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(
    join(folder.path, 'sluice.yaml'),
    'syncs: { groups: { endpoint: pronet.group, request: { group: "1" } } }\n',
  );
  database = await freshDatabase(await postgresTemplate());
  await execute(database.url, "create table sluice.few as select 1 as id, 'sluice'::text as name, null::text as none");
  env = { DATABASE_URL: database.url };
});
afterAll(async () => {
  await database.drop();
  await folder.remove();
});

const sluice = (words: readonly string[], options: InProcessOptions = {}): Promise<Ran> =>
  runInProcess([...words, '--config', join(folder.path, 'sluice.yaml')], { env, ...options });

describe('sluice export', () => {
  it('prints its files, and as JSON exactly, also if a password is part of a path', async () => {
    const lake = join(folder.path, 'sluice', 'lake');
    const printed = await sluice(['export', 'few', '--output', lake, '--format', 'csv']);
    expect([printed.code, printed.out]).toEqual([
      0,
      expect.stringMatching(/^table {2}rows {2}bytes {2}path\n.*\nfew +1 +23 +\/.*sluice\/lake\/few\.csv\n$/),
    ]);
    const { code, out } = await sluice(['export', 'few', '--output', lake, '--json'], {
      env: { ...env, PGPASSWORD: 'sluice' },
    });
    const bytes = (await readFile(join(lake, 'few.parquet'))).length;
    expect([code, JSON.parse(out)]).toEqual([
      0,
      { format: 'export/1', files: [{ table: 'few', path: join(lake, 'few.parquet'), rows: 1, bytes }] },
    ]);
    expect((await readdir(lake)).toSorted()).toEqual(['few.csv', 'few.parquet']);
  });

  it('writes one table to standard output', async () => {
    const csv = await sluice(['export', 'few', '--output', '-', '--format', 'csv']);
    expect(csv).toEqual({ code: 0, out: 'id,name,none\n1,sluice,\n', err: '' });
    const lines = await sluice(['export', 'few', '--output=-', '--format', 'jsonl']);
    expect(lines).toEqual({ code: 0, out: '{"id":1,"name":"sluice","none":null}\n', err: '' });
  });

  it.each([
    [[], '--output is missing'],
    [['--output', '-'], 'Parquet needs a folder'],
    [['few', '--output', '-', '--format', 'xml'], 'found "xml", allowed are parquet, csv or jsonl'],
    [['--output', '-', '--format', 'csv'], 'writes one table; 0 were given'],
    [['few', 'web_pages', '--output', '-', '--format', 'csv'], 'writes one table; 2 were given'],
    [['few', '--output', '-', '--format', 'csv', '--json'], '--json cannot be combined with --output -'],
    [['fev', '--output', 'lake'], 'Did you mean few?'],
  ])('refuses %j', async (words, reason) => {
    const { code, out, err } = await sluice(['export', ...words], { cwd: folder.path });
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(reason)]);
    expect(await readdir(folder.path)).not.toContain('lake');
  });

  it('says which right is missing', async () => {
    const role = `export_${process.pid}`;
    await execute(database.url, `create role ${role} login password 'secret'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = 'secret';
    const { code, err } = await sluice(['export', 'few', '--output', join(folder.path, 'none')], {
      env: { DATABASE_URL: url.href },
    });
    await execute(database.url, `drop role ${role}`);
    expect([code, err]).toEqual([2, expect.stringMatching(/permission denied for schema sluice.*\n.*sluice grants/)]);
  });

  it('stops reading when the reader of standard output is gone', async () => {
    // Reading all rows of this view would take hours.
    await execute(
      database.url,
      'create view sluice.endless as select a, b from generate_series(1, 1000000) a, generate_series(1, 1000000) b',
    );
    const { child, ended } = start(['export', 'endless', '--output', '-', '--format', 'csv'], {
      cwd: folder.path,
      env,
    });
    child.stdout.once('data', () => child.stdout.destroy());
    ended.catch(() => undefined);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

describe('the memory of an export', () => {
  it('does not grow with the table', async () => {
    // Its text is larger than the heap may become.
    await execute(
      database.url,
      'create table sluice.large as select g as id, repeat(md5(g::text), 32) as body from generate_series(1, 80000) g',
    );
    const options = { cwd: folder.path, env, node: ['--max-old-space-size=64'] };
    const files = await run(['export', 'large', '--output', 'large', '--json'], options);
    expect([files.code, files.err]).toEqual([0, '']);
    expect(JSON.parse(files.out)).toMatchObject({ files: [{ rows: 80_000 }] });
    const stream = start(['export', 'large', '--output', '-', '--format', 'jsonl'], options);
    let length = 0;
    stream.child.stdout.on('data', (chunk: Buffer) => (length += chunk.length));
    expect((await stream.ended).code).toBe(0);
    expect(length).toBeGreaterThan(80_000_000);
  });
});
