/** `sluice migrate --from`: an embedded warehouse moves to a server, and nothing that was paid for is bought again. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { type Sandbox, serveSandbox } from '../../src/sandbox/serve.ts';
import { SANDBOX_TOKEN } from '../../src/sandbox/world/known.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { copyWarehouse } from '../../src/warehouse/migrate/copy-warehouse.ts';
import { operationsTables } from '../../src/warehouse/schema/operations.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { qualified, quotedList } from '../../src/warehouse/sql/identifiers.ts';
import { runInProcess } from '../cli/in-process.ts';
import type { Ran } from '../cli/program-run.ts';
import { SMALL } from '../flow/scene.ts';
import { select } from '../flow/rows.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { copyEmbedded, postgresTemplate } from '../support/templates.ts';
import { realEffects } from '../support/warehouse.ts';

const CONFIG = fileURLToPath(new URL('../../configs/quickstart.yaml', import.meta.url));

let folder: string;
let sandbox: Sandbox;
let database: FreshDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-move-'));
  database = await freshDatabase();
  sandbox = await serveSandbox({ token: SANDBOX_TOKEN, size: SMALL });
  const quickstart = await readFile(CONFIG, 'utf8');
  const unpaced = quickstart.replace('service:\n', 'service:\n  requests_per_second: 1000\n');
  await writeFile(join(folder, 'sluice.yaml'), unpaced);
});
afterAll(async () => {
  await sandbox.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const embedded = (): string => `embedded:${join(folder, '.sluice')}`;

const sluice = (url: string, ...words: string[]): Promise<Ran> =>
  runInProcess(words, {
    cwd: folder,
    env: {
      SLUICE_CONFIG: join(folder, 'sluice.yaml'),
      SLUICE_SERVICE_URL: sandbox.url,
      SLUICE_SERVICE_TOKEN: SANDBOX_TOKEN,
      DATABASE_URL: url,
    },
  });

async function inWarehouse<T>(url: string, work: (warehouse: Warehouse) => Promise<T>): Promise<T> {
  const warehouse = await openWarehouse({ url: new Secret(url), schema: 'sluice' }, realEffects);
  try {
    return await work(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** Every row of every declared table, as texts. */
const contentOf = ({ schema, ops, session }: Warehouse): Promise<Record<string, unknown>> =>
  session(async (run) => {
    const all = [...tables.map((it) => [schema, it] as const), ...operationsTables.map((it) => [ops, it] as const)];
    const content: Record<string, unknown> = {};
    for (const [area, { name, columns, key }] of all) {
      const { rows } = await run(
        `select ${quotedList(columns.map((it) => it.name))} from ${qualified(area, name)} order by ${quotedList(key)}`,
      );
      content[`${area}.${name}`] = rows;
    }
    return content;
  });

/** Values that a copy as text could change. */
const ODD = `
  update sluice.web_pages set title = E'a\\tb\\nc\\\\N \\\\. \\r''"', extra = 'null';
  update sluice.photoshare_posts set text = '', extra = '{"n": 1e400, "a": "\\\\u0009", "b": "\\\\\\\\N"}';
  update sluice.fact_request_costs set duration = 'NaN', response_execution_time = 4.9406564584124654e-324;
  update sluice_ops.answers set body = '\\x5c4e0a095c2e0a'::bytea where id = 1`;

describe('an embedded warehouse', () => {
  it('moves to a server with every row, and the next sync buys nothing that is fresh', async () => {
    await copyEmbedded(join(folder, '.sluice'));
    expect((await sluice(embedded(), 'sync', '--quiet')).code).toBe(0);
    const before = await inWarehouse(embedded(), async (warehouse) => {
      for (const statement of ODD.split(';')) await select(warehouse, statement);
      await select(warehouse, 'delete from sluice_ops.drift');
      return contentOf(warehouse);
    });
    const sent = sandbox.requests().length;
    expect((await sluice(database.url, 'check')).out).toContain(`sluice migrate --from ${join(folder, '.sluice')}`);

    const moved = await sluice(database.url, 'migrate', '--from', '.sluice', '--json');

    expect(moved).toMatchObject({ code: 0 });
    const rows = Object.values(before).reduce<number>((sum, all) => sum + (all as unknown[]).length, 0);
    const answers = (before['sluice_ops.answers'] as unknown[]).length;
    expect(JSON.parse(moved.out)).toMatchObject({ format: 'migrate/1', copied: { answers, rows } });
    expect(answers).toBeGreaterThan(20);
    expect(await inWarehouse(database.url, contentOf)).toEqual(before);
    expect(sandbox.requests()).toHaveLength(sent);

    expect(await sluice(database.url, 'check')).toMatchObject({
      code: 0,
      out: expect.not.stringContaining('--from'),
    });
    expect((await sluice(database.url, 'sync', '--quiet')).code).toBe(0);
    const later = new Set(
      sandbox
        .requests()
        .slice(sent)
        .map(({ endpoint }) => endpoint),
    );
    expect([...later]).toEqual(['token.requests']);
  });

  it('is copied only to a server, and names what is wrong', async () => {
    for (const [url, words, because] of [
      [database.url, ['--from', 'nowhere'], `no embedded warehouse in ${join(folder, 'nowhere')}`],
      [embedded(), ['--from', '.sluice'], 'the warehouse of the config is embedded'],
      [database.url, ['down', '--from', '.sluice'], '--from cannot be combined with down'],
    ] as const)
      expect(await sluice(url, 'migrate', ...words)).toMatchObject({ code: 2, err: expect.stringContaining(because) });
  });

  it('is copied completely or not at all, and only into a warehouse without rows', async () => {
    const target = await freshDatabase(await postgresTemplate());
    const stopped = new AbortController();
    const stop = (table: string): void => {
      if (table === 'pronet_posts') stopped.abort(new Error('stopped'));
    };
    await inWarehouse(embedded(), (source) =>
      inWarehouse(target.url, async (server) => {
        const copy = () => copyWarehouse(source, server, { signal: new AbortController().signal });
        const interrupted = copyWarehouse(source, server, { signal: stopped.signal, onTable: stop });
        await expect(interrupted).rejects.toThrow('stopped');
        expect(Object.values(await contentOf(server)).flat()).toEqual([]);

        // What a sync leaves that failed while it planned, and what grants --without-personal writes.
        await select(
          server,
          `insert into sluice_ops.leases values ('sync:people', 'other', 1, now(), now() + '1 day')`,
        );
        await select(server, `insert into sluice_ops.masking_keys values (1, 'key')`);
        await expect(copy()).rejects.toThrow('has rows in sluice_ops.masking_keys, so nothing is copied into it');
        await select(server, 'delete from sluice_ops.masking_keys');

        await copy();
        expect(await contentOf(server)).toEqual(await contentOf(source));
        await expect(copy()).rejects.toThrow('has rows in sluice_ops.runs, so nothing is copied into it');
      }),
    );
    await target.drop();
  });
});
