/** Fields that the contract promises, in turn missing, null and of a wrong type; and keys, without which nothing loads. */
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/service/endpoint.ts';
import { sampleItem } from '../../support/sample.ts';
import { shapesOf } from '../../support/loading.ts';
import { ownRow } from '../expected-rows.ts';
import {
  changed,
  contentOf,
  endpoints,
  type FieldAt,
  fieldsOf,
  type Fixture,
  isOfKey,
  questionOf,
  whereOf,
} from '../fixture.ts';

const requiredOf = (endpoint: Endpoint): FieldAt[] =>
  fieldsOf(endpoint.returns.fields).filter(({ field, path }) => field.required && !isOfKey(endpoint.returns.key, path));

const keyFieldsOf = (endpoint: Endpoint): FieldAt[] =>
  fieldsOf(endpoint.returns.fields).filter(
    ({ field, path }) => field.shape === 'scalar' && isOfKey(endpoint.returns.key, path),
  );

/** What is sent instead, by what it counts as. */
const faultsOf = ({
  field,
}: FieldAt): { readonly sent: unknown; readonly kind: string; readonly sampleType: string }[] => [
  { sent: undefined, kind: 'missing', sampleType: 'absent' },
  { sent: null, kind: 'wrong type', sampleType: 'null' },
  field.shape === 'object'
    ? { sent: 'no object at all', kind: 'wrong type', sampleType: 'string' }
    : { sent: { no: 'scalar' }, kind: 'wrong type', sampleType: 'object' },
];

const nested = ([name, ...rest]: readonly string[], value: unknown): unknown =>
  name === undefined ? value : { [name]: nested(rest, value) };

export function requiredSuite(fixture: Fixture): void {
  describe.each(endpoints.filter(([, endpoint]) => requiredOf(endpoint).length > 0))('%s', (name, endpoint) => {
    const cases = requiredOf(endpoint).flatMap((at) =>
      faultsOf(at).map((fault) => [at.path.join('.'), fault.sampleType, at, fault] as const),
    );

    it.each(cases)(
      '%s is %s: it loads as null, what was sent is kept and counted',
      async (_, __, { path, field }, { sent, kind, sampleType }) => {
        const loader = await fixture.loader();
        const entity = fixture.entity();
        const { request, keyed } = questionOf(endpoint, entity);
        const item = sampleItem(endpoint.returns, { entity });
        const { batch, receipt } = await loader.take(name, request, [changed(item, path, sent)]);
        expect(receipt).toMatchObject({ received: 1, loaded: 1, quarantined: 0 });
        expect(batch.drift).toContainEqual({
          resource: endpoint.returns.name,
          path: path.join('.'),
          kind,
          count: 1,
          sampleType,
        });

        const own = ownRow(endpoint, keyed, item);
        const found = await loader.row(own.table, whereOf(own.key, own.cells));
        const types = new Map(
          (await shapesOf(loader.warehouse.db)).get(own.table)?.columns.map((it) => [it.name, it.type]),
        );
        const prefix = path.join('_');
        const isIts = (column: string): boolean =>
          column === prefix || (field.shape === 'object' && column.startsWith(`${prefix}_`));
        const values = Object.entries(own.cells).map(([column, { value }]) => [column, isIts(column) ? null : value]);
        expect(contentOf(found, types)).toEqual({
          ...Object.fromEntries(values),
          extra: sent === undefined ? null : nested(path, sent),
        });
      },
    );
  });

  describe.each(endpoints.filter(([, endpoint]) => keyFieldsOf(endpoint).length > 0))('%s', (name, endpoint) => {
    const cases = keyFieldsOf(endpoint).flatMap(({ path }) =>
      ([undefined, null, '', { no: 'scalar' }] as const).map(
        (sent) => [path.join('.'), JSON.stringify(sent) ?? 'absent', path, sent] as const,
      ),
    );

    it.each(cases)(
      'its key field %s is %s: quarantined with place and reason, the others load',
      async (_, __, path, sent) => {
        const loader = await fixture.loader();
        const [entity, other, last] = [fixture.entity(), fixture.entity(), fixture.entity()];
        const { request } = questionOf(endpoint, entity);
        const bad = changed(sampleItem(endpoint.returns, { entity }), path, sent);
        const good = [other, last].map((it) => sampleItem(endpoint.returns, { entity: it }));
        const { batch, receipt } = await loader.take(name, request, [good[0], bad, good[1]]);
        expect(receipt).toMatchObject({ received: 3, loaded: 2, quarantined: 1 });
        expect(batch.rejects).toEqual([
          { position: 1, pointer: '/1', reason: expect.stringContaining(path.join('_')) },
        ]);
      },
    );
  });

  it.each(endpoints)(
    '%s: an element that is no item is quarantined with place and reason, the others load',
    async (name, endpoint) => {
      const loader = await fixture.loader();
      const entity = fixture.entity();
      const { request } = questionOf(endpoint, entity);
      const odd = [null, 'x', 7, true, [], {}, { error: 'not found' }];
      const { batch, receipt } = await loader.take(name, request, [...odd, sampleItem(endpoint.returns, { entity })]);
      expect(receipt).toMatchObject({ received: odd.length + 1, loaded: 1, quarantined: odd.length });
      expect(batch.rejects).toEqual(
        odd.map((_, position) => ({
          position,
          pointer: `/${position}`,
          reason: expect.stringContaining(endpoint.returns.name),
        })),
      );
    },
  );
}
