/**
 * Finds rows of stored answers that are missing in the tables. A deleted row stays missing as long as its answer is
 * fresh.
 */
import { loadHeads } from '../../load/merge/stored-rows.ts';
import { sqlExecutorOn } from '../../load/sql/executor.ts';
import { type DeletedRows, deletedRowsText } from '../../text/deleted-rows.ts';
import { readForgotten } from '../erasure/store.ts';
import { isSync } from '../../ledger/log-reads.ts';
import { type Ops, operationsOf } from '../../warehouse/connect/operations-db.ts';
import type { Notice } from '../../ledger/summary.ts';
import { readAnswers } from '../../ledger/answers.ts';
import { endpointNamed } from '../../service/catalog.ts';
import type { Warehouse } from '../../warehouse/connect/connect.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { parseAnswers } from '../ingest/read-answer.ts';

/** Most answers to compare for each sync, newest first; their bodies are read. */
const ANSWERS = 200;
/** Most bytes of bodies to read; larger answers are skipped. */
const BYTES = 8 * 2 ** 20;

/**
 * Returns the missing rows of the newest answer to each request, by sync and table. With `runId`, only answers that
 * served that run.
 */
export async function deletedRows(warehouse: Warehouse, runId?: string): Promise<DeletedRows[]> {
  const ops = operationsOf(warehouse);
  const executor = sqlExecutorOn(warehouse.db, warehouse.schema);
  const found: DeletedRows[] = [];
  for (const [sync, ids] of await answersToCompare(ops, runId)) {
    const wanted = await keysIn(ops, ids);
    for (const [name, keys] of wanted) {
      const table = rootTables.find((it) => it.name === name);
      if (!table) continue;
      const there = await loadHeads(executor, table, [...keys], 'not');
      if (there.size < keys.size) found.push({ sync, table: name, rows: keys.size - there.size });
    }
  }
  return found;
}

/** Returns, by sync, the newest answer to each request whose items are rows of their own, within the limits. */
async function answersToCompare(ops: Ops, runId: string | undefined): Promise<ReadonlyMap<string, readonly string[]>> {
  const syncs = await ops
    .selectFrom('runs')
    .select(['sync', 'endpoint'])
    .distinct()
    .where(isSync)
    .$if(runId !== undefined, (all) => all.where('id', '=', runId ?? ''))
    .execute();
  const found = new Map<string, readonly string[]>();
  for (const { sync, endpoint } of syncs) {
    // A person's educations are replaced as a set, so an older answer's rows may be missing for a good reason.
    if (endpointNamed(endpoint)?.returns.owner !== undefined) continue;
    const rows = await newestAnswers(ops, sync, runId);
    const byRequest = new Map(rows.toReversed().map((row) => [row.request_key, row]));
    let bytes = 0;
    const within = [...byRequest.values()].filter((row) => (bytes += Number(row.bytes)) <= BYTES);
    found.set(
      sync,
      within.map(({ id }) => id),
    );
  }
  return found;
}

const newestAnswers = (ops: Ops, sync: string, runId: string | undefined) =>
  ops
    .selectFrom('answers as a')
    .select(['a.id', 'a.request_key', 'a.bytes'])
    .where('a.loaded_at', 'is not', null)
    .where('a.body', 'is not', null)
    .where('a.unreadable', '=', false)
    .where('a.status', '<>', '412')
    .$if(runId === undefined, (all) => all.where('a.sync', '=', sync))
    .$if(runId !== undefined, (all) =>
      all.where('a.id', 'in', (eb) =>
        eb
          .selectFrom('requests as r')
          .select('r.answer_id')
          .where('r.run_id', '=', runId ?? '')
          .where('r.state', '=', 'fresh'),
      ),
    )
    // In the order of an index, so that a sync without new answers does not read those of all others.
    .orderBy('a.received_at', 'desc')
    .orderBy('a.id', 'desc')
    .limit(ANSWERS)
    .execute();

/** Returns, by table, the keys of the rows that are items of these answers. */
async function keysIn(ops: Ops, ids: readonly string[]): Promise<ReadonlyMap<string, Set<string>>> {
  const keys = new Map<string, Set<string>>();
  const answers = (await readAnswers(ops, ids)).values();
  for await (const { answer, batch } of parseAnswers(answers, { kind: 'replay' }, await readForgotten(ops))) {
    const table = endpointNamed(answer.endpoint)?.returns.table ?? '';
    for (const { id, item } of batch.roots.get(table) ?? []) {
      if (item === undefined) continue;
      const known = keys.get(table);
      if (known) known.add(id);
      else keys.set(table, new Set([id]));
    }
  }
  return keys;
}

/** The notice that rows of fresh answers are missing. */
export const deletedNotice = (deleted: DeletedRows): Notice => ({
  level: 'warn',
  sync: deleted.sync,
  message: deletedRowsText(deleted),
});
