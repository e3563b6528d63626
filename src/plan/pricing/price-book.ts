/**
 * The cost of an endpoint's calls: the configured guess until the request log shows better prices. Pure: samples are
 * parameters.
 *
 * - A guess applies, scaled to the observed costs, as long as the samples fit its model. Otherwise the best fitting
 *   model applies (`price-model.ts`). If no model fits, the observed costs of the most similar requests apply.
 * - The maximum cost of a call is never below the observed cost of a request for as many items or fewer. Beyond the
 *   observed counts, it is the highest of the models that the samples allow. So it is safe, and as low as possible.
 * - After a price change, confirmed by five samples in a row, older samples no longer count.
 */
import type { Price } from '../../service/endpoint.ts';
import { MIN_CHANGED_ROWS, MIN_FOLLOWING_SHARE, isPriced, sinceChange } from './price-change.ts';
import {
  averageOf,
  type Counts,
  guessedModel,
  median,
  quantile,
  type PriceSample,
  type PriceModel,
  unitsOf,
} from './price-model.ts';

/** The known cost of an endpoint's calls. */
export interface PriceBook {
  /** Absent if no model fits the samples; then `levels` apply. */
  readonly model: PriceModel | undefined;
  /** The models that may also be true; they bound the maximum cost of a call. */
  readonly alternatives: readonly PriceModel[];
  /** Points for an empty answer, and for a request whose entity the service does not know; undefined until observed. */
  readonly empty: number | undefined;
  readonly missing: number | undefined;
  /** Share of requests whose entity the service does not know. */
  readonly missingShare: number;
  /** Observed costs, by requested and returned items. */
  readonly levels: readonly Level[];
  /** The highest observed cost of requests for up to this many items, rising. */
  readonly maxima: readonly { readonly items: number; readonly points: number }[];
  /** The standard deviation of actual from expected costs, as a share. */
  readonly deviation: number;
  /** Item counts of this sync's recent answers, without those to parts. */
  readonly recentCounts: readonly ReturnedCount[];
  /** Item counts of recent answers to parts, which are smaller than the full answers that were split. */
  readonly partCounts?: readonly ReturnedCount[];
  /** The number of log rows that the prices are based on. */
  readonly samples: number;
  /** The number of these rows that are answers with items. Only they show what items cost. */
  readonly priced: number;
  readonly confidence: Confidence;
}

/**
 * `guess`: only guesses. `some`: few rows of the log, or rows that differ. `good`: at least 20 rows, with 90% in
 * agreement.
 */
export type Confidence = 'guess' | 'some' | 'good';

/** The cost of answers with the same counts. */
export interface Level extends Counts {
  readonly samples: number;
  readonly median: number;
  readonly mean: number;
  /** A tenth of the answers cost less than `low`, and a tenth more than `high`. */
  readonly low: number;
  readonly high: number;
}

/** The counts of answers, and how often they occurred. */
export interface ReturnedCount extends Counts {
  readonly times: number;
}

/** With fewer samples, the price is still a guess. */
const LEAST_SAMPLES = 3;
const GOOD_SAMPLES = 20;
/** A model that fits a smaller share of the samples is worse than the samples themselves. */
const LEAST_SHARE = 0.75;

/**
 * The price book of one endpoint. Samples are newest first; `recentCounts` are the item counts of the sync's own
 * answers.
 */
export function learnPrices(
  guess: Price,
  samples: readonly PriceSample[],
  recentCounts: readonly ReturnedCount[] = [],
): PriceBook {
  const { samples: kept, fitted } = sinceChange(guess, samples);
  const priced = kept.filter(isPriced);
  const answered = kept.filter(({ outcome }) => outcome === 'answered');
  const missing = kept.filter(({ outcome }) => outcome === 'missing');
  const known = answered.length + missing.length;
  const isGuess = priced.length < LEAST_SAMPLES;
  const hasModel = !isGuess && fitted !== undefined && fitted.share >= LEAST_SHARE;
  const model = isGuess ? raised(guessedModel(guess), priced) : hasModel ? fitted.model : undefined;
  // Syncs with different counts may alternate on an endpoint. So this sync's last costs are never discarded as an old
  // price.
  const own = samples.filter((it) => it.isOwn).slice(0, MIN_CHANGED_ROWS);
  const book: PriceBook = {
    model,
    alternatives: hasModel ? fitted.alternatives : model === undefined ? [] : [model],
    empty: usually(answered.filter(({ returned }) => returned === 0)),
    missing: usually(missing),
    missingShare: missing.length / Math.max(1, known),
    levels: levelsOf(answered),
    maxima: maximaOf([...kept, ...own]),
    deviation: 0,
    recentCounts,
    samples: known,
    priced: priced.length,
    confidence: isGuess ? 'guess' : 'some',
  };
  const judged = priced.filter((it) => model === undefined || unitsOf(model, it) !== undefined);
  const offs = judged.map((it) => offBy(it.points, expectedPointsOf(book, it)));
  const agree = offs.filter((off) => Math.abs(off) <= 0.1).length;
  const isGood = hasModel && known >= GOOD_SAMPLES && agree >= MIN_FOLLOWING_SHARE * judged.length;
  return { ...book, deviation: deviationOf(offs), confidence: isGood ? 'good' : book.confidence };
}

