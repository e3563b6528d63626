import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { NewAnswer, NewRequest } from '../../src/warehouse/connect/operations-db.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { anyWarehouse } from '../support/warehouse.ts';

const PLANNED = new Date('2024-05-01T00:00:00Z');
const RECEIVED = new Date('2024-05-01T00:01:00Z');

/** Enters a request in a run of its own, and its answer where there is one, and gives the answer's id. */
async function enter(
  warehouse: Warehouse,
  request: Partial<NewRequest>,
  answer?: Partial<NewAnswer>,
  scope: string | null = null,
): Promise<string | null> {
  const ops = warehouse.db.withSchema(warehouse.ops);
  const run = await ops
    .insertInto('runs')
    .values({
      sync: 's',
      endpoint: 'e',
      definition_hash: 'h',
      state: 'running',
      today: '2024-05-01',
      started_at: PLANNED,
      scope,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const entered = await ops
    .insertInto('requests')
    .values({
      run_id: run.id,
      sync: 's',
      endpoint: 'e',
      request_key: 'k',
      body: '{}',
      input: '{"url": "u"}',
      state: 'planned',
      planned_at: PLANNED,
      ...request,
    })
    .returning(['id', 'request_key'])
    .executeTakeFirstOrThrow();
  if (!answer) return null;
  const counts = { received: 3, loaded: 0, unchanged: 0, superseded: 0, quarantined: 0, loaded_at: RECEIVED };
  const { id } = await ops
    .insertInto('answers')
    .values({
      request_id: entered.id,
      run_id: run.id,
      sync: 's',
      endpoint: 'e',
      request_key: entered.request_key,
      received_at: RECEIVED,
      took_ms: 1,
      status: 200,
      headers: '{}',
      body: Buffer.from('[]'),
      encoding: 'identity',
      sha256: '',
      bytes: 2,
      ...counts,
      ...answer,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ops.updateTable('requests').set({ answer_id: id }).where('id', '=', entered.id).execute();
  return id;
}

anyWarehouse('sync_inputs', (open) => {
  it('says how each input ended', async () => {
    const warehouse = await open();
    const cases: readonly (readonly [string, Partial<NewRequest>, Partial<NewAnswer>?])[] = [
      ['planned', { state: 'planned' }],
      ['in_doubt', { state: 'in_doubt' }],
      ['failed', { state: 'failed', error: 'refused' }],
      ['skipped', { state: 'skipped' }],
      ['stored', { state: 'stored' }, { loaded_at: null }],
      ['loaded', { state: 'loaded' }, { loaded: 1, unchanged: 2 }],
      ['loaded', { state: 'loaded' }, { superseded: 3 }],
      ['unchanged', { state: 'loaded' }, { unchanged: 3 }],
      ['empty', { state: 'empty' }, { received: 0 }],
      ['missing', { state: 'missing' }, { received: 0, status: 412 }],
      ['quarantined', { state: 'quarantined' }, { quarantined: 3 }],
      ['loaded', { state: 'fresh' }, { loaded: 3 }],
      ['unchanged', { state: 'fresh' }, { unchanged: 3 }],
      ['empty', { state: 'fresh' }, { received: 0 }],
      ['missing', { state: 'fresh' }, { received: 0, status: 412 }],
      ['quarantined', { state: 'fresh' }, { quarantined: 3 }],
    ];
    const expected: unknown[] = [];
    for (const [number, [outcome, request, answer]] of cases.entries()) {
      const request_key = `key-${String(number).padStart(2, '0')}`;
      const answer_id = await enter(warehouse, { ...request, request_key }, answer);
      const at = answer ? RECEIVED : PLANNED;
      expected.push({
        sync: 's',
        endpoint: 'e',
        request_key,
        input: '{"url": "u"}',
        outcome,
        at,
        answer_id,
        error: request.error ?? null,
        next: null,
        input_value: 'u',
        received: answer ? String(answer.received ?? 3) : null,
        run_id: expect.stringMatching(/^\d+$/),
        question: '{}',
        depth: '0',
        part_of: null,
        open_state: ['planned', 'in_doubt'].includes(outcome) ? outcome : null,
      });
    }
    const { rows } = await sql`select * from sluice.sync_inputs order by request_key`.execute(warehouse.db);
    expect(rows).toEqual(expected);
  });

  it('shows the error of an answer, and not that of an attempt before it', async () => {
    const warehouse = await open();
    const failed = { error: 'the service answered 503', next: 'try later' };
    const gap = { error: 'the body is HTML', next: 'refresh it', failure_class: 'unreadable' };
    await enter(warehouse, { request_key: 'a', state: 'loaded', ...failed, failure_class: 'unavailable' }, {});
    await enter(warehouse, { request_key: 'b', state: 'failed', ...gap }, { quarantined: 3 });
    await enter(warehouse, { request_key: 'c', state: 'failed', ...failed, failure_class: 'unavailable' });
    await enter(warehouse, { request_key: 'd', state: 'loaded', ...failed, failure_class: 'unavailable' }, {});
    await enter(warehouse, { request_key: 'd', state: 'planned' });
    const { rows } = await sql`select request_key, error, next from sluice.sync_inputs order by 1`.execute(
      warehouse.db,
    );
    expect(rows).toEqual([
      { request_key: 'a', error: null, next: null },
      { request_key: 'b', error: gap.error, next: gap.next },
      { request_key: 'c', ...failed },
      { request_key: 'd', error: null, next: null },
    ]);
  });

  it('has one row a sync and question, the latest', async () => {
    const warehouse = await open();
    await enter(warehouse, { state: 'loaded', input: '{"url": "old"}' }, { loaded: 3 });
    await enter(warehouse, { state: 'failed', input: '{"url": "new"}', finished_at: new Date('2024-05-03T00:00:00Z') });
    await enter(warehouse, { state: 'loaded', sync: 'other' }, { unchanged: 3 });
    const { rows } = await sql`select sync, outcome, input, at from sluice.sync_inputs order by sync`.execute(
      warehouse.db,
    );
    expect(rows).toEqual([
      { sync: 'other', outcome: 'unchanged', input: '{"url": "u"}', at: RECEIVED },
      { sync: 's', outcome: 'failed', input: '{"url": "new"}', at: new Date('2024-05-03T00:00:00Z') },
    ]);
  });

  it.each([
    ['planned', 'planned'],
    ['sent', 'sent'],
    ['in_doubt', 'in_doubt'],
    ['abandoned', null],
  ] as const)('keeps the last outcome beside a newer request that is %s', async (state, open_state) => {
    const warehouse = await open();
    const columns = 'request_key, outcome, at, answer_id, error, next, received, open_state';
    const failed = { finished_at: new Date('2024-05-03T00:00:00Z'), error: 'refused', next: 'fix it' };
    const answer_id = await enter(warehouse, { request_key: 'a', state: 'loaded' }, { loaded: 3 });
    await enter(warehouse, { request_key: 'b', state: 'loaded' }, { loaded: 3 });
    await enter(warehouse, { request_key: 'b', state: 'failed', ...failed });
    await enter(warehouse, { request_key: 'c', state: 'loaded', sync: 'other' }, { loaded: 3 });
    await enter(warehouse, { request_key: 'd', state: 'loaded' }, { loaded: 3 });
    await enter(warehouse, { request_key: 'd', state: 'skipped', next: 'its parts are asked' });
    for (const request_key of ['a', 'b', 'c', 'd']) {
      await enter(warehouse, { request_key, state: 'abandoned' });
      await enter(warehouse, { request_key, state, error: 'lost', input: '{"url": "new"}' });
    }

    const { rows } = await sql`select ${sql.raw(columns)} from sluice.sync_inputs where sync = 's' order by 1`.execute(
      warehouse.db,
    );
    const without = { outcome: state, at: PLANNED, answer_id: null, error: 'lost', next: null, received: null };
    expect(rows).toEqual([
      {
        request_key: 'a',
        outcome: 'loaded',
        at: RECEIVED,
        answer_id,
        error: null,
        next: null,
        received: '3',
        open_state,
      },
      {
        request_key: 'b',
        outcome: 'failed',
        at: failed.finished_at,
        answer_id: null,
        error: 'refused',
        next: 'fix it',
        received: null,
        open_state,
      },
      { request_key: 'c', ...without, open_state },
      { request_key: 'd', ...without, open_state },
    ]);
    const { rows: inputs } = await sql`select distinct input from sluice.sync_inputs where sync = 's'`.execute(
      warehouse.db,
    );
    expect(inputs).toEqual([{ input: '{"url": "new"}' }]);
  });

  it('keeps the last outcome beside newer requests that samples left out', async () => {
    const warehouse = await open();
    const leftOut = { state: 'skipped', error: 'left out by --limit' } as const;
    const sample = (request: Partial<NewRequest>) => enter(warehouse, request, undefined, 'limited');
    await enter(warehouse, { request_key: 'a', state: 'loaded' }, { loaded: 3 });
    await enter(warehouse, { request_key: 'd', state: 'loaded' }, { loaded: 3 });
    for (const request_key of ['a', 'b']) {
      await sample({ request_key, ...leftOut });
      await sample({ request_key, ...leftOut });
    }
    await sample({ request_key: 'c', ...leftOut });
    await enter(warehouse, { request_key: 'c', state: 'planned' });
    // Sent by the sample, or skipped by a complete run: an outcome.
    await enter(warehouse, { request_key: 'd', ...leftOut });
    await enter(warehouse, { request_key: 'e', state: 'loaded' }, { loaded: 3 });
    await sample({ request_key: 'e', state: 'skipped', attempts: '1', error: 'sent' });
    const { rows } =
      await sql`select request_key, outcome, error, open_state from sluice.sync_inputs order by 1`.execute(
        warehouse.db,
      );
    expect(rows).toEqual([
      { request_key: 'a', outcome: 'loaded', error: null, open_state: null },
      { request_key: 'b', outcome: 'skipped', error: leftOut.error, open_state: null },
      { request_key: 'c', outcome: 'planned', error: null, open_state: 'planned' },
      { request_key: 'd', outcome: 'skipped', error: leftOut.error, open_state: null },
      { request_key: 'e', outcome: 'skipped', error: 'sent', open_state: null },
    ]);
  });

  it('leaves out questions that were cut into parts, and readings of the log for other syncs', async () => {
    const warehouse = await open();
    await enter(warehouse, { request_key: 'cut', state: 'skipped', next: 'its parts are asked' });
    await enter(warehouse, { request_key: 'whole', state: 'loaded' }, {});
    await enter(warehouse, { request_key: 'whole', state: 'skipped', next: 'its parts are asked' });
    await enter(warehouse, { request_key: 'tried', state: 'skipped', attempts: '1', next: 'ask again' });
    await enter(warehouse, { request_key: 'log', sync: 's:log', state: 'loaded' }, { sync: 's:log' });
    const { rows } = await sql`select request_key, outcome, next from sluice.sync_inputs`.execute(warehouse.db);
    expect(rows).toEqual([{ request_key: 'tried', outcome: 'skipped', next: 'ask again' }]);
  });

  it('has a row for a sent window beside its parts, and the query of the docs counts each input once', async () => {
    const warehouse = await open();
    for (const url of ['a', 'b']) {
      const input = JSON.stringify({ url });
      await enter(warehouse, { request_key: `${url} year`, input, state: 'loaded' }, { loaded: 3 });
      for (const half of [1, 2])
        await enter(warehouse, { request_key: `${url} ${half}`, input, state: 'loaded', depth: '1' }, { loaded: 3 });
    }
    const docs = await readFile(new URL('../../docs/queries.md', import.meta.url), 'utf8');
    const query = /## Which inputs gave nothing, and why\?[^]*?```sql\n([^]*?)```/.exec(docs)?.[1] ?? '';
    const { rows } = await readOnlyQuery(warehouse, query);
    expect(rows).toMatchObject([{ sync: 's', outcome: 'loaded', inputs: 2, requests: 6 }]);
  });

  it('shows an input’s values as one text', async () => {
    const warehouse = await open();
    const inputs = [
      '{}',
      '{"count": 3, "urn": {"type": "group", "value": "1"}}',
      '{"location": ["Berlin"], "url": null}',
    ];
    for (const [key, input] of inputs.entries()) await enter(warehouse, { request_key: `k${key}`, input });
    const { rows } = await sql`select input_value from sluice.sync_inputs order by request_key`.execute(warehouse.db);
    expect(rows).toEqual([{ input_value: null }, { input_value: '3, group:1' }, { input_value: '["Berlin"]' }]);
  });

  it('can be read by who may not read the machinery', async () => {
    const warehouse = await open();
    const role = `analyst_${Math.floor(Math.random() * 1e9)}`;
    await enter(warehouse, { state: 'failed' });
    for (const statement of [
      `create role ${role}`,
      `grant usage on schema sluice to ${role}`,
      `grant select on sluice.sync_inputs to ${role}`,
    ]) {
      await sql.raw(statement).execute(warehouse.db);
    }
    const as = <T>(statement: string) =>
      warehouse.db.transaction().execute(async (trx) => {
        await sql.raw(`set local role ${role}`).execute(trx);
        return (await sql<T>`${sql.raw(statement)}`.execute(trx)).rows;
      });
    expect(await as('select outcome from sluice.sync_inputs')).toEqual([{ outcome: 'failed' }]);
    await expect(as('select * from sluice_ops.requests')).rejects.toMatchObject({ code: '42501' });
    await sql.raw(`drop owned by ${role}`).execute(warehouse.db);
    await sql.raw(`drop role ${role}`).execute(warehouse.db);
  });
});
