/** Freshness after a reset of a watermark: answers from before the reset do not serve what the reset requests again. */
import { type MaxAgeOf, receivedAfter } from '../../control/freshness/max-age.ts';
import { isReset, type Watermarks } from '../../ledger/watermarks.ts';
import { type NamedDefinition, resetOf, watermarkNames } from './watermark-name.ts';

/** Limits ages so that no answer received before the reset of an input's watermark is fresh. */
export function sinceResets(definition: NamedDefinition, maxAgeOf: MaxAgeOf, watermarks: Watermarks): MaxAgeOf {
  if (![...watermarks.keys()].some(isReset)) return maxAgeOf;
  return receivedAfter(maxAgeOf, (input) => {
    const names = watermarkNames(definition, input);
    const resetAt = names && resetOf(watermarks, names);
    return resetAt === undefined ? undefined : new Date(resetAt);
  });
}
