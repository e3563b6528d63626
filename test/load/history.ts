/** Answers as the modules that keep history take them: what each shows of a table, and when it was received. */
import { sql } from 'kysely';
import { type SqlExecutor, sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { AnswerReceived, AnswerRows } from '../../src/load/history/observations.ts';
import type { RootRow } from '../../src/normalize/batch.ts';
import { normalize } from '../../src/normalize/normalize.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import { endpointNamed } from '../../src/service/catalog.ts';
import { canonicalRequest } from '../../src/service/request-key.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { rootTables } from '../../src/warehouse/schema/tables.ts';
import type { RootTable } from '../../src/warehouse/schema/table-types.ts';

/** An answer: when it was received, and what it shows of any table. */
export interface Answer {
  readonly by: AnswerReceived;
  readonly roots: ReadonlyMap<string, readonly RootRow[]>;
}

/** The answer that an endpoint gave with these items. */
export function answerOf(
  id: number,
  at: string,
  endpointName: string,
  items: readonly unknown[],
  request: RequestBody = {},
): Answer {
  const endpoint = endpointNamed(endpointName);
  if (!endpoint) throw new Error(`no endpoint ${endpointName}`);
  const keyed = { sync: 's', requestKey: 'k', request: canonicalRequest(endpoint, request) };
  const { roots, rejects } = normalize(endpoint, keyed, Buffer.from(JSON.stringify(items)));
  if (rejects.length > 0) throw new Error(`rejected: ${rejects[0]?.reason}`);
  return { by: { answerId: String(id), receivedAt: new Date(at).toISOString().replace('Z', '000Z') }, roots };
}

export function tableNamed(name: string): RootTable {
  const table = rootTables.find((it) => it.name === name);
  if (!table) throw new Error(`no table ${name}`);
  return table;
}

/** What answers that are loaded together show of a table, by entity. */
export function seenIn(table: RootTable, answers: readonly Answer[]): Map<string, AnswerRows[]> {
  const seen = new Map<string, { answer: number; rows: RootRow[] }[]>();
  for (const [answer, { roots }] of answers.entries()) {
    for (const row of roots.get(table.name) ?? []) {
      const shown = seen.get(row.id) ?? [];
      seen.set(row.id, shown);
      const last = shown.at(-1);
      if (last?.answer === answer) last.rows.push(row);
      else shown.push({ answer, rows: [row] });
    }
  }
  return seen;
}

/** Work in a transaction of its own, on rows of these entities that are there. */
export function onRows<T>(
  warehouse: Warehouse,
  table: RootTable,
  ids: Iterable<string>,
  work: (run: SqlExecutor) => Promise<T>,
): Promise<T> {
  return warehouse.db.transaction().execute(async (tx) => {
    const machinery = {
      _first_seen_at: '2026-01-01',
      _changed_at: 'now',
      _run_id: 1,
      _answer_id: 1,
      _content_hash: '',
      _part_hashes: '',
    };
    for (const id of ids) {
      const key = Object.fromEntries(table.key.map((name, place) => [name, id.split('\0')[place]]));
      const row = { ...key, ...machinery, ...(table.resource.shared && { _detail: 'full' }) };
      const names = sql.join(Object.keys(row).map((it) => sql.ref(it)));
      await sql`insert into ${sql.table(`${warehouse.schema}.${table.name}`)} (${names}) values (${sql.join(Object.values(row))}) on conflict do nothing`.execute(
        tx,
      );
    }
    const run = sqlExecutorOn(tx, warehouse.schema);
    const done = await work(run);
    await run.drain();
    return done;
  });
}
