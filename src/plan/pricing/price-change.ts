/** Finds where in the request log the current price begins. Pure. */
import type { Price } from '../../service/endpoint.ts';
import { type FittedModel, fitsSample, fitModels, type PriceSample } from './price-model.ts';

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

/** The samples that show the current price, and the model that fits most of those with items. */
export interface CurrentSamples<S extends PriceSample> {
  readonly samples: readonly S[];
  readonly fitted: FittedModel | undefined;
}

/** The samples since the last price change, newest first. All samples if they fit one price, or none. */
export function sinceChange<S extends PriceSample>(guess: Price, samples: readonly S[]): CurrentSamples<S> {
  const fitted = fitModels(guess, samples.filter(isPriced));
  const start = fitted && changeIn(guess, samples, fitted);
  if (start === undefined) return { samples, fitted };
  const kept = samples.slice(0, start);
  return { samples: kept, fitted: fitModels(guess, kept.filter(isPriced)) };
}

/** The number of samples since the last price change; undefined if there was none. `fitted` is the model of them all. */
function changeIn(guess: Price, samples: readonly PriceSample[], fitted: FittedModel): number | undefined {
  const priced = samples.flatMap((sample, at) => (isPriced(sample) ? [{ sample, at }] : []));
  const part = (from: number, size: number): PriceSample[] =>
    priced.slice(from, from + size).map(({ sample }) => sample);
  // One of five may match by chance.
  const isCurrent = ({ model, share }: FittedModel): boolean =>
    share >= MIN_FOLLOWING_SHARE && part(0, MIN_CHANGED_ROWS).filter((it) => fitsSample(model, it)).length > 1;
  if (priced.length <= MIN_CHANGED_ROWS || isCurrent(fitted)) return undefined;
  for (const size of WINDOWS) {
    const newest = size < priced.length ? fitModels(guess, part(0, size)) : undefined;
    if (!newest || !isCurrent(newest)) continue;
    for (let from = MIN_CHANGED_ROWS; from < priced.length; from += 1) {
      const older = part(from, BEFORE);
      const alike = older.filter((it) => fitsSample(newest.model, it)).length;
      if (alike > older.length * (1 - MIN_FOLLOWING_SHARE)) continue;
      const other = fitModels(guess, part(from, OTHER));
      return other && other.share >= 1 - 2 * (1 - MIN_FOLLOWING_SHARE) ? priced[from]?.at : undefined;
    }
    return undefined;
  }
  return undefined;
}
