/** Finds where in the request log the current price begins. Pure. */
import type { Price } from '../../service/endpoint.ts';
import { fitsSample, fitModels, type PriceSample, type PriceModel } from './price-model.ts';

/** The number of samples in a row that establish a new price. */
export const MIN_CHANGED_ROWS = 5;
/** The numbers of newest samples to search for a model, if none fits all samples. */
const WINDOWS = [500, 200, 100, 50, 20, 10, MIN_CHANGED_ROWS];
/** The number of samples that, if nearly all differ, show where an earlier price ended. */
const BEFORE = 10;
/** The number of earlier samples that must mostly fit a price of their own: costs without a model did not change. */
const OTHER = 20;

/** The share of samples that must fit a model for it to count as the price. */
export const MIN_FOLLOWING_SHARE = 0.9;

/** True for answers with items or with an unknown number of items; empty answers have a price of their own. */
export const isPriced = ({ outcome, returned }: PriceSample): boolean => outcome === 'answered' && returned !== 0;

/** The samples since the last price change, newest first. All samples if they fit one price, or none. */
export function sinceChange<S extends PriceSample>(guess: Price, samples: readonly S[]): readonly S[] {
  const priced = samples.flatMap((sample, at) => (isPriced(sample) ? [{ sample, at }] : []));
  const part = (from: number, size: number): S[] => priced.slice(from, from + size).map(({ sample }) => sample);
  const modelOf = (size: number): PriceModel | undefined => {
    const fitted = fitModels(guess, part(0, size));
    if (!fitted || fitted.share < MIN_FOLLOWING_SHARE) return undefined;
    // One of five may match by chance.
    return part(0, MIN_CHANGED_ROWS).filter((it) => fitsSample(fitted.model, it)).length > 1 ? fitted.model : undefined;
  };
  if (priced.length <= MIN_CHANGED_ROWS || modelOf(priced.length)) return samples;
  for (const size of WINDOWS) {
    const model = size < priced.length ? modelOf(size) : undefined;
    if (!model) continue;
    for (let from = MIN_CHANGED_ROWS; from < priced.length; from += 1) {
      const older = part(from, BEFORE);
      const alike = older.filter((it) => fitsSample(model, it)).length;
      if (alike > older.length * (1 - MIN_FOLLOWING_SHARE)) continue;
      const other = fitModels(guess, part(from, OTHER));
      return other && other.share >= 1 - 2 * (1 - MIN_FOLLOWING_SHARE) ? samples.slice(0, priced[from]?.at) : samples;
    }
    return samples;
  }
  return samples;
}
