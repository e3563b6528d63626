/** Durations (`30d`, `1h`) and shares (`1%`, `0.01`), as config files write them. */
import * as z from 'zod';
import { DAY_MS } from '../../day.ts';

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const;

const WRITTEN = /^(\d{1,6})([smhdw])$/;
const ALLOWED = 'allowed is a duration: a whole number with the unit s, m, h, d or w, such as 15m, 1h, 7d or 2w';
/** A century. Longer durations would lead to dates out of range. */
const LONGEST_MS = 36_525 * DAY_MS;

const milliseconds = (text: string): number => {
  const parts = WRITTEN.exec(text);
  return parts ? Number(parts[1]) * UNIT_MS[parts[2] as keyof typeof UNIT_MS] : Number.NaN;
};

/** A duration, in milliseconds. */
export const duration = z
  .string({ error: ALLOWED })
  .regex(WRITTEN, ALLOWED)
  .transform(milliseconds)
  .refine((ms) => Number.isNaN(ms) || ms <= LONGEST_MS, 'allowed is at most a century, 36525d');

const SHARE = 'allowed is a share from 0% to 100%, such as 1% or 0.01';

/** A share, from 0 to 1. */
export const share = z.union(
  [
    z.number({ error: SHARE }).min(0, SHARE).max(1, SHARE),
    z
      .string({ error: SHARE })
      .regex(/^(?:100|\d{1,2}(?:\.\d+)?)%$/, SHARE)
      // The exponent shifts the digits, because a division by 100 would give 0.07000000000000001 for 7%.
      .transform((text) => Number(`${text.slice(0, -1)}e-2`)),
  ],
  { error: SHARE },
);
