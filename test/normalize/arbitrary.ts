/** Arbitrary answers: any bytes, any JSON, and valid samples in which anything has gone wrong. */
import * as fc from 'fast-check';
import { catalog } from '../../src/service/catalog.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Resource } from '../../src/service/model.ts';
import { type Item, sampleItem } from '../support/sample.ts';

/** A text that is recognized where it is stored; it may contain anything, also characters that no database accepts. */
const text = fc
  .tuple(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('', '\0', '\ud800', '\udc00\ud800', '\\u0000', '\ufeff', "'", '"', '\\', '{}'),
    fc.nat(0xfffff),
  )
  .map(([any, odd, number]) => `~${any}${odd}${number.toString(36)}`);

const oddScalar = fc.constantFrom<unknown>(
  '',
  '1',
  '007',
  '-0',
  '1e3',
  'true',
  '2024-02-30',
  '2024-01-31',
  0,
  -1,
  0.1,
  1e21,
  2 ** 53,
  1_700_000_000,
  1_700_000_000_000,
  true,
  false,
  null,
);

/** Any JSON value. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    oddScalar,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value;

const endpoint: fc.Arbitrary<Endpoint> = fc.constantFrom(...catalog);

/** An answer to an endpoint; several speak of the same few entities. */
export interface Answered {
  readonly endpoint: Endpoint;
  readonly entity: number;
  readonly items: unknown;
}

/** Any JSON at all, and objects with the right names and any JSON in them. */
export const anyAnswer: fc.Arbitrary<Answered> = endpoint.chain((it) => {
  const names = Object.keys(it.returns.fields);
  const known = fc.dictionary(fc.constantFrom(...names, '@type', 'unheard_of'), anyJson, { maxKeys: 8 });
  const named = fc
    .tuple(known, fc.option(fc.nat(3)))
    .map(([item, entity]) => (entity === null ? item : { ...item, ...keyFieldsOf(it.returns, entity) }));
  return fc.record({
    endpoint: fc.constant(it),
    entity: fc.nat(3),
    items: fc.oneof(anyJson, named, fc.array(fc.oneof(named, anyJson), { maxLength: 4 })),
  });
});

/** The fields by which a sample of this entity is known. */
const keyFieldsOf = (resource: Resource, entity: number): Item =>
  Object.fromEntries(
    Object.entries(sampleItem(resource, { entity })).filter(([name]) =>
      resource.key.some((key) => key === name || key.startsWith(`${name}_`)),
    ),
  );

interface Mutation {
  readonly at: number;
  readonly to: { readonly value: unknown } | 'removed' | 'doubled' | 'wrapped' | 'text';
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  to: fc.oneof(
    anyJson.map((value) => ({ value })),
    fc.constantFrom('removed' as const, 'doubled' as const, 'wrapped' as const, 'text' as const),
  ),
});

/** One to three valid items of this endpoint, in each of which anything may have been changed. */
export const mutatedAnswerOf = (it: Endpoint): fc.Arbitrary<Answered> =>
  fc.record({
    endpoint: fc.constant(it),
    entity: fc.nat(3),
    items: fc.array(
      fc
        .tuple(
          fc.record({
            entity: fc.nat(3),
            version: fc.nat(3),
            fleeting: fc.nat(1),
            size: fc.nat(2),
            acquainted: fc.boolean(),
          }),
          fc.array(mutation, { maxLength: 6 }),
        )
        .map(([options, mutations]) => mutations.reduce(mutated, sampleItem(it.returns, options) as unknown)),
      { minLength: 1, maxLength: 3 },
    ),
  });

/** The same of any endpoint. */
export const mutatedAnswer: fc.Arbitrary<Answered> = endpoint.chain(mutatedAnswerOf);

type Path = readonly (string | number)[];

const pathsOf = (value: unknown, path: Path = []): Path[] => {
  if (value === null || typeof value !== 'object') return [path];
  const inner = Array.isArray(value) ? value.map((it, index) => [index, it] as const) : Object.entries(value);
  return [path, ...inner.flatMap(([name, it]) => pathsOf(it, [...path, name]))];
};

function mutated(item: unknown, { at, to }: Mutation): unknown {
  const paths = pathsOf(item);
  return replaced(item, paths[at % paths.length] ?? [], to);
}

function replaced(value: unknown, [step, ...rest]: Path, to: Mutation['to']): unknown {
  if (step === undefined) return outcome(value, to);
  const isEnd = rest.length === 0;
  if (Array.isArray(value)) {
    const list = value as unknown[];
    return list.flatMap((it, index) => {
      if (index !== step) return [it];
      if (isEnd && to === 'removed') return [];
      return isEnd && to === 'doubled' ? [it, it] : [replaced(it, rest, to)];
    });
  }
  const { [String(step)]: inner, ...others } = value as Item;
  return isEnd && to === 'removed' ? others : { ...others, [step]: replaced(inner, rest, to) };
}

function outcome(value: unknown, to: Mutation['to']): unknown {
  if (typeof to === 'object') return to.value;
  if (to === 'wrapped') return [value];
  return to === 'text' ? JSON.stringify(value) : value;
}
