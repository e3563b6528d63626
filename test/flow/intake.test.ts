/** Answers taken in together: one transaction, the books of one by one, and nobody suffers for another's answer. */
import { expect, it } from 'vitest';
import { type IntakeOptions, type Serving, takeIn, takeInAll } from '../../src/flow/intake.ts';
import { operationsOf } from '../../src/ops/schema.ts';
import { readAnswer, type VaultAnswer } from '../../src/ops/vault.ts';
import type { Warehouse } from '../../src/warehouse/connect.ts';
import { photoshareUser, profile } from '../load/items.ts';
import { booksIn } from '../ops/books.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { rowsOf, select } from './rows.ts';

const options: IntakeOptions = {
  settles: true,
  now: () => new Date('2026-03-06T13:00:00Z'),
  sleep: () => Promise.resolve(),
  random: () => 0,
};

/** Stored answers to an endpoint with these items, as they are in memory. */
async function storedIn(warehouse: Warehouse, endpoint: string, bodies: readonly unknown[]): Promise<VaultAnswer[]> {
  const books = await booksIn(warehouse);
  const answers: VaultAnswer[] = [];
  for (const [at, items] of bodies.entries()) {
    const { id } = await books.send({ at: at * 1000, endpoint, state: 'stored' });
    const [row] = await select<{ answer_id: string }>(
      warehouse,
      `select answer_id from sluice_ops.requests where id = ${id}`,
    );
    const answer = await readAnswer(operationsOf(warehouse), row?.answer_id ?? '');
    if (!answer) throw new Error('the answer is not there');
    const body = Buffer.from(JSON.stringify(items));
    answers.push({ ...answer, request: { user: `user ${at}` }, damage: undefined, loaded: false, body });
  }
  return answers;
}

/** What the machinery knows of answers, by their order. */
async function booksOf(warehouse: Warehouse): Promise<unknown> {
  const all = (table: string, columns: string, by: string): Promise<unknown> =>
    select(warehouse, `select ${columns} from sluice_ops.${table} order by ${by}`);
  return {
    answers: await all('answers', 'id, received, loaded, unchanged, superseded, quarantined, loaded_at', 'id'),
    requests: await all('requests', 'id, state, finished_at', 'id'),
    quarantine: await all('quarantine', 'answer_id, position, pointer, resource, reason, resolved_at', '1, 2'),
    drift: await all('drift', 'resource, path, kind, count, first_seen_at, last_seen_at, sample_type', '1, 2, 3'),
    identities: await all(
      'identities',
      'resource, kind, name, entity, first_seen_at, last_seen_at, answer_id',
      '1, 2, 3, 4',
    ),
  };
}

const BODIES = [
  [photoshareUser('1', { alias: 'alice' })],
  [photoshareUser('2', { alias: 'bob', odd: 1 }), { name: 'no key' }],
  [],
  { error: 'not now' },
  [photoshareUser('1', { alias: 'alice', odd: 'x' })],
  [photoshareUser('3', { alias: 'bob', odd: [] }), null],
  [photoshareUser('2', { alias: 'robert' })],
];

eachWarehouse('answers taken in together', (open) => {
  it('leave the rows and books of one by one, in one transaction', async () => {
    const [together, oneByOne] = [await open(), await open()];
    const commits: string[] = [];
    const also: number[] = [];
    const takens = await takeInAll(together, await storedIn(together, 'photoshare.user', BODIES), {
      ...options,
      checkpoint: (name) => commits.push(name),
      also: async (_, of) => void also.push(of.length),
    });
    const expected = [];
    for (const answer of await storedIn(oneByOne, 'photoshare.user', BODIES))
      expected.push(...(await takeInAll(oneByOne, [answer], options)));

    expect(takens.map(({ receipt }) => receipt)).toEqual(expected.map(({ receipt }) => receipt));
    expect(takens.map(({ answer }) => answer.id)).toEqual(expected.map(({ answer }) => answer.id));
    expect(await booksOf(together)).toEqual(await booksOf(oneByOne));
    expect(await rowsOf(together, { machinery: true })).toEqual(await rowsOf(oneByOne, { machinery: true }));
    expect(commits).toEqual(['before_load_commit', 'after_load_commit']);
    expect(also).toEqual([BODIES.length]);
  });

  it('do not suffer for one that the database refuses: that one alone is quarantined', async () => {
    const warehouse = await open();
    await select(warehouse, `alter table sluice.microblog_users add check (name <> 'refused')`);
    const names = ['a', 'b', 'refused', 'd', 'e'];
    const bodies = names.map((name, at) => [profile(String(at), { name })]);
    const takens = await takeInAll(warehouse, await storedIn(warehouse, 'microblog.user', bodies), options);

    expect(takens.map(({ receipt: { loaded, quarantined } }) => [loaded, quarantined])).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
      [1, 0],
      [1, 0],
    ]);
    expect(await select(warehouse, 'select name from sluice.microblog_users order by 1')).toHaveLength(4);
    expect(await select(warehouse, 'select reason from sluice_ops.quarantine')).toMatchObject([
      { reason: expect.stringContaining('23514') },
    ]);
  });

  it('count an answer that serves two requests once', async () => {
    const warehouse = await open();
    const [answer] = await storedIn(warehouse, 'microblog.user', [[profile('1', { odd: 1 }), 'odd']]);
    if (!answer) throw new Error('nothing is stored');
    const again: Serving = { ...answer, serves: { asked: { requestKey: 'other', request: { user: 'other' } } } };
    const takens = await takeInAll(warehouse, [answer, again], options);

    expect(takens.map((it) => [it.answer.loaded, it.receipt.loaded, it.asked.requestKey])).toEqual([
      [false, 1, answer.requestKey],
      [true, 0, 'other'],
    ]);
    expect(await booksOf(warehouse)).toMatchObject({
      answers: [{ received: '2', loaded: '1', unchanged: '0', quarantined: '1' }],
      requests: [{ state: 'loaded' }],
      drift: [{ path: 'odd', count: '1' }],
      quarantine: [{ position: '1', resolved_at: null }],
    });
  });

  it('by another sync than the one that asked settle nothing', async () => {
    const warehouse = await open();
    const [answer] = await storedIn(warehouse, 'microblog.user', [[profile('1')]]);
    const taken = await takeIn(warehouse, answer?.id ?? '', { ...options, sync: 'another' });
    expect(taken.answer.loaded).toBe(false);
    expect(await booksOf(warehouse)).toMatchObject({ answers: [{ loaded_at: null }], requests: [{ state: 'stored' }] });
  });
});
