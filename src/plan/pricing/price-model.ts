/** The models that a price can have, and which of them the samples of a request log support. Pure. */
import type { Price } from '../../service/endpoint.ts';

/** One request of the service's log, reduced to what shows its price. */
export interface PriceSample {
  /** The requested count; undefined if the request is unknown or had no limit. */
  readonly asked: number | undefined;
  /** Items in the answer; undefined if the log does not contain it. */
  readonly returned: number | undefined;
  /** `missing`: the service knows no such entity. `failed`: charged without an answer. */
  readonly outcome: 'answered' | 'missing' | 'failed';
  /** Points that were charged. */
  readonly points: number;
  /** True if the sync whose prices are learned sent it. */
  readonly isOwn?: boolean;
}

/** A price per call, or per started unit of returned or requested items. */
export interface PriceModel {
  readonly by: 'call' | 'returned' | 'asked';
  /** Items in a unit. */
  readonly per: number;
  /** Points for a unit: the median. */
  readonly points: number;
  /** The most points for a unit among the samples that fit. */
  readonly maxPoints: number;
}

/** The counts that a price may depend on. */
export type Counts = Pick<PriceSample, 'asked' | 'returned'>;

/** The number of charged units of a call; undefined if the count that they depend on is unknown. */
export function unitsOf({ by, per }: Pick<PriceModel, 'by' | 'per'>, counts: Counts): number | undefined {
  if (by === 'call') return 1;
  const items = counts[by];
  return items === undefined ? undefined : Math.max(1, Math.ceil(items / per));
}

/** The model of a guessed price. */
export const guessedModel = ({ points, per }: Price): PriceModel => ({
  by: per === undefined ? 'call' : 'returned',
  per: per ?? 1,
  points,
  maxPoints: points,
});

/** The allowed relative difference between a sample and a model. */
const TOLERANCE = 0.1;

/** True if the sample costs what the model says, within 10%. */
export function fitsSample(model: PriceModel, sample: PriceSample): boolean {
  const units = unitsOf(model, sample);
  return units !== undefined && isNear(sample.points, model.points * units);
}

const isNear = (points: number, expected: number): boolean =>
  Math.abs(points - expected) <= TOLERANCE * expected + TINY;
const TINY = 1e-9;

export interface FittedModel {
  /** The model to use. */
  readonly model: PriceModel;
  /** All models that the samples support equally, including `model`. */
  readonly alternatives: readonly PriceModel[];
  /** The share of samples that fit, 0 to 1. */
  readonly share: number;
}

/**
 * The model that most samples fit; undefined without samples. Among equal models, the guess comes first. A guess that
 * the samples confirm has no alternatives: otherwise a few small answers would allow any price for large ones.
 */
export function fitModels(guess: Price, samples: readonly PriceSample[]): FittedModel | undefined {
  const tallies = tally(samples);
  const guessed = guessedModel(guess);
  const candidates = [guessed, ...CANDIDATES.filter(({ by, per }) => by !== guessed.by || per !== guessed.per)];
  const fitted = candidates.flatMap((candidate) => fitOf(candidate, tallies) ?? []);
  const near = bestOf(fitted, ({ share }) => share);
  const exact = bestOf(near, (it) => it.exact);
  const [first] = exact;
  if (!first) return undefined;
  const isGuess = ({ shape }: Fit): boolean => shape.by === guessed.by && shape.per === guessed.per;
  // A guess that no sample can test is not refuted.
  const rivals = [...exact.map(({ shape }) => shape), ...(fitted.some(isGuess) ? [] : [guessed])];
  return { model: first.shape, alternatives: isGuess(first) ? [first.shape] : rivals, share: first.share };
}

/** One unusual row in two hundred does not decide the model. */
const SLACK = 0.005;

function bestOf<T>(all: readonly T[], share: (it: T) => number): T[] {
  const best = Math.max(0, ...all.map(share));
  return all.filter((it) => share(it) >= best - SLACK);
}

