/** Schemas of fields that several requests have. */
import * as z from 'zod';
import { onCalendar } from '../day.ts';
import { URN_TYPES, type UrnSubject, urnTypesOf } from './names/urn.ts';

export const timeout = z
  .int()
  .min(20)
  .max(1500)
  .default(300)
  .describe('Maximum time that the service may take, in seconds.');

export const count = (max?: number) =>
  (max === undefined ? z.int().min(1) : z.int().min(1).max(max)).describe('Maximum number of results.');

export const urnOfType = (type: string) =>
  z
    .strictObject({
      type: z.literal(type, {
        error: ({ input }) => `only URNs of type ${type} are allowed here, found ${JSON.stringify(input) ?? 'none'}`,
      }),
      value: z.string().min(1),
    })
    .describe(`A URN of type ${type}.`);

/** A name or a URN. URN types that are known to identify something else are refused. */
export function urnOrName(subject: UrnSubject) {
  const allowed = urnTypesOf(subject);
  const type = z
    .string()
    .min(1)
    .refine((found) => allowed.includes(found) || !URN_TYPES.includes(found), {
      error: ({ input }) =>
        `only names and URNs of type ${allowed.join(', ')} are allowed here, found ${JSON.stringify(input)}`,
    });
  return z.union([z.strictObject({ type, value: z.string().min(1) }), z.string().min(1)]);
}

export const isoDay = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date written YYYY-MM-DD')
  .refine(onCalendar, 'must be a day of the calendar');

/** A `uri` in the contract's sense: absolute, with a scheme and a host. */
export const pageUrl = z
  .string()
  .min(10)
  .max(2083)
  .refine((text) => URL.canParse(text) && /^https?:\/\/[^/]/i.test(text), 'must be an absolute http or https address')
  // URL parsers drop line breaks and tabs, so two texts with different keys would be the same page.
  .refine((text) => !/\p{Cc}/u.test(text), 'must not hold line breaks, tabs or other control characters');

export const instant = z.iso.datetime({
  offset: true,
  local: true,
  error: 'must be an instant such as 2024-01-01T00:00:00Z',
});

/** The top-level industries that the contract names. */
export const TOP_LEVEL_INDUSTRIES: readonly string[] = [
  'Technology, Information and Media',
  'Professional Services',
  'Manufacturing',
  'Hospitals and Health Care',
  'Retail',
  'Government Administration',
  'Holding Companies',
  'Oil, Gas, and Mining',
  'Real Estate and Equipment Rental Services',
  'Transportation, Logistics, Supply Chain and Storage',
  'Utilities',
  'Wholesale',
];
