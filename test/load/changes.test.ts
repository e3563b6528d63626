/** The log of changes: its contents and what it leaves out, also when answers are loaded late. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ComparedRow, writeChanges } from '../../src/load/history/change-log.ts';
import { observe, type RowState } from '../../src/load/merge/observe.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import type { RootTable } from '../../src/warehouse/schema/table-types.ts';
import { select } from '../flow/rows.ts';
import { countOf } from '../support/long.ts';
import { anyWarehouse } from '../support/warehouse.ts';
import { type Answer, answerOf, onRows, seenIn, tableNamed } from './history.ts';

const MICROBLOG = tableNamed('microblog_users');
const PEOPLE = tableNamed('pronet_users');
const GROUPS = tableNamed('pronet_groups');

type Verdict = ComparedRow['changes'][number];
interface Resting {
  readonly state: RowState;
  readonly answerId: bigint;
}

/** Loads answers one after the other as the loader would: rows follow the newest answer that changed them. */
function loaderOf(warehouse: Warehouse, table: RootTable): (...answers: readonly Answer[]) => Promise<void> {
  const rows = new Map<string, Resting>();
  return async (...answers) => {
    const seen = seenIn(table, answers);
    const judged = [...seen].map(([id, shown]): ComparedRow => {
      const before = rows.get(id)?.state;
      const verdicts = shown.map(({ answer, rows: observed }): Verdict => {
        const resting = rows.get(id);
        const answerId = BigInt(answers[answer]?.by.answerId ?? 0);
        if (resting && resting.answerId > answerId) return 'superseded';
        const state = observed.reduce<RowState | undefined>((known, row) => observe(table, known, row), resting?.state);
        if (!state) throw new Error('no observation');
        if (resting && JSON.stringify(sorted(state)) === JSON.stringify(sorted(resting.state))) return 'unchanged';
        rows.set(id, { state, answerId });
        return resting ? 'changed' : 'inserted';
      });
      return { id, before, answers: shown, changes: verdicts };
    });
    const { changes } = table;
    if (!changes) throw new Error(`${table.name} is not logged`);
    const contexts = answers.map(({ by }) => by);
    await onRows(warehouse, table, seen.keys(), (executor) =>
      writeChanges({ executor, table, contexts }, changes, judged),
    );
  };
}

const sorted = ({ values, detail }: RowState): unknown => [values, detail];

const at = (hour: number): string => new Date(Date.UTC(2026, 2, 1, hour)).toISOString();
const microblogger = (id: number, more: Readonly<Record<string, unknown>>): Answer =>
  answerOf(id, at(id), 'microblog.user', [{ rest_id: '1', ...more }], { user: 'x' });
const person = { urn: { type: 'fsd_profile', value: 'p' } };
/** A search reports everything about a person, a post's author is a preview. */
const found = (id: number, more: Readonly<Record<string, unknown>>): Answer =>
  answerOf(id, at(id), 'pronet.search.users', [{ ...person, ...more }], { count: 10 });
const author = (id: number, more: Readonly<Record<string, unknown>>): Answer =>
  answerOf(
    id,
    at(id),
    'pronet.post.reposts',
    [{ urn: { type: 'activity', value: 'a' }, author: { ...person, ...more } }],
    {
      urn: { type: 'activity', value: '9' },
      count: 10,
    },
  );

const log = (warehouse: Warehouse, table = 'microblog_user_changes'): Promise<readonly string[]> =>
  select<{ line: string }>(
    warehouse,
    `select concat_ws(' ', _answer_id, attribute, coalesce(from_value, 'null'), '->', coalesce(to_value, 'null')) as line
     from sluice.${table} order by _answer_id, attribute`,
  ).then((rows) => rows.map(({ line }) => line));

