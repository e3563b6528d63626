/** Splits a question by the values of a list field. Used if its answer is full and its days cannot be split. */
import type { RequestBody } from '../request-body.ts';
import { canonicalJson } from '../canonical-json.ts';
import type { Mix } from './mix.ts';

/** The values of each list field that a sync allows for splitting. Each value gives a narrower request. */
export type SplitBy = Readonly<Record<string, readonly unknown[]>>;

export interface FacetSplit {
  readonly field: string;
  readonly requests: readonly RequestBody[];
  /** The parts together hold all items of the question. */
  readonly complete: boolean;
}

/** What decides which values share a part. */
export interface SplitEstimate {
  readonly mix: Mix;
  /** The expected number of items of the question. */
  readonly predicted: number;
  /** The most items of an answer. */
  readonly count: number;
  /** Items of the question's answer; empty if it was not requested. */
  readonly sample: readonly unknown[];
}

/**
 * The possible splits of a question, in the order of the facets. A field that has split it already is left out. With an
 * estimate, values share a part as long as it has room; without, each value is a part.
 */
export function facetSplits(
  request: RequestBody,
  splitBy: SplitBy,
  remainder: string | undefined,
  estimate?: SplitEstimate,
): FacetSplit[] {
  return Object.entries(splitBy).flatMap(([field, values]) => {
    const requested = Array.isArray(request[field]) ? (request[field] as readonly unknown[]) : [];
    const hasRemainder = field === remainder;
    const excluded = hasRemainder ? requested.filter(isExclusion) : [];
    const wanted = distinct(requested.filter((value) => !excluded.includes(value)));
    // With one value left, or with exclusions of all values, this slice was already split by this field.
    if (wanted.length === 1) return [];
    const open = distinct(values).filter((value) => !excluded.includes(exclusionOf(value)));
    const parts = wanted.length === 0 ? open : wanted;
    if (parts.length === 0) return [];
    // One more part requests all other values.
    const hasRest = hasRemainder && wanted.length === 0;
    const groups = estimate
      ? grouped(field, parts, hasRest, estimate)
      : [...parts.map((value) => [value]), ...(hasRest ? [[REST]] : [])];
    const partOf = (group: readonly unknown[]): RequestBody => {
      if (!group.includes(REST)) return { ...request, [field]: [...group, ...excluded] };
      const elsewhere = parts.filter((value) => !group.includes(value));
      return { ...request, [field]: [...excluded, ...elsewhere.map(exclusionOf)] };
    };
    return [{ field, requests: groups.map(partOf), complete: hasRemainder || wanted.length > 0 }];
  });
}

/** Represents all values that are not named. */
const REST = Symbol('rest');

/** How full a part may get by the observed shares, which are less certain than the total. */
const ROOM = 0.77;

/**
 * Values grouped into at least two parts: each value, largest first, goes to the emptiest part, with more parts until
 * all fit.
 */
function grouped(field: string, values: readonly unknown[], rest: boolean, estimate: SplitEstimate): unknown[][] {
  const shares = estimate.mix.sharesOf(field, values, estimate.sample);
  const sized = [
    ...values.map((value, index) => ({ value, items: (shares.values[index] ?? 0) * estimate.predicted })),
    ...(rest ? [{ value: REST as unknown, items: shares.rest * estimate.predicted }] : []),
  ].toSorted((a, b) => b.items - a.items);
  const capacity = estimate.count * ROOM;
  const separate = values.filter((value) => values.some((other) => isKindOf(value, other) || isKindOf(other, value)));
  const fewest = Math.max(2, Math.ceil(estimate.predicted / estimate.count));
  for (let n = Math.min(fewest, sized.length); n < sized.length; n++) {
    const parts = filledParts(sized, n, separate);
    if (parts?.every((part) => part.items <= capacity || part.values.length === 1)) return parts.map((it) => it.values);
  }
  return sized.map(({ value }) => [value]);
}

interface Part {
  items: number;
  readonly values: unknown[];
}

/** Undefined if a value that must not share a part with the rest has no part. */
function filledParts(
  sized: readonly { readonly value: unknown; readonly items: number }[],
  n: number,
  separate: readonly unknown[],
): Part[] | undefined {
  const parts = Array.from({ length: n }, (): Part => ({ items: 0, values: [] }));
  for (const { value, items } of sized) {
    const [least] = parts
      .filter(({ values }) =>
        value === REST
          ? !values.some((it) => separate.includes(it))
          : !(separate.includes(value) && values.includes(REST)),
      )
      .toSorted((a, b) => a.items - b.items);
    if (!least) return undefined;
    least.items += items;
    least.values.push(value);
  }
  return parts.every(({ values }) => values.length > 0) ? parts : undefined;
}

/**
 * True if the form amends the other. The rest never separates the two: a service may also exclude 10-K/A with -10-K, or
 * may not include it with 10-K.
 */
const isKindOf = (value: unknown, other: unknown): boolean =>
  typeof value === 'string' && typeof other === 'string' && value.startsWith(`${other}/`);

const distinct = (values: readonly unknown[]): unknown[] => [
  ...new Map(values.map((value) => [canonicalJson(value), value])).values(),
];
const exclusionOf = (value: unknown): string => `-${String(value)}`;
const isExclusion = (value: unknown): boolean => typeof value === 'string' && value.startsWith('-');
