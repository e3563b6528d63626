/** Answers that wait to be loaded: in order, in one load if they arrive together, and independent of each other's errors. */
import { expect, it } from 'vitest';
import { openLoadQueue } from '../../src/flow/ingest/queue.ts';
import { operationsOf } from '../../src/warehouse/connect/operations-db.ts';
import { readAnswer } from '../../src/ledger/answers.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { profile } from '../load/items.ts';
import { ledgerRowsIn } from '../recovery/ledger-rows.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { select } from './rows.ts';

/** Answers with one profile each; every other one is in memory, the others are only stored. */
async function storedIn(warehouse: Warehouse, count: number) {
  const ledger = await ledgerRowsIn(warehouse);
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const { id } = await ledger.send({ at: at * 1000, endpoint: 'microblog.user', state: 'stored' });
      const [row] = await select<{ answer_id: string }>(
        warehouse,
        `select answer_id from sluice_ops.requests where id = ${id}`,
      );
      const answer = await readAnswer(operationsOf(warehouse), row?.answer_id ?? '');
      if (!answer) throw new Error('the answer is not there');
      const body = Buffer.from(JSON.stringify([profile(String(at))]));
      const here = { ...answer, request: { user: `user ${at}` }, damage: undefined, body };
      return { answerId: answer.id, bytes: body.byteLength, ...(at % 2 === 0 && { answer: here }) };
    }),
  );
}

const effects = {
  purpose: { kind: 'settle' } as const,
  now: () => new Date('2026-03-06T13:00:00Z'),
  sleep: () => Promise.resolve(),
  random: () => 0,
};

anyWarehouse('answers that wait to be loaded', (open) => {
  it('are loaded in order, and those that arrive during a load are loaded together', async () => {
    const warehouse = await open();
    const sizes: number[] = [];
    const first = Promise.withResolvers<void>();
    const load = openLoadQueue(warehouse, {
      ...effects,
      wrapCommit: async (answers, work) => {
        sizes.push(answers);
        if (sizes.length === 1) await first.promise;
        return work();
      },
    });
    const [one, ...others] = await storedIn(warehouse, 9);
    if (!one) throw new Error('nothing is stored');
    const loads = [load(one)];
    while (sizes.length === 0) await new Promise(setImmediate);
    loads.push(...others.map(load));
    first.resolve();
    const takens = await Promise.all(loads);
    expect(takens.map(({ answer }) => answer.id)).toEqual([one, ...others].map(({ answerId }) => answerId));
    expect(sizes).toEqual([1, 8]);
    expect(await select(warehouse, 'select id from sluice_ops.answers where loaded_at is null')).toEqual([]);
  });

  it('fail with the one whose commit failed, and those that come later are loaded', { timeout: 60_000 }, async () => {
    const warehouse = await open();
    let isDown = false;
    const load = openLoadQueue(warehouse, {
      ...effects,
      wrapCommit: (_, work) => (isDown ? Promise.reject(new Error('no commit')) : work()),
    });
    const [one, two, three, four, five] = await storedIn(warehouse, 5);
    if (!one || !two || !three || !four || !five) throw new Error('nothing is stored');
    await load(one);
    isDown = true;
    const failed = await Promise.allSettled([load(two), load(three)]);
    expect(failed.map((it) => it.status === 'rejected' && (it.reason as Error).message)).toEqual([
      'no commit',
      'no commit',
    ]);
    isDown = false;
    await expect(load({ answerId: '999999', bytes: 1 })).rejects.toThrow('answer 999999 is not stored');
    const later = await Promise.all([load(four), load(five), load(two)]);
    expect(later.map(({ answer }) => answer.id)).toEqual([four, five, two].map(({ answerId }) => answerId));
    expect(await select(warehouse, 'select id from sluice_ops.answers where loaded_at is null')).toHaveLength(1);
  });

  it('are loaded again if the database lost their load, or gave the id of a lost answer to another one', async () => {
    const warehouse = await open();
    const [lost, kept] = await storedIn(warehouse, 2);
    if (!lost?.answer || !kept) throw new Error('nothing is stored');
    const load = openLoadQueue(warehouse, effects);
    await load({ ...lost, answerId: kept.answerId, answer: { ...lost.answer, id: kept.answerId } });
    for (const _ of ['another answer', 'its load lost']) {
      await select(warehouse, 'update sluice_ops.answers set loaded_at = null returning id');
      await load(kept);
      expect(
        await select(warehouse, `select id from sluice_ops.answers where loaded_at is null and id = ${kept.answerId}`),
      ).toEqual([]);
    }
  });
});
