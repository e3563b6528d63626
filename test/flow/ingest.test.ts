/** Answers that are ingested together: one transaction, the receipts of single loads, and no answer suffers for another. */
import { expect, it } from 'vitest';
import { ingestAnswer, ingestAnswers, ingestGroups } from '../../src/flow/ingest/ingest.ts';
import type { AnswerToLoad } from '../../src/flow/ingest/read-answer.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { photoshareUser, profile } from '../load/items.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { rowsOf, select } from './rows.ts';
import { options, storedIn } from './stored-answers.ts';

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
  it('leave the same rows and receipts as single loads, in one transaction', async () => {
    const [together, oneByOne] = [await open(), await open()];
    const commits: string[] = [];
    const also: number[] = [];
    const takens = await ingestAnswers(together, await storedIn(together, 'photoshare.user', BODIES), {
      ...options,
      checkpoint: (name) => commits.push(name),
      onCommit: async (_, of) => void also.push(of.length),
    });
    const expected = [];
    for (const answer of await storedIn(oneByOne, 'photoshare.user', BODIES))
      expected.push(...(await ingestAnswers(oneByOne, [answer], options)));

    expect(takens.map(({ receipt }) => receipt)).toEqual(expected.map(({ receipt }) => receipt));
    expect(takens.map(({ answer }) => answer.id)).toEqual(expected.map(({ answer }) => answer.id));
    expect(await booksOf(together)).toEqual(await booksOf(oneByOne));
    expect(await rowsOf(together, { machinery: true })).toEqual(await rowsOf(oneByOne, { machinery: true }));
    expect(commits).toEqual(['before_load_commit', 'after_load_commit']);
    expect(also).toEqual([BODIES.length]);
  });

  it('do not suffer for one that the database refuses: only that one is quarantined', async () => {
    const warehouse = await open();
    await select(warehouse, `alter table sluice.microblog_users add check (name <> 'refused')`);
    const names = ['a', 'b', 'refused', 'd', 'e'];
    const bodies = names.map((name, at) => [profile(String(at), { name })]);
    const takens = await ingestAnswers(warehouse, await storedIn(warehouse, 'microblog.user', bodies), options);

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

  it.each([
    { times: 1, outcome: { loaded: 1, quarantined: 0 } },
    { times: 2, outcome: { loaded: 0, quarantined: 1 } },
  ])('are quarantined if another row is in the way at the second attempt too ($times times)', async (refused) => {
    const warehouse = await open();
    await select(warehouse, 'create sequence public.attempts');
    await select(
      warehouse,
      `create function public.refuse() returns trigger language plpgsql as $$ begin
         if nextval('public.attempts') <= ${refused.times} then raise unique_violation; end if;
         return new;
       end $$`,
    );
    await select(
      warehouse,
      'create trigger refuses before insert on sluice.microblog_users for each row execute function public.refuse()',
    );
    const [taken] = await ingestAnswers(
      warehouse,
      await storedIn(warehouse, 'microblog.user', [[profile('1')]]),
      options,
    );

    expect(taken?.receipt).toMatchObject(refused.outcome);
    expect(await select(warehouse, 'select last_value::int as attempts from public.attempts')).toEqual([
      { attempts: 2 },
    ]);
  });

  it('count an answer that serves two requests once', async () => {
    const warehouse = await open();
    const [answer] = await storedIn(warehouse, 'microblog.user', [[profile('1', { odd: 1 }), 'odd']]);
    if (!answer) throw new Error('nothing is stored');
    const again: AnswerToLoad = {
      ...answer,
      target: { identity: { requestKey: 'other', request: { user: 'other' } } },
    };
    const takens = await ingestAnswers(warehouse, [answer, again], options);

    expect(takens.map((it) => [it.answer.loaded, it.receipt.loaded, it.identity.requestKey])).toEqual([
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

  it('are loaded before an error of their source is thrown', async () => {
    const warehouse = await open();
    const answers = await storedIn(warehouse, 'microblog.user', [[profile('1')], [profile('2')]]);
    async function* failing() {
      yield* answers;
      throw new Error('the source failed');
    }
    const loaded: string[] = [];
    const loading = ingestGroups(warehouse, failing(), options, (results) =>
      loaded.push(...results.map(({ answer }) => answer.id)),
    );
    await expect(loading).rejects.toThrow('the source failed');
    expect(loaded).toEqual(answers.map(({ id }) => id));
    expect(await select(warehouse, 'select name from sluice.microblog_users')).toHaveLength(2);
  });

  it('are no longer read once a load failed, and their source is closed', async () => {
    const warehouse = await open();
    const [answer] = await storedIn(warehouse, 'microblog.user', [[profile('1')]]);
    let given = 0;
    let isClosed = false;
    async function* endless() {
      try {
        for (; given < 100; given += 1) if (answer) yield answer;
      } finally {
        isClosed = true;
      }
    }
    const loading = ingestGroups(
      warehouse,
      endless(),
      { ...options, limits: { rows: 1, bytes: 1 }, wrapCommit: () => Promise.reject(new Error('no commit')) },
      () => undefined,
    );
    await expect(loading).rejects.toThrow('no commit');
    expect(isClosed).toBe(true);
    expect(given).toBeLessThan(5);
  });

  it('by another sync than the one that bought them settle nothing', async () => {
    const warehouse = await open();
    const [answer] = await storedIn(warehouse, 'microblog.user', [[profile('1')]]);
    const taken = await ingestAnswer(warehouse, answer?.id ?? '', options, { sync: 'another' });
    expect(taken.answer.loaded).toBe(false);
    expect(await booksOf(warehouse)).toMatchObject({ answers: [{ loaded_at: null }], requests: [{ state: 'stored' }] });
  });
});

/** Each answer has a load of its own. */
const ONE_BY_ONE = { rows: 100, bytes: 2 ** 20, answers: 1 };

/** A profile that shares no name with others. */
const named = (id: string) => profile(id, { alias: `alias ${id}`, url: `https://microblog.example/${id}` });

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise(setImmediate);
};

eachWarehouse('loads of answers that have nothing in common', (open) => {
  it('may be in progress at once, and no other loads', async () => {
    const warehouse = await open();
    // The third and fourth show one entity, the fifth and sixth one name.
    const bodies = ['1', '2', '3', '3', '4', '5', '6'].map((id, at) => [
      photoshareUser(id, { alias: `alias ${at === 5 ? 4 : at}` }),
    ]);
    const [underWay, ways]: [Set<number>, string[]] = [new Set(), []];
    let begun = 0;
    const takens = await ingestAnswers(warehouse, await storedIn(warehouse, 'photoshare.user', bodies), {
      ...options,
      limits: ONE_BY_ONE,
      wrapCommit: async (_, work) => {
        begun += 1;
        const mine = begun;
        underWay.add(mine);
        ways.push([...underWay].join('+'));
        try {
          return await work();
        } finally {
          underWay.delete(mine);
        }
      },
    });
    expect(takens.map(({ batch }) => batch.roots.get('photoshare_users')?.map(({ id }) => id))).toEqual(
      ['1', '2', '3', '3', '4', '5', '6'].map((id) => [id]),
    );
    const pairs = ways.filter((it) => it.includes('+'));
    expect(pairs).not.toContain('3+4');
    expect(pairs).not.toContain('5+6');
    if (warehouse.kind === 'embedded') expect(pairs).toEqual([]);
    else expect(pairs).toContain('1+2');
  });

  it('are alone when one of their answers leads to more requests', async () => {
    const warehouse = await open();
    const bodies = Array.from({ length: 6 }, (_, at) => [named(String(at))]);
    const underWay = new Set<number>();
    const beside: number[] = [];
    let begun = 0;
    await ingestAnswers(warehouse, await storedIn(warehouse, 'microblog.user', bodies), {
      ...options,
      limits: ONE_BY_ONE,
      mayPlanMore: ({ batch }) => batch.roots.get('microblog_users')?.[0]?.id === '2',
      wrapCommit: async (_, work) => {
        begun += 1;
        const mine = begun;
        if (underWay.size > 0) beside.push(...underWay, mine);
        underWay.add(mine);
        return work().finally(() => underWay.delete(mine));
      },
    });
    expect(beside).not.toContain(3);
    expect(beside.length > 0).toBe(warehouse.kind === 'postgres');
  });

  it('leave what one after the other leaves, whichever ends first', async () => {
    const [beside, after] = [await open(), await open()];
    const bodies = Array.from({ length: 24 }, (_, at) => [
      photoshareUser(String(at % 7), { alias: `alias ${at % 5}`, odd: at, follower_count: at % 3 }),
      ...(at % 4 === 0 ? [{ name: 'no key' }] : []),
    ]);
    const loaded: string[] = [];
    let isFirst = true;
    const takens = await ingestAnswers(beside, await storedIn(beside, 'photoshare.user', bodies), {
      ...options,
      limits: ONE_BY_ONE,
      onLoaded: ({ answer }) => void loaded.push(answer.id),
      wrapCommit: async (_, work) => {
        const waits = isFirst && beside.kind === 'postgres';
        isFirst = false;
        if (waits) await until(() => loaded.length > 0);
        return work();
      },
    });
    const expected = [];
    for (const answer of await storedIn(after, 'photoshare.user', bodies))
      expected.push(...(await ingestAnswers(after, [answer], options)));

    const ids = expected.map(({ answer }) => answer.id);
    expect(takens.map(({ answer }) => answer.id)).toEqual(ids);
    expect(takens.map(({ receipt }) => receipt)).toEqual(expected.map(({ receipt }) => receipt));
    expect(await rowsOf(beside, { machinery: true })).toEqual(await rowsOf(after, { machinery: true }));
    expect(await booksOf(beside)).toEqual(await booksOf(after));
    if (beside.kind === 'postgres') expect(loaded.slice(0, 2)).toEqual([ids[1], ids[0]]);
  });

  it('stay when the concurrent one fails', async () => {
    const warehouse = await open();
    const ids = await storedIn(warehouse, 'microblog.user', [[named('1')], [named('2')], [named('3')]]);
    const loaded: string[] = [];
    const isBeside = warehouse.kind === 'postgres';
    const failing = ingestAnswers(warehouse, ids, {
      ...options,
      limits: ONE_BY_ONE,
      onLoaded: ({ answer }) => void loaded.push(answer.id),
      onCommit: async (_, [taken]) => {
        if (taken?.answer.id !== ids[0]?.id) return;
        if (isBeside) await until(() => loaded.length > 0);
        throw new Error('no more');
      },
    });
    await expect(failing).rejects.toThrow('no more');
    const names = await select(warehouse, 'select rest_id from sluice.microblog_users order by 1');
    expect(names).toEqual(isBeside ? [{ rest_id: '2' }] : []);
    expect(await select(warehouse, 'select id from sluice_ops.answers where loaded_at is null')).toHaveLength(
      isBeside ? 2 : 3,
    );
  });

  it('count as loaded if the caller fails while it hears of them', async () => {
    const warehouse = await open();
    const ids = await storedIn(warehouse, 'microblog.user', [[named('1')], [named('2')]]);
    const heard: string[] = [];
    const failing = ingestAnswers(warehouse, ids, {
      ...options,
      onLoaded: ({ answer }) => {
        heard.push(answer.id);
        throw new TypeError('a bug of the caller');
      },
    });
    await expect(failing).rejects.toThrow('a bug of the caller');
    expect(heard).toEqual([ids[0]?.id]);
    expect(await select(warehouse, 'select loaded::int, quarantined::int from sluice_ops.answers order by id')).toEqual(
      [
        { loaded: 1, quarantined: 0 },
        { loaded: 1, quarantined: 0 },
      ],
    );
    expect(await select(warehouse, 'select count(*)::int as n from sluice_ops.quarantine')).toEqual([{ n: 0 }]);
  });
});
