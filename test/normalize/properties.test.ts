/** Whatever an answer holds: nothing throws, nothing is lost, every item is accounted for, and twice is once. */
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RequestBody } from '../../src/service/request-body.ts';
import { catalog } from '../../src/service/catalog.ts';
import { batchOf, type Loader, loaderOf, shapesOf, type TextRow } from '../support/loading.ts';
import { countOf } from '../support/long.ts';
import { fullRequest } from '../support/requests.ts';
import { sampleItem } from '../support/sample.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { anyAnswer, type Answered, mutatedAnswer } from './arbitrary.ts';
import { lostFrom } from './kept.ts';

const batchOfAnswer = ({ endpoint, entity, items }: Answered) =>
  batchOf(endpoint.name, fullRequest(endpoint, entity), items);

describe('normalize', () => {
  it('never throws, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: 'binary', maxLength: 60 }).map((it) => Buffer.from(it)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...catalog), bytes, (endpoint, body) => {
        const batch = batchOf(endpoint.name, fullRequest(endpoint, 1), body);
        expect(batch.received).toBeGreaterThanOrEqual(batch.rejects.length);
      }),
      { seed: 1, numRuns: 1000 },
    );
  });

  it('never throws on an answer that is cut anywhere', () => {
    for (const endpoint of catalog) {
      const whole = Buffer.from(JSON.stringify([sampleItem(endpoint.returns, { entity: 1, strangers: true })]));
      for (let length = 0; length < whole.length; length += 7) {
        expect(batchOf(endpoint.name, fullRequest(endpoint, 1), whole.subarray(0, length))).toMatchObject({
          received: 1,
          rejects: [{ position: undefined }],
        });
      }
    }
  });

  it('places every item: as a row, or in quarantine with its place and reason', () => {
    fc.assert(
      fc.property(fc.oneof(anyAnswer, mutatedAnswer), (answered) => {
        const batch = batchOfAnswer(answered);
        const items = [...batch.roots.values()].flat().flatMap(({ item }) => (item === undefined ? [] : [item]));
        const rejected = batch.rejects.map(({ position }) => position ?? 0);
        expect([...items, ...rejected].toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: batch.received }, (_, index) => index),
        );
        for (const { reason } of batch.rejects) expect(reason).toMatch(/\S/);
        if (Array.isArray(answered.items)) expect(batch.received).toBe(answered.items.length);
      }),
      { seed: 2, numRuns: 1500 },
    );
  });

  it('loses no scalar of an item that it does not reject', () => {
    fc.assert(
      fc.property(fc.oneof(anyAnswer, mutatedAnswer), (answered) => {
        const batch = batchOfAnswer(answered);
        const sent = JSON.parse(JSON.stringify(answered.items)) as unknown;
        const items = Array.isArray(sent) ? sent : [sent];
        const rejected = new Set(batch.rejects.map(({ position }) => position ?? 0));
        items.forEach((item, position) => {
          if (!rejected.has(position)) expect(lostFrom(item, batch)).toEqual([]);
        });
      }),
      { seed: 3, numRuns: 2000 },
    );
  });

  it.each(catalog.map((it) => [it.name, it] as const))(
    '%s: counts nothing as drift, and rejects nothing, of what the contract shows',
    (name, endpoint) => {
      const batch = batchOf(name, fullRequest(endpoint, 1), [sampleItem(endpoint.returns, { entity: 1 })]);
      expect(batch.drift).toEqual([]);
      expect(batch.rejects).toEqual([]);
    },
  );
});

eachWarehouse('loading arbitrary answers', (open, kind) => {
  let there: Loader;
  beforeAll(async () => {
    there = loaderOf(await open());
  });
  const numRuns = kind === 'postgres' ? countOf(80, 250) : countOf(30, 100);
  const stored: {
    readonly name: string;
    readonly request: RequestBody;
    readonly body: string;
    readonly answerId: number;
  }[] = [];

  it.each([
    ['any JSON', anyAnswer, 4],
    ['valid items in which anything has changed', mutatedAnswer, 5],
  ])('%s: all loads and is accounted for, and the second time nothing is written', async (_, answers, seed) => {
    const { take } = there;
    let loaded = 0;
    await fc.assert(
      fc.asyncProperty(answers, async ({ endpoint, entity, items }) => {
        const { name } = endpoint;
        const request = fullRequest(endpoint, entity);
        const body = JSON.stringify(items);
        const { receipt, answerId } = await take(name, request, body);
        stored.push({ name, request, body, answerId });
        const again = await take(name, request, body);
        expect(again.receipt).toMatchObject({ received: receipt.received, loaded: 0, written: {} });
        loaded += receipt.loaded;
      }),
      { seed, numRuns },
    );
    expect(loaded).toBeGreaterThan(numRuns / 10);
  });

  it('all answers again, in place and in order or into an empty warehouse, give the same rows', async () => {
    const before = await allRows(there);
    expect(Object.values(before).flat().length).toBeGreaterThan(100);
    for (const { name, request, body, answerId } of stored) await there.take(name, request, body, { answerId });
    expect(await allRows(there)).toEqual(before);
    const fresh = loaderOf(await open());
    for (const { name, request, body, answerId } of stored) await fresh.take(name, request, body, { answerId });
    expect(await allRows(fresh)).toEqual(before);
  });
});

const allRows = async ({ warehouse, rows }: Loader): Promise<Readonly<Record<string, TextRow[]>>> => {
  const tables = [...(await shapesOf(warehouse.db)).keys()];
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await rows(table)] as const)));
};
