/**
 * What the calls of an endpoint cost: the guess until the request log teaches better. Pure: samples come in as values.
 *
 * - A guess holds, scaled to what is seen, as long as the samples bear out its shape; else the shape that fits best does
 *   (`price-shape.ts`). Where no shape fits, the costs seen of the most similar requests are told as they are.
 * - The most that a call can cost is never below what a request for as many items or fewer was seen to cost, and beyond
 *   what was seen it is the dearest of the shapes that the samples do not rule out. So it is safe, and as low as it can be.
 * - Samples from before a change of price count no more, once five in a row agree on another.
 */
import type { Price } from '../../service/endpoint.ts';
import { MIN_CHANGED_ROWS, MIN_FOLLOWING_SHARE, isPriced, sinceChange } from './price-change.ts';
import {
  averageOf,
  type Counts,
  fitModels,
  guessedModel,
  median,
  quantile,
  type PriceSample,
  type PriceModel,
  unitsOf,
} from './price-model.ts';

/** What an endpoint's calls cost, as far as it is known. */
export interface PriceBook {
  /** Absent when the samples follow none; then `levels` tell. */
  readonly model: PriceModel | undefined;
  /** The shapes that may be true as well, for the most that a call can cost. */
  readonly alternatives: readonly PriceModel[];
  /** Points for an answer without items, and for a request whose entity the service does not know; undefined until seen. */
  readonly empty: number | undefined;
  readonly missing: number | undefined;
  /** Share of requests whose entity the service does not know. */
  readonly missingShare: number;
  /** What was seen, by items asked for and returned. */
  readonly levels: readonly Level[];
  /** The most seen for requests of up to so many items, rising. */
  readonly maxima: readonly { readonly items: number; readonly points: number }[];
  /** How much answers cost more or less than said here, as a share: the standard deviation. */
  readonly deviation: number;
  /** Counts that this sync's answers had of late. */
  readonly recentCounts: readonly ReturnedCount[];
  /** Rows of the log that it was learned from. */
  readonly samples: number;
  /** Of these, answers with items: they alone tell what answers with items cost. */
  readonly priced: number;
  readonly sure: Confidence;
}

/** By guesses alone, by few rows of the log or rows that differ, or by at least 20 of which nine in ten agree. */
export type Confidence = 'guess' | 'some' | 'good';

/** What answers of one kind cost. */
export interface Level extends Counts {
  readonly samples: number;
  readonly median: number;
  readonly mean: number;
  /** A tenth of them cost less, and a tenth more. */
  readonly low: number;
  readonly high: number;
}

/** A count that answers had, and how often. */
export interface ReturnedCount extends Counts {
  readonly times: number;
}

/** Fewer are a guess still. */
const LEAST_SAMPLES = 3;
const GOOD_SAMPLES = 20;
/** A shape that fewer samples fit says less than the samples themselves. */
const LEAST_SHARE = 0.75;

/** The price book of one endpoint. Samples come newest first; `usual` is what the sync's own answers counted. */
export function learnPrices(
  guess: Price,
  samples: readonly PriceSample[],
  recentCounts: readonly ReturnedCount[] = [],
): PriceBook {
  const kept = sinceChange(guess, samples);
  const priced = kept.filter(isPriced);
  const answered = kept.filter(({ outcome }) => outcome === 'answered');
  const missing = kept.filter(({ outcome }) => outcome === 'missing');
  const known = answered.length + missing.length;
  const isGuess = priced.length < LEAST_SAMPLES;
  const fitted = isGuess ? undefined : fitModels(guess, priced);
  const follows = fitted !== undefined && fitted.share >= LEAST_SHARE;
  const model = isGuess ? raised(guessedModel(guess), priced) : follows ? fitted.model : undefined;
  // Syncs that ask for more of the same endpoint may take turns: what this one paid last is not taken for an old price.
  const own = samples.filter((it) => it.isOwn).slice(0, MIN_CHANGED_ROWS);
  const book: PriceBook = {
    model,
    alternatives: follows ? fitted.alternatives : model === undefined ? [] : [model],
    empty: usually(answered.filter(({ returned }) => returned === 0)),
    missing: usually(missing),
    missingShare: missing.length / Math.max(1, known),
    levels: levelsOf(answered),
    maxima: topsOf([...kept, ...own]),
    deviation: 0,
    recentCounts,
    samples: known,
    priced: priced.length,
    sure: isGuess ? 'guess' : 'some',
  };
  const judged = priced.filter((it) => model === undefined || unitsOf(model, it) !== undefined);
  const offs = judged.map((it) => offBy(it.points, expectedPointsOf(book, it)));
  const agree = offs.filter((off) => Math.abs(off) <= 0.1).length;
  const isGood = follows && known >= GOOD_SAMPLES && agree >= MIN_FOLLOWING_SHARE * judged.length;
  return { ...book, deviation: deviationOf(offs), sure: isGood ? 'good' : book.sure };
}

