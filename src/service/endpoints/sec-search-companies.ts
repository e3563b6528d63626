/** Endpoint: documents of public company filings that match a search. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { count, isoDay, timeout } from '../request.ts';
import { secFiling } from '../resources/sec-filing.ts';
import { window } from '../window/window.ts';

export const secSearchCompanies = endpoint({
  name: 'sec.search.companies',
  about: 'Documents of public company filings that match a company, forms, states and dates.',
  method: 'POST',
  path: '/api/sec/search/companies',
  request: z.strictObject({
    count: count(100),
    timeout,
    entity_name: z.string().default('').describe('Company name or ticker.'),
    forms: z.array(z.string()).nullish().describe('Form types to filter on; one prefixed with - excludes that form.'),
    location_codes: z.array(z.string()).nullish().describe('State codes.'),
    date_from: isoDay.nullish().describe('First day of filing, YYYY-MM-DD.'),
    date_to: isoDay.nullish().describe('Last day of filing, YYYY-MM-DD.'),
  }),
  sets: ['forms', 'location_codes'],
  facets: ['forms', 'location_codes'],
  returns: secFiling,
  paging: window('forms', {
    from: 'date_from',
    to: 'date_to',
    timeZone: 'America/New_York',
    day: 'file_date',
    kinds: { forms: 'filing_type', location_codes: 'biz_states' },
  }),
  price: { points: 1 },
});
