/** Reads of the request log wait while rows of earlier reads are deleted. */
import { expect, it } from 'vitest';
import { recordDeletion, waitForDeletions } from '../../src/ledger/log-reads.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { door, until } from '../control/limiter-calls.ts';
import { select } from '../flow/rows.ts';
import { postgresWarehouses } from '../support/warehouse.ts';

const open = postgresWarehouses();

const isWaiting = async (warehouse: Warehouse): Promise<boolean> =>
  (
    await select(
      warehouse,
      `select pid from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    )
  ).length > 0;

it('a read of the log begins before a deletion or after it, so that it finds no row that is about to go', async () => {
  const warehouse = await open();
  const { ops } = warehouse;
  const [recorded, go] = [door(), door()];
  const order: string[] = [];
  const deletion = warehouse.db.transaction().execute(async (db) => {
    await recordDeletion({ db, ops }, new Date());
    recorded.open();
    await go.opened;
    order.push('deleted');
  });
  await recorded.opened;
  const read = warehouse.db.transaction().execute(async (db) => {
    await waitForDeletions({ db, ops });
    order.push('begun');
  });
  await until(async () => order.length > 0 || (await isWaiting(warehouse)));
  go.open();
  await Promise.all([deletion, read]);
  expect(order).toEqual(['deleted', 'begun']);
});