/** Too few samples lower no guess; what they cost more counts at once. */
function raised(guessed: PriceModel, samples: readonly PriceSample[]): PriceModel {
  const seen = samples.map((it) => it.points / (unitsOf(guessed, it) ?? Number.POSITIVE_INFINITY));
  const points = Math.max(guessed.points, ...seen);
  return { ...guessed, points, maxPoints: points };
}

const offBy = (points: number, expected: number): number =>
  points === expected ? 0 : expected === 0 ? 1 : points / expected - 1;

/** Without the twentieths at either end: a rare mistake of the service is no spread. */
function deviationOf(offs: readonly number[]): number {
  const all = offs.map((value) => ({ value, times: 1 }));
  const [least, most] = [quantile(all, 0.05), quantile(all, 0.95)];
  const inner = offs.filter((off) => off >= least && off <= most);
  return Math.sqrt(inner.reduce((sum, off) => sum + off * off, 0) / Math.max(1, inner.length));
}

/** Few are enough: what is empty or missing costs the same each time, and only the newest say so today. */
const usually = (samples: readonly PriceSample[]): number | undefined =>
  samples.length === 0 ? undefined : median(samples.slice(0, 9).map(({ points }) => ({ value: points, times: 1 })));

function levelsOf(answered: readonly PriceSample[]): Level[] {
  const groups = Map.groupBy(answered, ({ asked, returned }) => `${asked} ${returned}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const points = group.map((it) => ({ value: it.points, times: 1 }));
    return {
      asked: first.asked,
      returned: first.returned,
      samples: group.length,
      median: median(points),
      mean: averageOf(points),
      low: quantile(points, 0.1),
      high: quantile(points, 0.9),
    };
  });
}

/** Items that a request was for, as far as it is known. */
const itemsOf = ({ asked, returned }: Counts): number => asked ?? returned ?? 0;

function topsOf(samples: readonly PriceSample[]): { readonly items: number; readonly points: number }[] {
  const tops: { items: number; points: number }[] = [];
  // The dearest first, so that it alone stands for all of its count.
  const rising = samples
    .toSorted((a, b) => b.points - a.points)
    .toSorted((a, b) => itemsOf(a) - itemsOf(b))
    .map((it) => ({ items: itemsOf(it), points: it.points }));
  for (const top of rising) if (top.points > (tops.at(-1)?.points ?? -1)) tops.push(top);
  return tops;
}

/** The most points that a request for so many items can cost; undefined is for a request that sets no limit. */
export function maxPointsOf({ alternatives, maxima, levels }: PriceBook, asked: number | undefined): number {
  const items = asked ?? Number.POSITIVE_INFINITY;
  const like = maxima.findLast((top) => top.items <= items)?.points ?? 0;
  if (alternatives.length > 0) {
    const counts = { asked: asked ?? 1, returned: asked ?? 1 };
    return Math.max(like, ...alternatives.map((it) => tidy(it.maxPoints * (unitsOf(it, counts) ?? 1))));
  }
  const seen = Math.max(0, ...levels.map(itemsOf));
  // Beyond what was seen, an item more is taken to cost as much as the others.
  return asked !== undefined && asked > seen && seen > 0
    ? Math.ceil((like * asked) / seen)
    : Math.max(like, maxima[0]?.points ?? 0);
}

/** What came of a call. */
export interface PricedAnswer extends Counts {
  readonly outcome?: PriceSample['outcome'];
}

/** The points that a call is expected to have cost. */
export function expectedPointsOf(book: PriceBook, { asked, returned, outcome }: PricedAnswer): number {
  if (outcome === 'missing' && book.missing !== undefined) return book.missing;
  const items = outcome === 'missing' ? 0 : returned;
  if (items === 0 && book.empty !== undefined) return book.empty;
  if (book.model === undefined) return tidy(averageLike(book.levels, items ?? 0, asked));
  const units = unitsOf(book.model, { asked, returned: items });
  return units === undefined ? maxPointsOf(book, asked) : tidy(book.model.points * units);
}

/** Of the answers with the nearest count, those that were asked most alike. */
function averageLike(levels: readonly Level[], returned: number, asked: number | undefined): number {
  const byItems = nearest(levels, (it) => Math.abs((it.returned ?? 0) - returned));
  const alike = nearest(byItems, (it) => Math.abs((it.asked ?? 0) - (asked ?? 0)));
  return averageOf(alike.map((it) => ({ value: it.mean, times: it.samples })));
}

/** Those at the least distance. */
export function nearest<T>(all: readonly T[], distance: (it: T) => number): T[] {
  const least = Math.min(...all.map(distance));
  return all.filter((it) => distance(it) === least);
}

/** Without the crumbs that binary fractions leave. */
const tidy = (points: number): number => Math.round(points * 1e6) / 1e6;
