/** Where in the request log the present price began. Pure. */
import type { Price } from '../../service/endpoint.ts';
import { fitsSample, fitModels, type PriceSample, type PriceModel } from './price-model.ts';

/** Samples in a row that make a price the present one. */
export const MIN_CHANGED_ROWS = 5;
/** Newest samples among which a shape is looked for, when it does not hold for all. */
const WINDOWS = [500, 200, 100, 50, 20, 10, MIN_CHANGED_ROWS];
/** Samples in a row, nearly all unlike, that show where the price was another. */
const BEFORE = 10;
/** Samples before that, of which most must follow a price of their own: costs that follow none did not change. */
const OTHER = 20;

/** Share of samples that fit the shape of a price when there is one. */
export const MIN_FOLLOWING_SHARE = 0.9;

/** Answers with items, or of which the log does not say how many they had; empty ones have a price of their own. */
export const isPriced = ({ outcome, returned }: PriceSample): boolean => outcome === 'answered' && returned !== 0;

/** The samples since the price last changed; all of them when they follow one price, or none. Newest first. */
export function sinceChange<S extends PriceSample>(guess: Price, samples: readonly S[]): readonly S[] {
  const priced = samples.flatMap((sample, at) => (isPriced(sample) ? [{ sample, at }] : []));
  const part = (from: number, size: number): S[] => priced.slice(from, from + size).map(({ sample }) => sample);
  const followedBy = (size: number): PriceModel | undefined => {
    const fitted = fitModels(guess, part(0, size));
    if (!fitted || fitted.share < MIN_FOLLOWING_SHARE) return undefined;
    // One of five may cost what it did by chance.
    return part(0, MIN_CHANGED_ROWS).filter((it) => fitsSample(fitted.model, it)).length > 1 ? fitted.model : undefined;
  };
  if (priced.length <= MIN_CHANGED_ROWS || followedBy(priced.length)) return samples;
  for (const size of WINDOWS) {
    const shape = size < priced.length ? followedBy(size) : undefined;
    if (!shape) continue;
    for (let from = MIN_CHANGED_ROWS; from < priced.length; from += 1) {
      const older = part(from, BEFORE);
      const alike = older.filter((it) => fitsSample(shape, it)).length;
      if (alike > older.length * (1 - MIN_FOLLOWING_SHARE)) continue;
      const other = fitModels(guess, part(from, OTHER));
      return other && other.share >= 1 - 2 * (1 - MIN_FOLLOWING_SHARE) ? samples.slice(0, priced[from]?.at) : samples;
    }
    return samples;
  }
  return samples;
}
