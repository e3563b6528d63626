/** The shapes that a price can have, and which of them the samples of a request log bear out. Pure. */
import type { Price } from '../../service/endpoint.ts';

/** One request of the service's log, as far as it teaches a price. */
export interface PriceSample {
  /** The most items that were asked for; undefined when it is not known which request this was, or it had no limit. */
  readonly asked: number | undefined;
  /** Items in the answer; undefined when the log does not say. */
  readonly returned: number | undefined;
  /** `missing`: the service knows no such entity. `failed`: charged without an answer. */
  readonly outcome: 'answered' | 'missing' | 'failed';
  /** Points that were charged. */
  readonly points: number;
  /** The sync that the price is learned for sent it. */
  readonly isOwn?: boolean;
}

/** A price for each call, or for each started unit of the items returned or asked for. */
export interface PriceModel {
  readonly by: 'call' | 'returned' | 'asked';
  /** Items in a unit. */
  readonly per: number;
  /** Points for a unit: the median. */
  readonly points: number;
  /** The most points for a unit among the samples that fit. */
  readonly maxPoints: number;
}

/** Counts that a price may depend on. */
export type Counts = Pick<PriceSample, 'asked' | 'returned'>;

/** The units that a call is charged for; undefined when the count that they are counted by is not known. */
export function unitsOf({ by, per }: Pick<PriceModel, 'by' | 'per'>, counts: Counts): number | undefined {
  if (by === 'call') return 1;
  const items = counts[by];
  return items === undefined ? undefined : Math.max(1, Math.ceil(items / per));
}

/** The shape of a price that was guessed. */
export const guessedModel = ({ points, per }: Price): PriceModel => ({
  by: per === undefined ? 'call' : 'returned',
  per: per ?? 1,
  points,
  maxPoints: points,
});

/** How far off the shape a sample may be. */
const TOLERANCE = 0.1;

/** Whether a sample costs what the shape says, give or take a tenth. */
export function fitsSample(shape: PriceModel, sample: PriceSample): boolean {
  const units = unitsOf(shape, sample);
  return units !== undefined && isNear(sample.points, shape.points * units);
}

const isNear = (points: number, expected: number): boolean =>
  Math.abs(points - expected) <= TOLERANCE * expected + TINY;
const TINY = 1e-9;

export interface FittedModel {
  /** The shape to reckon with. */
  readonly model: PriceModel;
  /** All shapes that the samples bear out as well, this one included. */
  readonly alternatives: readonly PriceModel[];
  /** Share of the samples that fit, 0 to 1. */
  readonly share: number;
}

/**
 * The shape that most samples fit; undefined without samples. Of shapes that fit alike, the guess's comes first: a guess
 * that the samples bear out has no rivals, or a few small answers would let any price be true of large ones.
 */
export function fitModels(guess: Price, samples: readonly PriceSample[]): FittedModel | undefined {
  const tallies = tallied(samples);
  const guessed = guessedModel(guess);
  const candidates = [guessed, ...CANDIDATES.filter(({ by, per }) => by !== guessed.by || per !== guessed.per)];
  const fitted = candidates.flatMap((candidate) => fitOf(candidate, tallies) ?? []);
  const near = bestOf(fitted, ({ share }) => share);
  const exact = bestOf(near, (it) => it.exact);
  const [first] = exact;
  if (!first) return undefined;
  const isGuess = ({ shape }: Fit): boolean => shape.by === guessed.by && shape.per === guessed.per;
  // A guess that nothing can be said of is not refuted.
  const rivals = [...exact.map(({ shape }) => shape), ...(fitted.some(isGuess) ? [] : [guessed])];
  return { model: first.shape, alternatives: isGuess(first) ? [first.shape] : rivals, share: first.share };
}

/** One row in two hundred that is odd does not choose the shape. */
const SLACK = 0.005;

function bestOf<T>(all: readonly T[], share: (it: T) => number): T[] {
  const best = Math.max(0, ...all.map(share));
  return all.filter((it) => share(it) >= best - SLACK);
}

/** Usual sizes of a unit before others, so that of several that fit the likely one is taken. */
const UNITS = [...new Set([10, 12, 20, 25, 50, 100, 5, 1, ...upTo(100), 150, 200, 250, 300, 400, 500, 1000])];
const CANDIDATES: readonly Pick<PriceModel, 'by' | 'per'>[] = [
  { by: 'call', per: 1 },
  ...UNITS.map((per) => ({ by: 'returned' as const, per })),
  ...UNITS.map((per) => ({ by: 'asked' as const, per })),
];

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1);
}

/** Samples that are alike, counted: there are few kinds of them among thousands. */
interface Tally extends PriceSample {
  readonly times: number;
}

function tallied(samples: readonly PriceSample[]): Tally[] {
  const found = new Map<string, { sample: PriceSample; times: number }>();
  for (const sample of samples) {
    const key = `${sample.asked} ${sample.returned} ${sample.points}`;
    const same = found.get(key);
    if (same) same.times += 1;
    else found.set(key, { sample, times: 1 });
  }
  return [...found.values()].map(({ sample, times }) => ({ ...sample, times }));
}

interface Fit {
  readonly shape: PriceModel;
  /** Share of samples within the tolerance, and share that agrees to the point. */
  readonly share: number;
  readonly exact: number;
}

/** Samples of which the count is known that a shape is judged by, at the least. */
const LEAST_JUDGED = 3;

function fitOf(candidate: Pick<PriceModel, 'by' | 'per'>, tallies: readonly Tally[]): Fit | undefined {
  const judged = tallies.flatMap((it) => {
    const units = unitsOf(candidate, it);
    return units === undefined ? [] : [{ units, points: it.points, times: it.times }];
  });
  const known = sum(judged, ({ times }) => times);
  // What was asked is known of the ledger's own requests alone; what came back, the log tells of all or of none.
  const due = candidate.by === 'asked' ? LEAST_JUDGED : sum(tallies, ({ times }) => times) / 2;
  if (known === 0 || known < due) return undefined;
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

/** Rows that cost too little for a price by the items asked for: at least what came back was asked. */
const tooCheap = (per: number, points: number, tallies: readonly Tally[]): Tally[] =>
  tallies.filter(({ asked, returned, points: paid }) => {
    const least = asked === undefined && returned !== undefined ? points * Math.max(1, Math.ceil(returned / per)) : 0;
    return paid < least && !isNear(paid, least);
  });

const sum = <T>(all: readonly T[], of: (it: T) => number): number => all.reduce((total, it) => total + of(it), 0);

/** A value and how often it was seen. */
export interface Weighted {
  readonly value: number;
  readonly times: number;
}

/** The value that this share of all lies at or below; 0 of nothing. */
export function quantile(all: readonly Weighted[], share: number): number {
  const rising = all.toSorted((a, b) => a.value - b.value);
  const due = share * sum(rising, ({ times }) => times);
  let seen = 0;
  for (const { value, times } of rising) {
    seen += times;
    if (seen >= due) return value;
  }
  return rising.at(-1)?.value ?? 0;
}

/** The value in the middle; of two, the smaller. */
export const median = (all: readonly Weighted[]): number => quantile(all, 0.5);

/** The mean; of nothing it is no number. */
export const averageOf = (all: readonly Weighted[]): number =>
  sum(all, ({ value, times }) => value * times) / sum(all, ({ times }) => times);
