/** Freshness after a reset of a watermark: answers from before the reset do not serve what the reset requests again. */
import type { SyncDefinition } from '../../config/definition.ts';
import type { MaxAgeOf } from '../../control/freshness/max-age.ts';
import { isReset, resetName, type Watermarks } from '../../ledger/watermarks.ts';
import type { RequestBody } from '../../service/request-body.ts';
import { watermarkName } from './watermark-name.ts';

/** Limits ages so that no answer received before the reset of an input's watermark is fresh. */
export function sinceResets(
  definition: Pick<SyncDefinition, 'endpoint' | 'window' | 'windowHash'>,
  maxAgeOf: MaxAgeOf,
  watermarks: Watermarks,
  now: Date,
): MaxAgeOf {
  if (![...watermarks.keys()].some(isReset)) return maxAgeOf;
  const resetOf = (input: RequestBody): number | undefined => {
    const name = watermarkName(definition, input);
    const resetAt = name === undefined ? undefined : watermarks.get(resetName(name));
    return resetAt === undefined ? undefined : Date.parse(resetAt);
  };
  const limited = (input: RequestBody): number | undefined => {
    const maxAgeMs = maxAgeOf(input);
    const resetMs = resetOf(input);
    if (maxAgeMs === undefined || resetMs === undefined) return maxAgeMs;
    // An answer received in the millisecond of the reset may be from before it.
    return Math.min(maxAgeMs, now.getTime() - resetMs - 1);
  };
  const notBefore = (input: RequestBody): Date | undefined => {
    const resetMs = resetOf(input);
    return resetMs === undefined ? undefined : new Date(resetMs + 1);
  };
  return Object.assign(limited, { notBefore });
}
