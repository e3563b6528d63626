/** Answers that are loaded late: what the log can know of them, and that a repeated load in place logs all of them. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { select } from '../flow/rows.ts';
import { batchOf, contextOf, loadBatch } from '../support/loading.ts';
import { anyWarehouse } from '../support/warehouse.ts';

interface Said {
  readonly name: string | null;
  readonly verified: boolean;
  readonly mood: number | undefined;
}

const said: fc.Arbitrary<Said> = fc.record({
  name: fc.constantFrom('A', 'B', 'C', null),
  verified: fc.boolean(),
  mood: fc.constantFrom(1, 2, undefined),
});

/** The first answer is loaded first, because an entity begins with the answer that is loaded first. */
const sequences = fc
  .array(fc.array(said, { minLength: 2, maxLength: 6 }), { minLength: 60, maxLength: 60 })
  .chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.tuple(
        ...all.map((answers) => {
          const later = answers.map((_, index) => index).slice(1);
          return fc.shuffledSubarray(later, { minLength: later.length }).map((order) => [0, ...order]);
        }),
      ),
    ),
  );

const profileOf = (id: string, { name, verified, mood }: Said) =>
  batchOf('microblog.user', { user: id }, [
    { rest_id: id, name, verified, created_at: verified ? 1_700_000_000 : null, mood },
  ]);

const named = (name: string) => profileOf('1', { name, verified: true, mood: 1 });

async function logOf(warehouse: Warehouse, where = 'true'): Promise<string[]> {
  const lines = await select<{ line: string }>(
    warehouse,
    `select concat_ws(' ', user_rest_id, attribute, _answer_id, changed_at, coalesce(from_value, '-'), coalesce(to_value, '-')) as line
     from sluice.microblog_user_changes where ${where} order by user_rest_id, attribute, changed_at`,
  );
  return lines.map(({ line }) => line);
}

anyWarehouse('the log of answers that are loaded in any order', (open) => {
  it('lacks what an answer repeated before a late one, until a load in place', async () => {
    const warehouse = await open();
    const answers = [named('A'), named('B'), named('A'), named('B')] as const;
    for (const at of [0, 2, 3, 1] as const) await loadBatch(warehouse, answers[at], at + 1);
    const names = async () => (await logOf(warehouse, `attribute = 'name'`)).map((it) => it.replace(/ 20.*\+00/, ''));
    expect(await names()).toEqual(['1 name 2 A B']);
    for (const [index, batch] of answers.entries()) await loadBatch(warehouse, batch, index + 1);
    expect(await names()).toEqual(['1 name 2 A B', '1 name 3 B A', '1 name 4 A B']);
  });

  it('is that of answers in order as soon as they are loaded again in place', async () => {
    const [inOrder, shuffled] = [await open(), await open()];
    const [[answers, orders]] = fc.sample(sequences, { seed: 4, numRuns: 1 }) as [[Said[][], number[][]]];
    const take = async (warehouse: Warehouse, orderOf: (at: number) => readonly number[]): Promise<void> => {
      for (const turn of [0, 1, 2, 3, 4, 5]) {
        const items = answers.flatMap((all, at) => {
          const index = orderOf(at)[turn];
          const answer = index === undefined ? undefined : all[index];
          if (index === undefined || !answer) return [];
          return [{ batch: profileOf(`m${at}`, answer), context: contextOf(1 + at + index * 1000) }];
        });
        await warehouse.db.transaction().execute((tx) => load(sqlExecutorOn(tx, warehouse.schema), items));
      }
    };
    const ascending = (at: number): readonly number[] => (answers[at] ?? []).map((_, index) => index);
    await take(inOrder, ascending);
    await take(shuffled, (at) => orders[at] ?? []);
    expect(await logOf(shuffled)).not.toEqual(await logOf(inOrder));

    await take(shuffled, ascending);
    expect(await logOf(shuffled)).toEqual(await logOf(inOrder));
    await take(shuffled, ascending);
    expect(await logOf(shuffled)).toEqual(await logOf(inOrder));
  });

  it('has no line from before the first answer of its row', async () => {
    const warehouse = await open();
    await loadBatch(warehouse, named('B'), 20);
    await loadBatch(warehouse, named('C'), 30);
    await loadBatch(warehouse, named('A'), 10);
    expect(await select(warehouse, 'select name, valid_from from sluice.microblog_users_history order by 2')).toEqual([
      { name: 'B', valid_from: new Date(contextOf(20).receivedAt) },
      { name: 'C', valid_from: new Date(contextOf(30).receivedAt) },
    ]);
  });

  it('has what a complete and a lesser report in one answer left together', async () => {
    const warehouse = await open();
    const post = (value: string, more: object) => ({ urn: { type: 'activity', value }, url: 'u', ...more });
    const answers = [
      [post('x', { text: 'P' })],
      // The post has no text of its own, and the repost of another one shows it.
      [post('x', { text: null }), post('y', { repost: post('x', { text: 'P' }) })],
      [post('x', { text: 'Q' })],
    ].map((items) => batchOf('pronet.post.reposts', { urn: { type: 'activity', value: '1' }, count: 9 }, items));
    for (const round of [1, 2]) {
      for (const [index, batch] of answers.entries()) await loadBatch(warehouse, batch, index + 1);
      const lines = await select(
        warehouse,
        `select _answer_id, from_value, to_value from sluice.pronet_post_changes where post_urn_value = 'x' and attribute = 'text'`,
      );
      expect({ round, lines }).toEqual({ round, lines: [{ _answer_id: '3', from_value: 'P', to_value: 'Q' }] });
    }
  });
});
