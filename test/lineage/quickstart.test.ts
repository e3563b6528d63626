/** What `sluice describe` says about each endpoint, against the rows that the answers of the quickstart become. */
import { beforeAll, expect, it } from 'vitest';
import type { Description } from '../../src/lineage/describe.ts';
import type { Feed } from '../../src/lineage/relations.ts';
import type { LinkedSync } from '../../src/lineage/sync-uses.ts';
import { loadConfig } from '../../src/config/load.ts';
import { readAnswer, type StoredAnswer } from '../../src/ledger/answers.ts';
import { normalize } from '../../src/normalize/normalize.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { tables } from '../../src/warehouse/schema/tables.ts';
import { runInProcess } from '../cli/in-process.ts';
import { endpoints } from '../catalog/fixture.ts';
import { select } from '../flow/rows.ts';
import { loadBatch } from '../support/loading.ts';
import { runQuickstart } from '../support/quickstart.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { valuesAt } from './values-at.ts';

/** The logs of changes. */
const LOGS = tables.filter(({ kind }) => kind === 'changes').map(({ name }) => name);

const CONFIG = 'configs/quickstart.yaml';

/** The names of the tables for analysts that have rows. */
async function tablesWithRows(warehouse: Warehouse): Promise<string[]> {
  const counts = tables.map(({ name }) => `select '${name}' as name where exists (select from sluice."${name}")`);
  const rows = await select<{ name: string }>(warehouse, counts.join(' union all '));
  return rows.map(({ name }) => name);
}

async function feedsOf(name: string): Promise<readonly Feed[]> {
  const { code, out, err } = await runInProcess(['describe', name, '--config', CONFIG, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return (JSON.parse(out) as Description).feeds;
}

anyWarehouse('describe', (open) => {
  let warehouse: Warehouse;
  let answers: StoredAnswer[];
  let syncs: readonly LinkedSync[];
  let filled: readonly string[];
  beforeAll(async () => {
    warehouse = await open();
    expect((await runQuickstart(warehouse)).exitCode).toBe(0);
    const rows = await select<{ id: string }>(warehouse, 'select id from sluice_ops.answers order by id');
    const read = await Promise.all(rows.map(({ id }) => readAnswer(operationsOf(warehouse), id)));
    answers = read.filter((it) => it !== undefined);
    filled = await tablesWithRows(warehouse);
    syncs = (await loadConfig(CONFIG, {})).syncs;
  });

  it.each(endpoints)('names the tables that the answers of %s fill, and no other', async (name, endpoint) => {
    const own = answers.filter((it) => it.endpoint === name);
    expect(own).not.toEqual([]);
    const other = await open();
    for (const { id, sync, requestKey, request, body } of own)
      await loadBatch(other, normalize(endpoint, { sync, requestKey, request }, body), Number(id));
    const found = await tablesWithRows(other);
    const feeds = await feedsOf(name);
    const named = new Set(feeds.map(({ table }) => table));
    expect(found.filter((it) => !named.has(it))).toEqual([]);
    // Changes need a second answer about an entity. Any other place has rows, unless no answer has a value there.
    const bodies = own.map(({ body }) => JSON.parse(Buffer.from(body).toString()) as unknown);
    const expected = feeds
      .filter(({ table, path }) => !LOGS.includes(table) && bodies.some((it) => valuesAt(it, path ?? '[]').length > 0))
      .map(({ table }) => table);
    expect(expected.length).toBeGreaterThan(0);
    expect([...new Set(expected)].filter((it) => !found.includes(it))).toEqual([]);
    // The switches of the syncs decide whether the rows are requested.
    const bySyncs = await Promise.all(
      syncs
        .filter((it) => it.endpoint.name === name)
        .map(async (it) => (await feedsOf(it.name)).map(({ table }) => table)),
    );
    expect(found.filter((it) => !bySyncs.flat().includes(it))).toEqual([]);
  });

  it('names for each table with rows the endpoints of the answers that its rows come from', async () => {
    const origins = tables.filter(
      ({ name, columns }) => filled.includes(name) && columns.some((it) => it.name === '_answer_id'),
    );
    expect(origins.length).toBeGreaterThan(15);
    for (const { name } of origins) {
      const rows = await select<{ endpoint: string }>(
        warehouse,
        `select distinct r.endpoint from sluice."${name}" t join sluice_ops.answers a on a.id = t._answer_id join sluice_ops.requests r on r.id = a.request_id`,
      );
      const named = (await feedsOf(name)).map(({ endpoint }) => endpoint);
      expect([name, rows.filter(({ endpoint }) => !named.includes(endpoint))]).toEqual([name, []]);
    }
  });
});
