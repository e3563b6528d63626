/** Two concurrent writers of the same sets in opposite orders: no deadlock, and the sets of the newer one. */
import { expect, it } from 'vitest';
import type { LoadItem } from '../../src/load/merge/receipt-builder.ts';
import { load } from '../../src/load/load.ts';
import { sqlExecutorOn } from '../../src/load/sql/executor.ts';
import type { Batch } from '../../src/normalize/batch.ts';
import type { OperationsTables } from '../../src/warehouse/schema/operations.ts';
import { batchOf, contextOf, loaderOf } from '../support/loading.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { waitUntilBlocked } from './blocked.ts';

const open = postgresWarehouses();
const ROUNDS = 30;
const PEOPLE = ['p', 'q', 'r'];
const major = (name: string): object => ({ company: { name }, major: name });

it('two writers of groups with the same sets in opposite orders end without a deadlock', async () => {
  const warehouse = await open();
  const failures: unknown[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const step = (batch: Batch, answerId: number): LoadItem => ({ batch, context: contextOf(answerId) });
    const requestOf = (person: string) => ({ urn: { type: 'fsd_profile', value: `r${round}. ${person}` }, count: 99 });
    const taught = (person: string, majors: readonly string[]) =>
      batchOf('pronet.user.education', requestOf(person), majors.map(major));
    const found = (title: string, names: readonly string[]) =>
      batchOf(
        'pronet.search.users',
        { title: `r${round}. ${title}`, count: 99 },
        names.map((value) => ({ urn: { type: 'fsd_profile', value: `r${round}. ${value}` }, name: value })),
      );
    const group = (first: number, people: readonly string[], majors: readonly string[]): LoadItem[] =>
      people.flatMap((person, at) => [
        step(taught(person, at === 1 ? [] : majors), first + 2 * at),
        step(found(person, people.slice(at)), first + 2 * at + 1),
      ]);
    const write = (of: readonly LoadItem[]) =>
      warehouse.db.transaction().execute((tx) => load(sqlExecutorOn(tx, warehouse.schema), of));
    await write(group(round * 100 + 1, PEOPLE, ['a', 'b', 'c', 'd']));
    const held = await warehouse.db.startTransaction().execute();
    await load(sqlExecutorOn<OperationsTables>(held, warehouse.schema), [
      step(taught('q', ['held']), round * 100 + 99),
    ]);
    const older = group(round * 100 + 20, PEOPLE, ['a', 'x', 'y', 'z', 'more']);
    const newer = group(round * 100 + 40, PEOPLE.toReversed(), ['a', 'n']);
    let writing = 2;
    const writers = [older, newer].map((it) =>
      write(it)
        .catch((error: unknown) => failures.push(error))
        .finally(() => (writing -= 1)),
    );
    await waitUntilBlocked(warehouse, () => writing);
    await held.rollback().execute();
    await Promise.all(writers);
    const { rows } = loaderOf(warehouse);
    const majors = await Promise.all(
      PEOPLE.map(async (person) =>
        (await rows('pronet_user_educations', { user_urn_value: requestOf(person).urn.value })).map(
          (row) => row['major'],
        ),
      ),
    );
    expect(majors).toEqual([['a', 'n'], [], ['a', 'n']]);
  }
  expect(failures).toEqual([]);
});
