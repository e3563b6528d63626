/** Arbitrary sequences of answers that keep speaking of the same few entities, sets and questions. */
import * as fc from 'fast-check';
import type { LoadItem } from '../../src/load/merge/receipt-builder.ts';
import { normalize, rejectedWhole } from '../../src/normalize/normalize.ts';
import { catalog } from '../../src/service/catalog.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import { mutatedAnswerOf } from '../normalize/arbitrary.ts';
import { askedOf, contextOf } from '../support/loading.ts';
import { fullRequest } from '../support/requests.ts';
import { sampleItem } from '../support/sample.ts';

/** An answer with its rows, as it is loaded; `bytes` count as nothing here. */
export interface Step extends LoadItem {
  readonly bytes: number;
}

/** An answer that differs from others only in the values drawn here. */
const sampled = (endpoint: Endpoint) =>
  fc
    .record({
      about: fc.array(fc.nat(2), { maxLength: 3 }),
      version: fc.nat(2),
      fleeting: fc.nat(1),
      size: fc.nat(2),
      acquainted: fc.boolean(),
      asked: fc.nat(1),
    })
    .map(({ about, asked, ...more }) => ({
      endpoint,
      entity: asked,
      items: about.map((entity) => sampleItem(endpoint.returns, { entity, ...more })) as unknown,
    }));

const answerOf = (endpoint: Endpoint) =>
  fc.record({
    answered: fc.oneof({ weight: 3, arbitrary: sampled(endpoint) }, mutatedAnswerOf(endpoint)),
    /** A `count` as small as this makes the answer full, so that it completes nothing. */
    most: fc.constantFrom(undefined, undefined, 1),
    switches: fc.constantFrom(true, true, false),
    isMissing: fc.constantFrom(false, false, false, false, true),
    /** How far behind the newest it was stored. */
    behind: fc.constantFrom(0, 0, 0, 0, 1, 3),
    /** It is loaded twice. */
    isDouble: fc.constantFrom(false, false, false, true),
    sync: fc.constantFrom('one', 'another'),
  });

/** Up to a dozen answers of one to three endpoints, in the order in which they are loaded. */
export const anySequence: fc.Arbitrary<readonly Step[]> = fc
  .uniqueArray(fc.constantFrom(...catalog), { minLength: 1, maxLength: 3 })
  .chain((endpoints) => fc.array(fc.oneof(...endpoints.map(answerOf)), { minLength: 2, maxLength: 12 }))
  .map((answers) =>
    answers.flatMap(({ answered, most, switches, isMissing, behind, isDouble, sync }, at): Step[] => {
      const { endpoint, entity, items } = answered;
      const full = fullRequest(endpoint, entity);
      const request = Object.fromEntries(
        Object.entries(full).map(([name, value]) => {
          if (name === 'count') return [name, most ?? value];
          return [name, value === true ? switches : value];
        }),
      );
      const batch = isMissing
        ? { ...rejectedWhole(''), received: 0, rejects: [] }
        : normalize(endpoint, askedOf(endpoint.name, request, sync), Buffer.from(JSON.stringify(items)));
      const step = { batch, context: contextOf(10 + at * 2 - behind * 3), bytes: 1 };
      return isDouble ? [step, step] : [step];
    }),
  );