/** Too few samples never lower a guess, but a higher cost counts immediately. */
function raised(guessed: PriceModel, samples: readonly PriceSample[]): PriceModel {
  const seen = samples.map((it) => it.points / (unitsOf(guessed, it) ?? Number.POSITIVE_INFINITY));
  const points = Math.max(guessed.points, ...seen);
  return { ...guessed, points, maxPoints: points };
}

const offBy = (points: number, expected: number): number =>
  points === expected ? 0 : expected === 0 ? 1 : points / expected - 1;

/** Excludes the lowest and the highest 5%: a rare mistake of the service does not count as spread. */
function deviationOf(offs: readonly number[]): number {
  const all = offs.map((value) => ({ value, times: 1 }));
  const [least, most] = [quantile(all, 0.05), quantile(all, 0.95)];
  const inner = offs.filter((off) => off >= least && off <= most);
  return Math.sqrt(inner.reduce((sum, off) => sum + off * off, 0) / Math.max(1, inner.length));
}

/**
 * Few samples are enough: empty and missing answers cost the same each time, and only the newest show the current
 * price.
 */
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

/** The items that a request was for, as far as known. */
const itemsOf = ({ asked, returned }: Counts): number => asked ?? returned ?? 0;

function maximaOf(samples: readonly PriceSample[]): { readonly items: number; readonly points: number }[] {
  const maxima: { items: number; points: number }[] = [];
  // Sorted with the highest cost first, so that it represents its count.
  const rising = samples
    .toSorted((a, b) => b.points - a.points)
    .toSorted((a, b) => itemsOf(a) - itemsOf(b))
    .map((it) => ({ items: itemsOf(it), points: it.points }));
  for (const top of rising) if (top.points > (maxima.at(-1)?.points ?? -1)) maxima.push(top);
  return maxima;
}

/** The most points that a request for this many items can cost; `undefined` is a request without a limit. */
export function maxPointsOf({ alternatives, maxima, levels }: PriceBook, asked: number | undefined): number {
  const items = asked ?? Number.POSITIVE_INFINITY;
  const observedMax = maxima.findLast((top) => top.items <= items)?.points ?? 0;
  if (alternatives.length > 0) {
    const counts = { asked: asked ?? 1, returned: asked ?? 1 };
    return Math.max(observedMax, ...alternatives.map((it) => rounded(it.maxPoints * (unitsOf(it, counts) ?? 1))));
  }
  const seen = Math.max(0, ...levels.map(itemsOf));
  // Beyond the observed counts, each further item is assumed to cost as much as the others.
  return asked !== undefined && asked > seen && seen > 0
    ? Math.ceil((observedMax * asked) / seen)
    : Math.max(observedMax, maxima[0]?.points ?? 0);
}

/** The outcome of a call. */
export interface PricedAnswer extends Counts {
  readonly outcome?: PriceSample['outcome'];
}

/** The expected cost of a call, in points. */
export function expectedPointsOf(book: PriceBook, { asked, returned, outcome }: PricedAnswer): number {
  if (outcome === 'missing' && book.missing !== undefined) return book.missing;
  const items = outcome === 'missing' ? 0 : returned;
  if (items === 0 && book.empty !== undefined) return book.empty;
  if (book.model === undefined) return rounded(averageLike(book.levels, items ?? 0, asked));
  const units = unitsOf(book.model, { asked, returned: items });
  return units === undefined ? maxPointsOf(book, asked) : rounded(book.model.points * units);
}

/** The average cost of the answers with the nearest count and, among them, the nearest requested count. */
function averageLike(levels: readonly Level[], returned: number, asked: number | undefined): number {
  const byItems = nearest(levels, (it) => Math.abs((it.returned ?? 0) - returned));
  const alike = nearest(byItems, (it) => Math.abs((it.asked ?? 0) - (asked ?? 0)));
  return averageOf(alike.map((it) => ({ value: it.mean, times: it.samples })));
}

/** The elements with the smallest distance. */
export function nearest<T>(all: readonly T[], distance: (it: T) => number): T[] {
  const least = Math.min(...all.map(distance));
  return all.filter((it) => distance(it) === least);
}

/** Removes rounding errors of binary fractions. */
const rounded = (points: number): number => Math.round(points * 1e6) / 1e6;
