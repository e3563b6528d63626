/** Lists that shrink, that become empty, and that are not reported. */
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/service/endpoint.ts';
import { withoutHistory } from '../../support/loading.ts';
import { sampleItem } from '../../support/sample.ts';
import { type ExpectedRow, expectedRows, ownRow } from '../expected-rows.ts';
import { changed, endpoints, type FieldAt, fieldsOf, type Fixture, questionOf, whereOf } from '../fixture.ts';

const listsOf = (endpoint: Endpoint): FieldAt[] =>
  fieldsOf(endpoint.returns.fields).filter(({ field }) => field.shape === 'list');

/** `isFull` adds lists that were never reported. */
export function listsSuite(fixture: Fixture, isFull: boolean): void {
  describe.each(endpoints.filter(([, endpoint]) => listsOf(endpoint).length > 0))('%s', (name, endpoint) => {
    const cases = listsOf(endpoint).map(({ path }) => [path.join('.'), path] as const);

    it.each(cases)('%s: replaced as a set; empty is none, null and absent are not reported', async (_, path) => {
      const loader = await fixture.loader();
      const entity = fixture.entity();
      const { request, keyed } = questionOf(endpoint, entity);
      const whole = sampleItem(endpoint.returns, { entity, size: 3 });
      const elements = path.reduce<unknown>(
        (value, step) => (value as Record<string, unknown>)[step],
        whole,
      ) as unknown[];
      const table = childTableOf(
        endpoint,
        expectedRows(endpoint, keyed, whole),
        expectedRows(endpoint, keyed, changed(whole, path, [])),
      );
      const own = ownRow(endpoint, keyed, whole);
      const count = `${path.join('_')}_count`;

      const seen = async (sent: unknown): Promise<unknown> => {
        const { receipt } = await loader.take(name, request, [changed(whole, path, sent)]);
        expect(receipt.received).toBe(1);
        const root = await loader.row(own.table, whereOf(own.key, own.cells));
        const parentKey = table.parentKey.map(([child, key]) => [child, String(own.cells[key]?.value)]);
        return { count: root[count], rows: (await loader.rows(table.name, Object.fromEntries(parentKey))).length };
      };
      expect(await seen(elements)).toEqual({ count: '3', rows: 3 });
      expect(await seen(elements.slice(0, 1))).toEqual({ count: '1', rows: 1 });
      expect(await seen(null)).toEqual({ count: '1', rows: 1 });
      expect(await seen(undefined)).toEqual({ count: '1', rows: 1 });
      expect(await seen([])).toEqual({ count: '0', rows: 0 });
      expect(await seen(null)).toEqual({ count: '0', rows: 0 });
      expect(await seen(elements.toReversed())).toEqual({ count: '3', rows: 3 });
    });

    it.each(isFull ? cases : [])('%s: null or absent from the start gives no row and a null count', async (_, path) => {
      const loader = await fixture.loader();
      for (const sent of [null, undefined]) {
        const entity = fixture.entity();
        const { request, keyed } = questionOf(endpoint, entity);
        const item = changed(sampleItem(endpoint.returns, { entity }), path, sent);
        const own = ownRow(endpoint, keyed, item);
        const before = withoutHistory(await loader.versions());
        await loader.take(name, request, [item]);
        expect(await loader.row(own.table, whereOf(own.key, own.cells))).toMatchObject({
          [`${path.join('_')}_count`]: null,
        });
        expect(withoutHistory(await loader.versions()).length - before.length).toBe(
          expectedRows(endpoint, keyed, item).length,
        );
      }
    });
  });
}

/** The child table is the one that loses rows when the list is empty. */
function childTableOf(endpoint: Endpoint, full: readonly ExpectedRow[], without: readonly ExpectedRow[]) {
  const { key, noun, table } = endpoint.returns;
  const namesOf = (rows: readonly ExpectedRow[]): string[] =>
    rows.filter((it) => it.detail === undefined && it.table !== table).map((it) => it.table);
  const remaining = namesOf(without);
  const name = namesOf(full).find(
    (it) => remaining.filter((other) => other === it).length < namesOf(full).filter((other) => other === it).length,
  );
  if (name === undefined) throw new Error('no child table');
  return {
    name,
    parentKey: key.map((part) => [part.startsWith(`${noun}_`) ? part : `${noun}_${part}`, part] as const),
  };
}