anyWarehouse('the log of changes', (open) => {
  it('shows what an attribute was, what it became, when and by which answer', async () => {
    const warehouse = await open();
    const load = loaderOf(warehouse, MICROBLOG);
    await load(microblogger(1, { name: 'A', verified: false, location: null }));
    await load(
      microblogger(2, { name: 'A', verified: true, location: 'Oslo' }),
      microblogger(3, { name: 'B', verified: true }),
    );
    expect(
      await select(
        warehouse,
        'select user_rest_id, attribute, from_value, to_value, changed_at, _answer_id from sluice.microblog_user_changes order by _answer_id, attribute',
      ),
    ).toEqual([
      {
        user_rest_id: '1',
        attribute: 'location',
        from_value: null,
        to_value: 'Oslo',
        changed_at: new Date(at(2)),
        _answer_id: '2',
      },
      {
        user_rest_id: '1',
        attribute: 'verified',
        from_value: 'false',
        to_value: 'true',
        changed_at: new Date(at(2)),
        _answer_id: '2',
      },
      {
        user_rest_id: '1',
        attribute: 'location',
        from_value: 'Oslo',
        to_value: null,
        changed_at: new Date(at(3)),
        _answer_id: '3',
      },
      {
        user_rest_id: '1',
        attribute: 'name',
        from_value: 'A',
        to_value: 'B',
        changed_at: new Date(at(3)),
        _answer_id: '3',
      },
    ]);
    expect(
      await select(
        warehouse,
        'select table_name, entity_key, changed_on::text, answer_id from sluice.attribute_changes where attribute = $$name$$',
      ),
    ).toEqual([{ table_name: 'microblog_users', entity_key: '1', changed_on: '2026-03-01', answer_id: '3' }]);
  });

  it('has no line for addresses of images, numbers of the day and first sightings, and lines for instants and JSON', async () => {
    const warehouse = await open();
    const load = loaderOf(warehouse, MICROBLOG);
    await load(
      microblogger(1, {
        image: 'https://x/1?sig=1',
        banner_url: 'b1',
        follower_count: 1,
        created_at: 1_700_000_000,
        other: { b: 1, a: 'x' },
      }),
    );
    await load(
      microblogger(2, {
        image: 'https://x/1?sig=2',
        banner_url: 'b2',
        follower_count: 2,
        created_at: 1_700_000_000,
        other: { a: 'x', b: 1 },
      }),
    );
    expect(await log(warehouse)).toEqual([]);
    await load(microblogger(3, { follower_count: 2, created_at: 1_700_000_001, other: { a: 'y' } }));
    expect(await log(warehouse)).toEqual([
      '3 created_at 2023-11-14T22:13:20.000000Z -> 2023-11-14T22:13:21.000000Z',
      '3 created_at_epoch 1700000000 -> 1700000001',
      '3 extra {"other":{"a":"x","b":1}} -> {"other":{"a":"y"}}',
    ]);
    const followed = MICROBLOG.changes?.attributes ?? [];
    const left = MICROBLOG.columns.filter(({ name }) => !name.startsWith('_') && !followed.includes(name));
    expect(left.map(({ name }) => name).filter((name) => !name.endsWith('_count'))).toEqual([
      'rest_id',
      'image',
      'banner_url',
    ]);
  });

  it('has no line for what a preview left out, or for what it reports with less detail', async () => {
    const warehouse = await open();
    const load = loaderOf(warehouse, PEOPLE);
    await load(author(1, { name: 'Ann', headline: 'Engineer' }));
    await load(found(2, { name: 'Ann', headline: 'Engineer', location: 'Berlin' }));
    expect(await log(warehouse, 'pronet_user_changes')).toEqual([]);
    await load(author(3, { name: 'Ann B.', headline: null }));
    expect(await log(warehouse, 'pronet_user_changes')).toEqual([]);
    await load(found(4, { name: 'Ann B.', headline: null, location: 'Berlin', open_to_work: true }));
    expect(await log(warehouse, 'pronet_user_changes')).toEqual([
      '4 headline Engineer -> null',
      '4 name Ann -> Ann B.',
      '4 open_to_work false -> true',
    ]);
    await load(author(5, { headline: 'Manager' }));
    expect(await log(warehouse, 'pronet_user_changes')).toContain('5 headline null -> Manager');
  });

  it('is not longer after a replay', async () => {
    const warehouse = await open();
    const load = loaderOf(warehouse, GROUPS);
    const group = (id: number, name: string): Answer =>
      answerOf(id, at(id), 'pronet.group', [{ urn: { type: 'group', value: 'g' }, name, member_count: id }], {
        group: 'g',
      });
    const answers = [group(1, 'A'), group(2, 'A'), group(3, 'B'), group(4, 'A'), group(5, 'A')];
    for (const it of answers) await load(it);
    const before = ['3 name A -> B', '4 name B -> A'];
    expect(await log(warehouse, 'pronet_group_changes')).toEqual(before);
    for (const it of answers) await load(it);
    await load(...answers);
    expect(await log(warehouse, 'pronet_group_changes')).toEqual(before);
  });

  it.each([
    ['between two values', ['A', 'B', 'C'], ['2 name A -> B', '3 name B -> C']],
    ['with the value that came after it', ['A', 'B', 'B'], ['2 name A -> B']],
    ['with the value that came before it', ['A', 'A', 'B'], ['3 name A -> B']],
    ['with none', ['A', null, 'B'], ['2 name A -> null', '3 name null -> B']],
  ])('gives a late answer its place: %s', async (_what, names, lines) => {
    const [first, late, last] = names.map((name, place) => microblogger(place + 1, { name })) as [
      Answer,
      Answer,
      Answer,
    ];
    const warehouse = await open();
    const load = loaderOf(warehouse, MICROBLOG);
    for (const it of [first, last, late, late]) await load(it);
    expect(await log(warehouse)).toEqual(lines);
  });

  it('leaves out what a late preview reports, which may never have counted', async () => {
    const warehouse = await open();
    const load = loaderOf(warehouse, PEOPLE);
    for (const it of [found(1, { name: 'A' }), found(3, { name: 'B' }), author(2, { name: 'C' })]) await load(it);
    expect(await log(warehouse, 'pronet_user_changes')).toEqual(['3 name A -> B']);
  });

  it('is the same in whatever order changes come after the first', async () => {
    const order = fc.shuffledSubarray([2, 3, 4, 5, 6], { minLength: 5 });
    const reference = await open();
    const inOrder = loaderOf(reference, MICROBLOG);
    const answers = [1, 2, 3, 4, 5, 6].map((id) => microblogger(id, { name: `N${id}`, verified: id > 3 }));
    for (const it of answers) await inOrder(it);
    const expected = (await log(reference)).filter((line) => line.includes('name'));
    expect(expected).toHaveLength(5);
    const warehouse = await open();
    await fc.assert(
      fc.asyncProperty(order, async (ids) => {
        await select(warehouse, 'truncate sluice.microblog_users cascade');
        const load = loaderOf(warehouse, MICROBLOG);
        for (const id of [1, ...ids]) await load(answers[id - 1] as Answer);
        expect((await log(warehouse)).filter((line) => line.includes('name'))).toEqual(expected);
      }),
      { numRuns: countOf(15, 30) },
    );
  });
});
