/** Answers loaded together leave what they leave one by one: the same rows to the byte, and the same receipts. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { load } from '../../src/load/load.ts';
import type { Receipt } from '../../src/load/merge/receipt.ts';
import { type SqlExecutor, sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import {
  batchOf,
  contextOf,
  expectAllAccounted,
  type Loader,
  loadBatch,
  loaderOf,
  type TextRow,
} from '../support/loading.ts';
import { groupsOf } from '../support/groups-of.ts';
import { countOf } from '../support/long.ts';
import { eachWarehouse, SCHEMA } from '../support/warehouse.ts';
import { profile, urn } from './items.ts';
import { anySequence, type Step } from './sequence.ts';

/** A number that changes within a group and back again is not written for it, so another answer reported it last. */
const withoutTeller = ({ _seen_at, _answer_id, _earlier, ...row }: TextRow): TextRow => row;

/** The tables with rows. They are few, so reading and emptying these alone takes a fraction of the time. */
const filledTables = async ({ versions }: Loader): Promise<string[]> => [
  ...new Set((await versions()).map((version) => version.slice(0, version.indexOf(' ')))),
];

const allRows = async (loader: Loader): Promise<Readonly<Record<string, TextRow[]>>> => {
  const found = (await filledTables(loader)).map(async (table) => {
    const all = await loader.rows(table);
    return [table, table.endsWith('_daily') ? all.map(withoutTeller) : all] as const;
  });
  return Object.fromEntries(await Promise.all(found));
};

async function empty(loader: Loader): Promise<void> {
  const tables = (await filledTables(loader)).map((table) => sql.id(SCHEMA, table));
  if (tables.length > 0) await sql`truncate ${sql.join(tables)} cascade`.execute(loader.warehouse.db);
}

/** Loads each group in a transaction of its own; returns the receipts in order. */
async function loadIn(warehouse: Warehouse, groups: Iterable<readonly Step[]>): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const group of groups)
    receipts.push(
      ...(await warehouse.db.transaction().execute((tx) => load(sqlExecutorOn(tx, warehouse.schema), group))),
    );
  return receipts;
}

/** The same, but it reports each statement before it runs it. */
const recorded = (run: SqlExecutor, tell: (text: string) => void): SqlExecutor => ({
  rows: (text, parameters) => {
    tell(text);
    return run.rows(text, parameters);
  },
  count: (text, parameters) => {
    tell(text);
    return run.count(text, parameters);
  },
  write: (text, parameters) => {
    tell(text);
    return run.write(text, parameters);
  },
  copyRows: (table, lines) => {
    tell(`add ${table.name}`);
    return run.copyRows(table, lines);
  },
  insert: (table, rows, otherwise) => {
    tell(`insert ${table.name}`);
    return run.insert(table, rows, otherwise);
  },
  yieldToEventLoop: run.yieldToEventLoop,
  drain: run.drain,
  schema: run.schema,
});

