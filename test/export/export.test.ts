/** Which tables an export has, that they show one moment, and what remains of one that fails. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { TransientError } from '../../src/errors.ts';
import { type ExportRequest, exportToFolder, exportToStream } from '../../src/export/export.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { serveReads } from '../../src/warehouse/read-server/server.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { temporaryFolder } from '../cli/program-run.ts';
import { canMount, mib, smallDisk } from '../support/small-disk.ts';
import { anyWarehouse, embeddedWarehouses, postgresWarehouses, realEffects } from '../support/warehouse.ts';
import { createOddTables } from './odd-values.ts';

const { signal } = new AbortController();
const csvOf = (...names: string[]): ExportRequest => ({ names, format: 'csv', isMasked: false });

async function newFolder(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  return folder.path;
}

anyWarehouse('an export', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
    await createOddTables(warehouse);
    await sql`create view sluice.odd_view as select id from sluice.odd where id < 3`.execute(warehouse.db);
    // The third row fails.
    await sql`create view sluice.failing as select id, 1 / (3 - id) as part from sluice.odd`.execute(warehouse.db);
  });

  it('without names has every table for analysts, and neither views nor internal tables', async () => {
    const folder = await newFolder();
    const files = await exportToFolder(warehouse, folder, csvOf(), { signal });
    const expected = [...tables.map(({ name }) => name), 'empty', 'odd'].toSorted();
    expect(files.map(({ table }) => table)).toEqual(expected);
    expect((await readdir(folder)).toSorted()).toEqual(expected.map((name) => `${name}.csv`));
  });

  it('has tables and views by name, each once, in new folders, and counts their rows and bytes', async () => {
    const folder = join(await newFolder(), 'one', 'two');
    const files = await exportToFolder(warehouse, folder, csvOf('odd_view', 'odd', 'sluice.odd_view'), { signal });
    const odd = await readFile(join(folder, 'odd.csv'));
    expect(files).toEqual([
      { table: 'odd', path: join(folder, 'odd.csv'), rows: 3, bytes: odd.length },
      { table: 'odd_view', path: join(folder, 'odd_view.csv'), rows: 2, bytes: 'id\n1\n2\n'.length },
    ]);
  });

  it('of an unknown name is refused with the nearest one, and writes nothing', async () => {
    const folder = join(await newFolder(), 'new');
    const refused = exportToFolder(warehouse, folder, csvOf('odd', 'oddview'), { signal });
    await expect(refused).rejects.toMatchObject({
      name: 'UsageError',
      message: 'export: there is no table or view oddview.',
      next: 'Did you mean odd_view?',
    });
    await expect(exportToFolder(warehouse, folder, csvOf('runs'), { signal })).rejects.toThrow('no table or view runs');
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
  });

  it('that fails leaves earlier files unchanged and no other ones', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'odd.csv'), 'earlier');
    await expect(exportToFolder(warehouse, folder, csvOf('odd', 'failing'), { signal })).rejects.toThrow(
      'division by zero',
    );
    expect(await readdir(folder)).toEqual(['odd.csv']);
    expect(await readFile(join(folder, 'odd.csv'), 'utf8')).toBe('earlier');
    await exportToFolder(warehouse, folder, csvOf('odd'), { signal });
    expect(await readFile(join(folder, 'odd.csv'), 'utf8')).toContain('9223372036854775807');
  });

  it('that is interrupted leaves earlier files unchanged and no other ones', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'odd.csv'), 'earlier');
    const interruption = new AbortController();
    const reason = new Error('interrupted');
    const onTable = (table: string): void => {
      if (table === 'odd_view') interruption.abort(reason);
    };
    await expect(
      exportToFolder(warehouse, folder, csvOf('odd', 'odd_view'), { signal: interruption.signal, onTable }),
    ).rejects.toBe(reason);
    expect(await readdir(folder)).toEqual(['odd.csv']);
    expect(await readFile(join(folder, 'odd.csv'), 'utf8')).toBe('earlier');
  });

  it('to a path below a file, or where a folder has the name of a file, is refused with the reason', async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'odd.csv'), 'earlier');
    await mkdir(join(folder, 'odd_view.csv'));
    const below = exportToFolder(warehouse, join(folder, 'odd.csv', 'new'), csvOf('odd'), { signal });
    await expect(below).rejects.toThrow(
      /^export: .*odd\.csv\/new can’t be written: a part of its path is not a folder/,
    );
    const file = exportToFolder(warehouse, join(folder, 'odd.csv'), csvOf('odd'), { signal });
    await expect(file).rejects.toThrow(/^export: .*odd\.csv can’t be written: it is a file \(EEXIST\)/);
    const onto = exportToFolder(warehouse, folder, csvOf('odd', 'odd_view'), { signal });
    await expect(onto).rejects.toThrow(/odd_view\.csv can’t be written: it is a folder/);
    expect((await readdir(folder)).toSorted()).toEqual(['odd.csv', 'odd_view.csv']);
    expect(await readFile(join(folder, 'odd.csv'), 'utf8')).toBe('earlier');
  });

  it('of a table whose name leads out of the folder is refused', async () => {
    const folder = join(await newFolder(), 'inner');
    await sql`create table sluice."../outer" (id int)`.execute(warehouse.db);
    onTestFinished(() => sql`drop table sluice."../outer"`.execute(warehouse.db).then(() => undefined));
    await expect(exportToFolder(warehouse, folder, csvOf('../outer'), { signal })).rejects.toThrow(
      'export: ../outer can’t be the name of a file.',
    );
    expect(await readdir(join(folder, '..'))).toEqual(['inner']);
  });

  it('as a stream has the text of the file, and stops when its reader does', async () => {
    const folder = await newFolder();
    await exportToFolder(warehouse, folder, csvOf('odd'), { signal });
    const pieces: string[] = [];
    const keep = async (piece: string): Promise<boolean> => pieces.push(piece) < 2;
    await exportToStream(warehouse, csvOf('odd'), { signal }, keep);
    expect(pieces.join('')).toBe(await readFile(join(folder, 'odd.csv'), 'utf8'));
    // The third row of this view would fail, and is in the second part.
    pieces.push('');
    await exportToStream(warehouse, csvOf('failing'), { signal }, keep);
    expect(pieces.at(-1)).toBe('id,part\n1,0\n');
  });

  it('of an empty warehouse is refused with the next step', async () => {
    const empty = await open({ migrated: false });
    await expect(exportToFolder(empty, await newFolder(), csvOf(), { signal })).rejects.toMatchObject({
      message: 'export: the schema sluice has no tables.',
      next: 'Run sluice sync first.',
    });
  });
});

describe('an export from a server', () => {
  const open = postgresWarehouses();

  it('shows one moment in all files, whatever is committed meanwhile', async () => {
    const warehouse = await open();
    await sql`create table sluice.one as select 1 as id`.execute(warehouse.db);
    await sql`create table sluice.two as select 1 as id`.execute(warehouse.db);
    /** A warehouse to which another process writes before each table is read. */
    const disturbed: Warehouse = {
      ...warehouse,
      session: (work, until) =>
        warehouse.session(
          (run, stream) =>
            work(run, async function* (statement) {
              await sql`insert into sluice.one values (2)`.execute(warehouse.db);
              await sql`insert into sluice.two values (2)`.execute(warehouse.db);
              yield* stream(statement);
            }),
          until,
        ),
    };
    const folder = await newFolder();
    const files = await exportToFolder(disturbed, folder, csvOf('one', 'two'), { signal });
    expect(files.map(({ rows }) => rows)).toEqual([1, 1]);
    const after = await exportToFolder(warehouse, folder, csvOf('one', 'two'), { signal });
    expect(after.map(({ rows }) => rows)).toEqual([3, 3]);
  });

  it('of masked views has no personal data, and says how to create them', async () => {
    const { applyGrants } = await import('../../src/warehouse/migrate/grants.ts');
    const warehouse = await open();
    const folder = await newFolder();
    const masked = { ...csvOf('pronet_users'), isMasked: true };
    await expect(exportToFolder(warehouse, folder, masked, { signal })).rejects.toMatchObject({
      message: 'export: the schema sluice_masked has no tables.',
      next: expect.stringContaining('sluice grants --without-personal --apply'),
    });
    const role = `export_${process.pid}`;
    onTestFinished(async () => {
      await sql.raw(`drop owned by ${role} cascade`).execute(warehouse.db);
      await sql.raw(`drop role ${role}`).execute(warehouse.db);
    });
    await applyGrants(warehouse, role, new Secret('a masking key of this test'));
    await exportToFolder(warehouse, folder, masked, { signal });
    const [header = ''] = (await readFile(join(folder, 'pronet_users.csv'), 'utf8')).split('\n');
    expect(header).toContain('urn_value');
    expect(header).not.toMatch(/\bname\b|headline|extra/);
    const all = await exportToFolder(warehouse, folder, { ...masked, names: [] }, { signal });
    expect(all.map(({ table }) => table)).toEqual(tables.map(({ name }) => name).toSorted());
  });

  it.skipIf(!canMount())('to a full disk leaves earlier files unchanged and no other ones', async () => {
    const warehouse = await open();
    await sql`create table sluice.long as select repeat(md5(g::text), 100) as body from generate_series(1, 2000) g`.execute(
      warehouse.db,
    );
    const disk = smallDisk(4);
    onTestFinished(disk.drop);
    await writeFile(join(disk.folder, 'long.csv'), 'earlier');
    await disk.fill('other', mib(2));
    const full = exportToFolder(warehouse, disk.folder, csvOf('long'), { signal });
    await expect(full).rejects.toThrow(TransientError);
    await expect(full).rejects.toThrow(/can’t be written: the disk is full \(ENOSPC\)/);
    expect((await readdir(disk.folder)).toSorted()).toEqual(['long.csv', 'other']);
    expect(await readFile(join(disk.folder, 'long.csv'), 'utf8')).toBe('earlier');
  });
});