/** Common sizes of a unit come first, so that the most likely one wins among several that fit. */
const UNITS = [...new Set([10, 12, 20, 25, 50, 100, 5, 1, ...upTo(100), 150, 200, 250, 300, 400, 500, 1000])];
const CANDIDATES: readonly Pick<PriceModel, 'by' | 'per'>[] = [
  { by: 'call', per: 1 },
  ...UNITS.map((per) => ({ by: 'returned' as const, per })),
  ...UNITS.map((per) => ({ by: 'asked' as const, per })),
];

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** Equal samples, counted: thousands of samples have few distinct values. */
interface Tally extends PriceSample {
  readonly times: number;
}

function tally(samples: readonly PriceSample[]): Tally[] {
  const equal = Map.groupBy(samples, ({ asked, returned, points }) => `${asked} ${returned} ${points}`);
  return [...equal.values()].flatMap(([first, ...others]) => (first ? { ...first, times: 1 + others.length } : []));
}

interface Fit {
  readonly shape: PriceModel;
  /** The share of samples within the tolerance, and the share that matches exactly. */
  readonly share: number;
  readonly exact: number;
}

/** The minimum number of samples with a known count to evaluate a model. */
const LEAST_JUDGED = 3;

function fitOf(candidate: Pick<PriceModel, 'by' | 'per'>, tallies: readonly Tally[]): Fit | undefined {
  const judged = tallies.flatMap((it) => {
    const units = unitsOf(candidate, it);
    return units === undefined ? [] : [{ units, points: it.points, times: it.times }];
  });
  const known = sum(judged, ({ times }) => times);
  // The requested count is known only for requests in the ledger. The returned count is in all rows of the log or in
  // none.
  const required = candidate.by === 'asked' ? LEAST_JUDGED : sum(tallies, ({ times }) => times) / 2;
  if (known === 0 || known < required) return undefined;
  const points = median(judged.map((it) => ({ value: it.points / it.units, times: it.times })));
  const near = judged.filter((it) => isNear(it.points, points * it.units));
  const exact = near.filter((it) => Math.abs(it.points - points * it.units) < TINY * (1 + it.points));
  const all = known + (candidate.by === 'asked' ? sum(tooCheap(candidate.per, points, tallies), (it) => it.times) : 0);
  return {
    shape: { ...candidate, points, maxPoints: Math.max(points, ...near.map((it) => it.points / it.units)) },
    share: sum(near, ({ times }) => times) / all,
    exact: sum(exact, ({ times }) => times) / all,
  };
}

/** Rows that cost too little for a price by requested items: at least the returned items were requested. */
const tooCheap = (per: number, points: number, tallies: readonly Tally[]): Tally[] =>
  tallies.filter(({ asked, returned, points: paid }) => {
    const least = asked === undefined && returned !== undefined ? points * Math.max(1, Math.ceil(returned / per)) : 0;
    return paid < least && !isNear(paid, least);
  });

const sum = <T>(all: readonly T[], valueOf: (it: T) => number): number =>
  all.reduce((total, it) => total + valueOf(it), 0);

/** A value and how often it occurred. */
export interface Weighted {
  readonly value: number;
  readonly times: number;
}

/** The smallest value that at least this share of all values do not exceed; 0 without values. */
export function quantile(all: readonly Weighted[], share: number): number {
  const rising = all.toSorted((a, b) => a.value - b.value);
  const rank = share * sum(rising, ({ times }) => times);
  let seen = 0;
  for (const { value, times } of rising) {
    seen += times;
    if (seen >= rank) return value;
  }
  return rising.at(-1)?.value ?? 0;
}

/** The median; the smaller one of two middle values. */
export const median = (all: readonly Weighted[]): number => quantile(all, 0.5);

/** The mean; NaN without values. */
export const averageOf = (all: readonly Weighted[]): number =>
  sum(all, ({ value, times }) => value * times) / sum(all, ({ times }) => times);