eachWarehouse('answers loaded together', (open, kind) => {
  it('leave the rows and receipts of loading one by one, however they are cut', { timeout: 600_000 }, async () => {
    const oneByOne = loaderOf(await open());
    const together = loaderOf(await open());
    const sizes: number[] = [];
    await fc.assert(
      fc.asyncProperty(anySequence, fc.integer({ min: 1, max: 12 }), async (steps, most) => {
        await empty(oneByOne);
        await empty(together);
        const groups = groupsOf(steps, { rows: Number.POSITIVE_INFINITY, bytes: most });
        sizes.push(...groups.map(({ length }) => length));
        const expected = await loadIn(
          oneByOne.warehouse,
          steps.map((step) => [step]),
        );
        for (const receipt of expected) expectAllAccounted(receipt);
        expect(await loadIn(together.warehouse, groups)).toEqual(expected);
        expect(await allRows(together)).toEqual(await allRows(oneByOne));
        // The newest of each entity again, alone or with others: no stored row is written.
        const before = await together.versions();
        const [last] = steps.toSorted((a, b) => Number(b.context.answerId) - Number(a.context.answerId));
        if (last) await loadIn(together.warehouse, [[last]]);
        expect(await together.versions()).toEqual(before);
      }),
      { seed: 7, numRuns: kind === 'postgres' ? countOf(15, 100) : countOf(6, 40) },
    );
    // Groups of one would show nothing.
    expect(sizes.filter((size) => size > 2).length).toBeGreaterThan(sizes.length / 5);
  });

  it('log a late value between the changes that are logged when its turn comes', async () => {
    const loader = loaderOf(await open());
    const named = (id: number, name: string): Step => ({
      batch: batchOf('microblog.user', { user: 'u' }, [profile('late', { name })]),
      context: contextOf(id),
      bytes: 1,
    });
    // The third comes late, after the change that it divides; another change follows in the same load.
    await loadIn(loader.warehouse, [[named(1, 'A')], [named(5, 'B'), named(3, 'C'), named(7, 'D'), named(6, 'B')]]);
    const lines = await loader.rows('microblog_user_changes', { attribute: 'name' });
    expect(lines.map((it) => `${it['_answer_id']}: ${it['from_value']} -> ${it['to_value']}`)).toEqual([
      '3: A -> C',
      '5: C -> B',
      '7: B -> D',
    ]);
  });

  it('are written in one set of statements, each row once', async () => {
    const warehouse = await open();
    const loader = loaderOf(warehouse);
    const answers = Array.from({ length: 50 }, (_, at) =>
      batchOf('microblog.user', { user: `u${at}` }, [profile(String(at)), profile('shared', { name: `n${at}` })]),
    );
    const statements: string[] = [];
    const receipts = await warehouse.db.transaction().execute((tx) =>
      load(
        recorded(sqlExecutorOn(tx, warehouse.schema), (text) => statements.push(text)),
        answers.map((batch, at) => ({ batch, context: contextOf(at + 1) })),
      ),
    );
    expect(receipts).toHaveLength(50);
    for (const receipt of receipts)
      expect(receipt).toMatchObject({ received: 2, loaded: 2, written: { microblog_users: 2 } });
    // Heads, rows, numbers of the day; then what the log of changes has to know.
    expect(statements.map((text) => text.replace(/^(\S+ \S+ \S+).*$/s, '$1'))).toEqual([
      expect.stringMatching(/^select set_config/),
      expect.stringMatching(/^select row_to_json/),
      'insert microblog_users',
      expect.stringMatching(/^insert into "sluice"."microblog_user_changes"/),
      'insert fact_microblog_user_daily',
    ]);
    expect(await loader.row('microblog_users', { rest_id: 'shared' })).toMatchObject({
      name: 'n49',
      _answer_id: '50',
      _first_seen_at: contextOf(1).receivedAt,
      _changed_at: contextOf(50).receivedAt,
    });
  });

  it('read a stored row once, although its merge and its change log need it', async () => {
    const warehouse = await open();
    const searched = (name: string) =>
      batchOf('pronet.search.users', { title: 'x', count: 9 }, [{ urn: urn('a'), name }]);
    await loadBatch(warehouse, searched('before'), 1);
    const statements: string[] = [];
    await warehouse.db.transaction().execute((tx) =>
      load(
        recorded(sqlExecutorOn(tx, warehouse.schema), (text) => statements.push(text)),
        [{ batch: searched('after'), context: contextOf(2) }],
      ),
    );
    expect(statements.filter((text) => /^select .*t\."headline".*"pronet_users"/s.test(text))).toHaveLength(1);
    expect(statements.filter((text) => text.startsWith('insert into "sluice"."pronet_user_changes"'))).toHaveLength(1);
  });
});

describe('a group', () => {
  const most = { rows: 10, bytes: 100 };
  const people = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ urn: urn(`p${count} ${at}`), name: 'n' }));
  const weighed = (batch: ReturnType<typeof batchOf>, bytes = 1) => ({ batch, bytes });
  const sizes = (answers: readonly ReturnType<typeof weighed>[]) => groupsOf(answers, most).map(({ length }) => length);
  const profiles = (bytes: number) => weighed(batchOf('microblog.user', { user: 'x' }, [profile('1')]), bytes);
  const search = (title: string, count: number) =>
    weighed(batchOf('pronet.search.users', { title, count: 100 }, people(count)));
  const education = (person: string) =>
    weighed(
      batchOf('pronet.user.education', { urn: { type: 'fsd_profile', value: person }, count: 9 }, [{ major: 'x' }]),
    );

  it('holds no more rows and bytes than it may, but for an answer that is larger by itself', () => {
    expect(sizes(Array.from({ length: 25 }, () => profiles(1)))).toEqual([10, 10, 5]);
    expect(sizes([40, 40, 40, 500, 1].map(profiles))).toEqual([2, 1, 1, 1]);
    expect(sizes([search('a', 2), search('b', 20), search('c', 2), search('d', 2)])).toEqual([1, 1, 2]);
  });

  it('ends before a set or a question that it touched already', () => {
    expect(sizes([education('p'), education('q'), education('p'), education('q')])).toEqual([2, 2]);
    expect(sizes([search('a', 1), search('b', 1), search('b', 0), search('a', 1)])).toEqual([2, 2]);
  });
});
