/** What counts as a change, what an older answer may do, and the same entity twice. */
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/service/endpoint.ts';
import type { Field, Fields } from '../../../src/service/model.ts';
import { receivedAt, type TextRow } from '../../support/loading.ts';
import { type Item, sampleItem } from '../../support/sample.ts';
import { ownRow } from '../expected-rows.ts';
import { contentOf, endpoints, type Fixture, isOfKey, questionOf, whereOf } from '../fixture.ts';

const someVolatile = (fields: Fields): boolean =>
  Object.values(fields).some(
    (field) => field.shape !== 'given' && (field.volatile || (field.shape === 'object' && someVolatile(field.fields))),
  );

/** Entities inside are no part of the item's own row. */
const isOwn = (field: Field): boolean => field.shape !== 'nested' && field.shape !== 'nested-list';

/** Fields of which a difference counts as a change of the entity. */
const changingOf = ({ returns }: Endpoint): string[] =>
  Object.entries(returns.fields).flatMap(([name, field]) =>
    field.shape === 'given' || field.volatile || !isOwn(field) || isOfKey(returns.key, [name]) ? [] : [name],
  );

const machineryOf = (row: TextRow): TextRow => ({
  first: row['_first_seen_at'] ?? null,
  changed: row['_changed_at'] ?? null,
  answer: row['_answer_id'] ?? null,
  hash: row['_content_hash'] ?? null,
});

/** `isFull` adds each field as the only one that changes. */
export function changesSuite(fixture: Fixture, isFull: boolean): void {
  const begin = async (endpoint: Endpoint, entity = fixture.entity()) => {
    const loader = await fixture.loader();
    const { request, keyed } = questionOf(endpoint, entity);
    const sample = (version: number, fleeting = 0): Item => sampleItem(endpoint.returns, { entity, version, fleeting });
    const { table, key, cells } = ownRow(endpoint, keyed, sample(0));
    return {
      loader,
      sample,
      keyed,
      request,
      take: (items: readonly Item[], answerId?: number) =>
        loader.take(endpoint.name, request, items, answerId === undefined ? {} : { answerId }),
      row: () => loader.row(table, whereOf(key, cells)),
      types: new Map(Object.entries(cells).map(([name, { type }]) => [name, type])),
    };
  };
  const expected = (
    endpoint: Endpoint,
    { keyed }: { keyed: Parameters<typeof ownRow>[1] },
    item: Item,
  ): Record<string, unknown> =>
    Object.fromEntries(Object.entries(ownRow(endpoint, keyed, item).cells).map(([name, { value }]) => [name, value]));

  it.each(endpoints.filter(([, { returns }]) => someVolatile(returns.fields)))(
    '%s: a difference in volatile fields alone is kept, and counts as unchanged',
    async (_, endpoint) => {
      const it = await begin(endpoint);
      await it.take([it.sample(0)]);
      const before = machineryOf(await it.row());
      const { receipt, answerId } = await it.take([it.sample(0, 1)]);
      expect(receipt).toMatchObject({ received: 1, unchanged: 1 });
      expect(contentOf(await it.row(), it.types)).toEqual(expected(endpoint, it, it.sample(0, 1)));
      expect(machineryOf(await it.row())).toEqual({ ...before, answer: String(answerId) });
    },
  );

  describe.each(isFull ? endpoints : [])('%s', (_, endpoint) => {
    it.each(changingOf(endpoint))('another %s alone is a change', async (field) => {
      const it = await begin(endpoint);
      await it.take([it.sample(0)]);
      const before = machineryOf(await it.row());
      const item = { ...it.sample(0), [field]: anotherOf(it.sample(0)[field], it.sample(1)[field]) };
      const { receipt, answerId } = await it.take([item]);
      expect(receipt).toMatchObject({ received: 1, loaded: 1, changed: 1 });
      expect(contentOf(await it.row(), it.types)).toEqual(expected(endpoint, it, item));
      const after = machineryOf(await it.row());
      expect(after).toEqual({
        first: before['first'],
        changed: receivedAt(answerId),
        answer: String(answerId),
        hash: expect.any(String),
      });
      expect(after['hash']).not.toBe(before['hash']);
    });
  });

  it.each(endpoints)(
    '%s: another unknown field is a change, and the content’s hash comes back with the content',
    async (_, endpoint) => {
      const it = await begin(endpoint);
      await it.take([it.sample(0)]);
      const { hash } = machineryOf(await it.row());
      expect((await it.take([{ ...it.sample(0), unheard_of: [1] }])).receipt).toMatchObject({ loaded: 1 });
      expect(contentOf(await it.row(), it.types)['extra']).toEqual({ unheard_of: [1] });
      expect((await it.take([it.sample(0)])).receipt).toMatchObject({ loaded: 1 });
      expect(await it.row()).toMatchObject({ extra: null, _content_hash: hash });
    },
  );

  it.each(endpoints)('%s: an older answer overwrites nothing', async (_, endpoint) => {
    const it = await begin(endpoint);
    const { answerId } = await it.take([it.sample(1)], 100_000 + fixture.entity());
    const before = await it.row();
    const { receipt } = await it.take([it.sample(0, 1)], answerId - 1);
    expect(receipt).toMatchObject({ received: 1, loaded: 0, superseded: 1 });
    expect(await it.row()).toEqual(before);
  });

  const keyed = endpoints.filter(([, { returns }]) =>
    Object.values(returns.fields).every((field) => field.shape !== 'given' || !varies(field)),
  );
  it.each(keyed)('%s: of the same entity twice in an answer, the last counts', async (_, endpoint) => {
    const it = await begin(endpoint);
    const { receipt } = await it.take([it.sample(0), it.sample(2, 1), it.sample(1)]);
    expect(receipt).toMatchObject({ received: 3, loaded: 1, superseded: 2 });
    expect(contentOf(await it.row(), it.types)).toEqual(expected(endpoint, it, it.sample(1)));
    expect((await it.take([it.sample(0), it.sample(1)])).receipt).toMatchObject({
      received: 2,
      unchanged: 1,
      superseded: 1,
    });
  });
}

/** A list whose elements are nothing but keys differs by the elements that it has. */
const anotherOf = (before: unknown, after: unknown): unknown =>
  Array.isArray(after) && JSON.stringify(before) === JSON.stringify(after) ? after.slice(1) : after;

/** True for a value of the request that distinguishes the items of one answer. */
const varies = (field: Extract<Field, { shape: 'given' }>): boolean => {
  const keyed = { sync: '', requestKey: '', request: {} };
  return field.from(keyed, 0) !== field.from(keyed, 1);
};
