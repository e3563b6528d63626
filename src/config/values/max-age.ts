/** The `max_age` of a sync: a fixed age, or one that is learned within bounds. */
import * as z from 'zod';
import { duration } from './quantity.ts';

/** Bounds of a learned age, in milliseconds. */
export interface AgeBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

const ALLOWED =
  'allowed is a duration, a whole number with the unit s, m, h, d or w, such as 7d, or { auto: [1d, 30d] } to learn it within these bounds';

const fixed = duration.refine((ms) => ms > 0, 'omit max_age to request anew in each run');

const TWO = 'allowed are two durations, the smaller one first';

export const maxAge = z.union(
  [
    fixed,
    z.strictObject({
      auto: z
        .array(fixed)
        .length(2, TWO)
        .refine(([least = 0, most = 0]) => !(least >= most), TWO)
        .describe('The smallest and the greatest age.'),
    }),
  ],
  { error: ALLOWED },
);

export type MaxAge = z.infer<typeof maxAge>;

/** The fields of a definition for this setting. A learned age is never above `maxAgeMs`. */
export function maxAgeFields(setting: MaxAge | undefined): {
  readonly maxAgeMs: number | undefined;
  readonly autoAge: AgeBounds | undefined;
} {
  if (typeof setting !== 'object') return { maxAgeMs: setting, autoAge: undefined };
  const [leastMs = 0, mostMs = 0] = setting.auto;
  return { maxAgeMs: mostMs, autoAge: { leastMs, mostMs } };
}
