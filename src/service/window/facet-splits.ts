/** The parts of a question by the values of a list field: what a full answer is asked again by when its days can't be cut. */
import type { RequestBody } from '../request-body.ts';
import { canonicalJson } from '../canonical-json.ts';
import type { Mix } from './mix.ts';

/** What a sync allows when an answer is full: values by list field, each a narrower question. */
export type SplitBy = Readonly<Record<string, readonly unknown[]>>;

export interface FacetSplit {
  readonly field: string;
  readonly requests: readonly RequestBody[];
  /** The parts together hold all that the question does. */
  readonly complete: boolean;
}

/** What decides how values share a part. */
export interface SplitEstimate {
  readonly mix: Mix;
  /** Items that the question is likely to hold. */
  readonly predicted: number;
  /** Most items of an answer. */
  readonly count: number;
  /** Items of the question at hand; none when it was not asked. */
  readonly sample: readonly unknown[];
}

/** Form filters exclude with a minus sign, so what the named forms leave over is a question of its own. */
const REMAINDER_FIELD = 'forms';

/**
 * The divisions that a question allows, in the order of the facets. With a filling, values share a part as long as it has
 * room; without, each value is a part.
 */
export function facetSplits(request: RequestBody, splitBy: SplitBy, filling?: SplitEstimate): FacetSplit[] {
  return Object.entries(splitBy).flatMap(([field, values]) => divisionOf(request, field, values, filling) ?? []);
}

function divisionOf(
  request: RequestBody,
  field: string,
  values: readonly unknown[],
  filling: SplitEstimate | undefined,
): FacetSplit | undefined {
  const facet = facetOf(request, field, values);
  if (!facet) return undefined;
  const { cut, rest, excluded, complete } = facet;
  const groups = filling
    ? grouped(field, cut, rest, filling)
    : [...cut.map((value) => [value]), ...(rest ? [[REST]] : [])];
  const partOf = (group: readonly unknown[]): RequestBody => {
    if (!group.includes(REST)) return { ...request, [field]: [...group, ...excluded] };
    const elsewhere = cut.filter((value) => !group.includes(value));
    return { ...request, [field]: [...excluded, ...elsewhere.map(exclusionOf)] };
  };
  return { field, requests: groups.map(partOf), complete };
}

interface Facet {
  /** The values that a part may ask for. */
  readonly cut: readonly unknown[];
  /** One more part asks for all other values. */
  readonly rest: boolean;
  readonly excluded: readonly unknown[];
  readonly complete: boolean;
}

/** How a question may be split by one field; undefined when it may not, or was. */
function facetOf(request: RequestBody, field: string, values: readonly unknown[]): Facet | undefined {
  const asked = Array.isArray(request[field]) ? (request[field] as readonly unknown[]) : [];
  const isForms = field === REMAINDER_FIELD;
  const excluded = isForms ? asked.filter(isExclusion) : [];
  const wanted = distinct(asked.filter((value) => !excluded.includes(value)));
  // One value left, or exclusions that name every value already: this slice has been cut along this field.
  if (wanted.length === 1) return undefined;
  const open = distinct(values).filter((value) => !excluded.includes(exclusionOf(value)));
  const cut = wanted.length === 0 ? open : wanted;
  if (cut.length === 0) return undefined;
  const rest = isForms && wanted.length === 0;
  return { cut, rest, excluded, complete: isForms || wanted.length > 0 };
}

/** The facets that a question may be split by, in their order: the most parts of each, and whether these hold all it does. */
export function facetsOf(
  request: RequestBody,
  splitBy: SplitBy,
): { readonly parts: number; readonly complete: boolean }[] {
  return Object.entries(splitBy).flatMap(([field, values]) => {
    const facet = facetOf(request, field, values);
    return facet ? [{ parts: facet.cut.length + (facet.rest ? 1 : 0), complete: facet.complete }] : [];
  });
}

/** Stands for all values that are not named. */
const REST = Symbol('rest');

/** How full a part may be by the shares seen; these are less sure than the sum. */
const ROOM = 0.8;

/** Values that share a part, in at least two parts: each, the largest first, where there is least; more parts until all fit. */
function grouped(field: string, values: readonly unknown[], rest: boolean, filling: SplitEstimate): unknown[][] {
  const shares = filling.mix.sharesOf(field, values, filling.sample);
  const sized = [
    ...values.map((value, at) => ({ value, items: (shares.values[at] ?? 0) * filling.predicted })),
    ...(rest ? [{ value: REST as unknown, items: shares.rest * filling.predicted }] : []),
  ].toSorted((a, b) => b.items - a.items);
  const room = filling.count * ROOM;
  const apart = values.filter((value) => values.some((other) => isKindOf(value, other) || isKindOf(other, value)));
  const fewest = Math.max(2, Math.ceil(filling.predicted / room));
  for (let n = Math.min(fewest, sized.length); n < sized.length; n++) {
    const parts = filled(sized, n, apart);
    if (parts?.every((part) => part.items <= room || part.values.length === 1)) return parts.map((it) => it.values);
  }
  return sized.map(({ value }) => [value]);
}

interface Part {
  items: number;
  readonly values: unknown[];
}

/** Undefined when one of the values kept apart from the rest has no part to go to. */
function filled(
  sized: readonly { readonly value: unknown; readonly items: number }[],
  n: number,
  apart: readonly unknown[],
): Part[] | undefined {
  const parts = Array.from({ length: n }, (): Part => ({ items: 0, values: [] }));
  for (const { value, items } of sized) {
    const [least] = parts
      .filter(({ values }) =>
        value === REST ? !values.some((it) => apart.includes(it)) : !(apart.includes(value) && values.includes(REST)),
      )
      .toSorted((a, b) => a.items - b.items);
    if (!least) return undefined;
    least.items += items;
    least.values.push(value);
  }
  return parts.every(({ values }) => values.length > 0) ? parts : undefined;
}

/**
 * True of a form that amends another. The two are never on either side of the rest: a service may take -10-K to exclude
 * 10-K/A, and 10-K not to mean it.
 */
const isKindOf = (value: unknown, other: unknown): boolean =>
  typeof value === 'string' && typeof other === 'string' && value.startsWith(`${other}/`);

const distinct = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((value) => [canonicalJson(value), value])).values(),
];
const exclusionOf = (value: unknown): string => `-${String(value)}`;
const isExclusion = (value: unknown): boolean => typeof value === 'string' && value.startsWith('-');
