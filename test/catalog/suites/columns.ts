/** Every value of a full item is stored where the naming rules say, and a second answer writes nothing. */
import { expect, it } from 'vitest';
import { rowsCount, type TextRow, receivedAt, shapesOf, withoutHistory } from '../../support/loading.ts';
import { sampleItem, STRANGER } from '../../support/sample.ts';
import { type ExpectedRow, expectedRows } from '../expected-rows.ts';
import { contentOf, endpoints, type Fixture, questionOf, whereOf } from '../fixture.ts';

export function columnsSuite(fixture: Fixture): void {
  it.each(endpoints)(
    '%s: each value of a full item lands in its column, and nothing else does',
    async (name, endpoint) => {
      const loader = await fixture.loader();
      const entity = fixture.entity();
      const { request, keyed } = questionOf(endpoint, entity);
      const item = sampleItem(endpoint.returns, { entity, strangers: true });
      const before = withoutHistory(await loader.versions());
      const { batch, receipt, answerId } = await loader.take(name, request, [item]);
      expect(receipt).toMatchObject({ received: 1, loaded: 1 });
      expect(batch.drift.map(({ kind }) => kind)).toEqual(batch.drift.map(() => 'unknown field'));
      expect(batch.drift).toContainEqual({
        resource: endpoint.returns.name,
        path: STRANGER,
        kind: 'unknown field',
        count: 1,
        sampleType: 'object',
      });

      const expected = expectedRows(endpoint, keyed, item);
      const shapes = await shapesOf(loader.warehouse.db);
      for (const row of expected) {
        const found = await loader.row(row.table, whereOf(row.key, row.cells));
        const types = new Map(shapes.get(row.table)?.columns.map((it) => [it.name, it.type]));
        expect({ table: row.table, key: shapes.get(row.table)?.key }).toEqual({ table: row.table, key: row.key });
        expect(typed(contentOf(found, types), types)).toEqual(row.cells);
        expectMachinery(row, found, answerId);
      }
      expect(withoutHistory(await loader.versions()).length - before.length).toBe(expected.length);
      expect(rowsCount(receipt)).toBe(expected.length);
    },
  );

  it.each(endpoints)(
    '%s: the same answer again, under its own number and under a later one, writes nothing',
    async (name, endpoint) => {
      const loader = await fixture.loader();
      const entity = fixture.entity();
      const { request } = questionOf(endpoint, entity);
      const item = sampleItem(endpoint.returns, { entity, strangers: true });
      const first = await loader.take(name, request, [item]);
      const before = await loader.versions();
      for (const again of [first.answerId, first.answerId + 1]) {
        const { receipt } = await loader.take(name, request, [item], { answerId: again });
        const none = { loaded: 0, changed: 0, superseded: 0, quarantined: 0, written: {} };
        expect(receipt).toEqual({ ...none, received: 1, unchanged: 1 });
        expect(await loader.versions()).toEqual(before);
      }
    },
  );
}

const typed = (
  content: Readonly<Record<string, unknown>>,
  types: ReadonlyMap<string, string>,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, { type: types.get(name), value }]));

/** Root rows have their origin and times; rows of tables with several sources also have their detail. */
function expectMachinery(row: ExpectedRow, found: TextRow, answerId: number): void {
  const machinery = Object.fromEntries(Object.entries(found).filter(([name]) => name.startsWith('_')));
  if (!('_first_seen_at' in machinery)) return;
  expect(machinery).toEqual({
    _first_seen_at: receivedAt(answerId),
    _changed_at: receivedAt(answerId),
    _run_id: '1',
    _answer_id: String(answerId),
    _content_hash: expect.stringMatching(/^\S{16,}$/),
    _part_hashes: expect.any(String),
    ...(row.detail !== undefined && { _detail: row.detail }),
  });
}
