/** `sluice migrate --from`: an embedded warehouse moves to a server, and nothing that was paid for is bought again. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
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
import { execute, type FreshDatabase, freshDatabase } from '../support/database.ts';
import { realEffects } from '../support/warehouse.ts';

const CONFIG = fileURLToPath(new URL('../../configs/quickstart.yaml', import.meta.url));

let folder: string;
let sandbox: Sandbox;
let database: FreshDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-move-'));
  database = await freshDatabase();
  sandbox = await serveSandbox({ token: SANDBOX_TOKEN, size: SMALL });
  await copyFile(CONFIG, join(folder, 'sluice.yaml'));
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
const contentOf = (url: string): Promise<Record<string, unknown>> =>
  inWarehouse(url, ({ schema, ops, session }) =>
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
    }),
  );

/** Values that a copy as text could change. */
const ODD = `
  update sluice.web_pages set title = E'a\\tb\\nc\\\\N \\\\. \\r''"', extra = 'null';
  update sluice.photoshare_posts set text = '', extra = '{"n": 1e400, "a": "\\\\u0009", "b": "\\\\\\\\N"}';
  update sluice.fact_request_costs set duration = 'NaN', response_execution_time = 4.9406564584124654e-324;
  update sluice_ops.answers set body = '\\x5c4e0a095c2e0a'::bytea where id = 1`;

describe('an embedded warehouse', () => {
  it('moves to a server with every row, and the next sync buys nothing that is fresh', {
    timeout: 120_000,
  }, async () => {
    expect((await sluice(embedded(), 'sync', '--quiet')).code).toBe(0);
    await inWarehouse(embedded(), async (warehouse) => {
      for (const statement of ODD.split(';')) await select(warehouse, statement);
      await select(warehouse, 'delete from sluice_ops.drift');
    });
    const before = await contentOf(embedded());
    const sent = sandbox.requests().length;
    expect((await sluice(database.url, 'check')).out).toContain(`sluice migrate --from ${join(folder, '.sluice')}`);

    const moved = await sluice(database.url, 'migrate', '--from', '.sluice', '--json');

    expect(moved).toMatchObject({ code: 0 });
    const rows = Object.values(before).reduce<number>((sum, all) => sum + (all as unknown[]).length, 0);
    const answers = (before['sluice_ops.answers'] as unknown[]).length;
    expect(JSON.parse(moved.out)).toMatchObject({ format: 'migrate/1', copied: { answers, rows } });
    expect(answers).toBeGreaterThan(20);
    expect(await contentOf(database.url)).toEqual(before);
    expect(await contentOf(embedded())).toEqual(before);
    expect(sandbox.requests()).toHaveLength(sent);

    expect(await sluice(database.url, 'check')).toMatchObject({
      code: 0,
      out: expect.not.stringContaining('--from'),
    });
    expect((await sluice(database.url, 'sync', '--quiet')).code).toBe(0);
    const later = sandbox.requests().slice(sent);
    expect(later.map(({ endpoint }) => endpoint)).toSatisfy((all: string[]) =>
      all.every((it) => it === 'token.requests'),
    );
    expect(later).not.toEqual([]);
  });

  it('is copied only into an empty warehouse on a server', async () => {
    const again = await sluice(database.url, 'migrate', '--from', '.sluice');
    expect(again).toMatchObject({
      code: 2,
      err: expect.stringContaining('has rows in sluice_ops.runs, so nothing is copied'),
    });
    for (const [url, words, because] of [
      [database.url, ['--from', 'nowhere'], `no embedded warehouse in ${join(folder, 'nowhere')}`],
      [`embedded:${join(folder, 'other')}`, ['--from', '.sluice'], 'the warehouse of the config is embedded'],
      [database.url, ['down', '--from', '.sluice'], '--from cannot be combined with down'],
    ] as const)
      expect(await sluice(url, 'migrate', ...words)).toMatchObject({ code: 2, err: expect.stringContaining(because) });
  });

  it('leaves the server empty if the copy is stopped, and can be copied then', async () => {
    const target = await freshDatabase();
    const stopped = new AbortController();
    expect((await sluice(target.url, 'migrate')).code).toBe(0);
    const copy = inWarehouse(embedded(), (source) =>
      inWarehouse(target.url, (server) =>
        copyWarehouse(source, server, {
          signal: stopped.signal,
          onTable: (table) => {
            if (table === 'pronet_posts') stopped.abort(new Error('stopped'));
          },
        }),
      ),
    );
    await expect(copy).rejects.toThrow('stopped');
    expect(Object.values(await contentOf(target.url)).flat()).toEqual([]);

    // What a sync leaves that failed while it planned, and what grants --without-personal writes.
    await execute(
      target.url,
      `insert into sluice_ops.leases values ('sync:people', 'other', 1, now(), now() + '1 day')`,
    );
    await execute(target.url, `insert into sluice_ops.masking_keys values (1, 'key')`);
    const refused = await sluice(target.url, 'migrate', '--from', '.sluice');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('has rows in sluice_ops.masking_keys') });
    await execute(target.url, 'delete from sluice_ops.masking_keys');
    expect((await sluice(target.url, 'migrate', '--from', '.sluice')).out).toContain('copied ');
    expect(await contentOf(target.url)).toEqual(await contentOf(embedded()));
    await target.drop();
  });
});