describe('an export beside the owner of an embedded warehouse', () => {
  const open = embeddedWarehouses();
  const limits = { maxHeldMs: 60_000, idleMs: 60_000, graceMs: 60_000, connections: 4 };

  async function openBeside(sleep = realEffects.sleep): Promise<Warehouse> {
    const owned = await open();
    await createOddTables(owned);
    const folder = await newFolder();
    const reads = await serveReads(owned, folder, { sleep }, limits);
    const settings = { url: new Secret(`embedded:${folder}`), schema: 'sluice' };
    const warehouse = await openWarehouse(settings, { ...realEffects, isReadOnly: true });
    onTestFinished(async () => {
      await warehouse.close();
      await reads?.close();
    });
    return warehouse;
  }

  it('writes what the owner would write', async () => {
    const warehouse = await openBeside();
    expect(warehouse.isRemote).toBe(true);
    const folder = await newFolder();
    const files = await exportToFolder(warehouse, folder, csvOf('empty', 'odd'), { signal });
    expect(files.map(({ rows }) => rows)).toEqual([0, 3]);
    expect(await readFile(join(folder, 'odd.csv'), 'utf8')).toContain(
      ',9223372036854775807,NaN,true,"",2024-02-28T23:',
    );
    expect(await readFile(join(folder, 'empty.csv'), 'utf8')).toMatch(/^id,large,.*\n$/);
  });

  it('fails when its time is over, with the next step, and writes nothing', async () => {
    let over = (): void => undefined;
    const warehouse = await openBeside((ms, until) =>
      ms === limits.maxHeldMs
        ? new Promise((resolve) => {
            over = resolve;
          })
        : realEffects.sleep(ms, until),
    );
    const folder = await newFolder();
    const cut = exportToFolder(warehouse, folder, csvOf(), { signal, onTable: () => over() });
    await expect(cut).rejects.toThrow(TransientError);
    await expect(cut).rejects.toMatchObject({
      message: expect.stringMatching(/allows a reader 60 s|ended or stopped answering/),
      next: expect.stringContaining('Export fewer tables at a time'),
    });
    expect(await readdir(folder)).toEqual([]);
  });
});
