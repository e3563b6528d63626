/** Two concurrent writers of the same rows in opposite orders: no deadlock, and the rows of one order or the other. */
import { expect, it } from 'vitest';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { RequestBody } from '../../src/service/request-body.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { batchOf, contextOf, loadBatch, loaderOf, shapesOf, type TextRow } from '../support/loading.ts';
import { countOf } from '../support/long.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { stopping, waitUntilBlocked } from './blocked.ts';

const ROUNDS = countOf(12, 100);
/** Enough for new ones to be copied. */
const ENTITIES = 24;
/** Where one writer going up and another going down would meet. */
const MIDDLE = 12;

interface Answer {
  readonly endpoint: string;
  readonly request: RequestBody;
  readonly items: readonly unknown[];
}

/** One writer's words about the entities of a round. */
interface Telling {
  readonly round: number;
  readonly teller: 'before' | 'held' | 'first' | 'second';
  readonly order: readonly number[];
}

const name = ({ round }: Telling, what: string, index: number): string => `r${round}. ${what} ${index}`;
const urn = (it: Telling, what: string, index: number): object => ({ type: what, value: name(it, what, index) });
const each = (it: Telling, of: (index: number) => object): object[] => it.order.map(of);

const person = (it: Telling, index: number): object => ({
  urn: urn(it, 'fsd_profile', index),
  name: `${it.teller} ${index}`,
  url: 'u',
});
const school = (it: Telling, index: number): object => ({
  name: `${it.teller} ${index}`,
  urn: urn(it, 'fsd_company', index),
  industry: urn(it, 'industry', index % 3),
  industry_full: { urn: urn(it, 'industry', index % 2), name: it.teller },
});

const ANSWERS: Readonly<Record<string, (it: Telling) => Answer>> = {
  reposts: (it) => ({
    endpoint: 'pronet.post.reposts',
    request: { urn: { type: 'activity', value: `r${it.round}. asked` }, count: 1000 },
    items: each(it, (index) => ({
      urn: urn(it, 'activity', index),
      url: 'u',
      text: it.teller,
      author: person(it, index),
      images: [`${it.teller} 1`, `${it.teller} 2`],
      reactions: [{ type: 'like', count: it.teller.length }],
      mentioned: [person(it, ENTITIES - index), { urn: urn(it, 'fsd_company', index), name: it.teller }],
      repost: { urn: urn(it, 'activity', (index + 1) % ENTITIES), url: it.teller },
    })),
  }),
  search: (it) => ({
    endpoint: 'pronet.search.users',
    request: { title: `r${it.round}.`, count: 1000 },
    items: each(it, (index) => person(it, index)),
  }),
  education: (it) => ({
    endpoint: 'pronet.user.education',
    request: { urn: { type: 'fsd_profile', value: `r${it.round}. ${it.teller}` }, count: 100 },
    items: each(it, (index) => ({ company: school(it, index), major: it.teller })),
  }),
  group: (it) => ({
    endpoint: 'pronet.group',
    request: { group: `r${it.round}.` },
    items: each(it, (index) => ({
      urn: urn(it, 'group', index),
      name: it.teller,
      url: 'u',
      member_count: 1,
      members: it.order.map((member) => ({ user: person(it, member), role: it.teller })),
      industries: [urn(it, 'industry', index)],
    })),
  }),
  posts: (it) => ({
    endpoint: 'photoshare.user.posts',
    request: { user: `r${it.round}.`, count: 1000 },
    items: each(it, (index) => ({
      id: name(it, 'post', index),
      code: it.teller,
      url: 'u',
      image: it.teller,
      user: { id: name(it, 'user', index % 3), name: it.teller },
      media: [it.teller],
    })),
  }),
  profiles: (it) => ({
    endpoint: 'photoshare.user',
    request: { user: `r${it.round}.`, with_posts: true },
    items: each(it, (index) => ({
      id: name(it, 'user', index),
      alias: 'a',
      name: it.teller,
      url: 'u',
      posts: it.order.map((post) => ({ id: name(it, 'post', post), code: it.teller, url: 'u', image: 'i' })),
    })),
  }),
};

const PAIRS: readonly (readonly [string, string])[] = [
  ['reposts', 'reposts'],
  ['search', 'search'],
  ['search', 'reposts'],
  ['education', 'education'],
  ['education', 'reposts'],
  ['group', 'group'],
  ['group', 'search'],
  ['group', 'reposts'],
  ['posts', 'posts'],
  ['profiles', 'profiles'],
  ['profiles', 'posts'],
];

interface Round {
  /** What is there: some rows are new to both writers, some to neither. */
  readonly before: readonly Answer[];
  readonly writers: readonly [Answer, Answer];
  /** Rows that a third writer locks while the two begin, so that they meet. */
  readonly held: Answer;
}

function roundOf(round: number): Round {
  const [first = '', second = ''] = PAIRS[round % PAIRS.length] ?? [];
  const upward = Array.from({ length: ENTITIES }, (_, index) => index);
  const answer = (kind: string, teller: Telling['teller'], order: readonly number[]): Answer =>
    (ANSWERS[kind] as (it: Telling) => Answer)({ round, teller, order });
  const known = [[], upward, upward.filter((index) => index % 2 === 0)][round % 3] as number[];
  return {
    before: known.length > 0 ? [answer(first, 'before', known)] : [],
    writers: [answer(first, 'first', upward), answer(second, 'second', upward.toReversed())],
    held: answer(first, 'held', [MIDDLE]),
  };
}

/** Lets two writers begin while a third holds rows that both want, so that they meet; it releases the rows when they wait or are done. */
async function holding(
  warehouse: Warehouse,
  { endpoint, request, items }: Answer,
  writers: () => Promise<unknown>[],
): Promise<void> {
  const held = await warehouse.db.startTransaction().execute();
  const batch = batchOf(endpoint, request, items);
  await load(sqlExecutorOn<OperationsTables>(held, warehouse.schema), [{ batch, context: contextOf(ROUNDS * 10) }]);
  let open = 0;
  const writing = writers().map((it) => {
    open += 1;
    return it.finally(() => (open -= 1));
  });
  await waitUntilBlocked(warehouse, () => open);
  await held.rollback().execute();
  await Promise.all(writing);
}

const open = postgresWarehouses();

/** Loads every round, with the two writers of each as specified. */
async function loadRounds(how: 'at once' | 'in order' | 'the other way round') {
  const warehouse = await open();
  const failures: unknown[] = [];
  const write = ({ endpoint, request, items }: Answer, answerId: number): Promise<unknown> =>
    loadBatch(warehouse, batchOf(endpoint, request, items), answerId).catch((error: unknown) => failures.push(error));
  for (let round = 0; round < ROUNDS; round += 1) {
    const { before, writers, held } = roundOf(round);
    for (const answer of before) await write(answer, round * 10 + 1);
    const tasks = [() => write(writers[0], round * 10 + 2), () => write(writers[1], round * 10 + 3)];
    if (how === 'at once') await holding(warehouse, held, () => tasks.map((task) => task()));
    else for (const task of how === 'in order' ? tasks : tasks.toReversed()) await task();
  }
  const { rows } = loaderOf(warehouse);
  const tables = [...(await shapesOf(warehouse.db)).keys()];
  const all = (
    await Promise.all(tables.map(async (table) => (await rows(table)).map((row): TextRow => ({ table, ...row }))))
  ).flat();
  return { failures, byRound: Map.groupBy(all, (row) => Number(/r(\d+)\./.exec(JSON.stringify(row))?.[1] ?? -1)) };
}

it(`${ROUNDS} rounds of two writers end without a deadlock, in the rows of a serial order`, async () => {
  const [atOnce, inOrder, reversed] = [
    await loadRounds('at once'),
    await loadRounds('in order'),
    await loadRounds('the other way round'),
  ];
  expect([...atOnce.failures, ...inOrder.failures, ...reversed.failures]).toEqual([]);
  expect(atOnce.byRound.size).toBe(ROUNDS);
  for (const [round, found] of atOnce.byRound) {
    const serial = [inOrder, reversed].map(({ byRound }) => JSON.stringify(byRound.get(round)));
    if (!serial.includes(JSON.stringify(found))) expect(found).toEqual(inOrder.byRound.get(round));
  }
});

it.each([0, 30])(
  'a writer that lost a new row to another, of %i and one, takes no lock out of order for it',
  async (more) => {
    const warehouse = await open();
    const others = Array.from({ length: more }, (_, at) => `new ${at}`);
    const people = (teller: string, ...names: string[]) =>
      batchOf(
        'pronet.search.users',
        { title: teller, count: 99 },
        names.map((value) => ({ urn: { type: 'fsd_profile', value }, name: teller })),
      );
    await loadBatch(warehouse, people('before', 'b'), 1);

    const held = await warehouse.db.startTransaction().execute();
    const inserting = stopping(sqlExecutorOn<OperationsTables>(held, warehouse.schema), (statement) =>
      statement.startsWith('insert '),
    );
    const locking = stopping(
      inserting.run,
      (statement, parameters) =>
        statement.includes('for no key update') && parameters.some((it) => String(it).includes('"a"')),
    );
    const slow = load(locking.run, [{ batch: people('slow', 'a', 'b', ...others), context: contextOf(3) }]);
    await inserting.reached;
    await loadBatch(warehouse, people('quick', 'a'), 2);
    inserting.letGo();
    await locking.reached;

    let writing = 1;
    const other = loadBatch(warehouse, people('other', 'a', 'b'), 4).finally(() => (writing = 0));
    await waitUntilBlocked(warehouse, () => writing);
    locking.letGo();
    expect(await slow).toMatchObject([{ received: 2 + more, loaded: more, superseded: 2 }]);
    await held.commit().execute();
    expect(await other).toMatchObject({ received: 2, loaded: 2 });
    const rows = await loaderOf(warehouse).rows('pronet_users');
    expect(rows.map((row) => [row['urn_value'], row['name'], row['_answer_id']])).toEqual([
      ['a', 'other', '4'],
      ['b', 'other', '4'],
      ...others.toSorted().map((name) => [name, 'slow', '3']),
    ]);
  },
);
