/** Endpoint: people of the professional network who match a search. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { cappedByCount } from '../paging.ts';
import type { UrnSubject } from '../names/urn.ts';
import { count, timeout, TOP_LEVEL_INDUSTRIES, urnOrName } from '../request.ts';
import { pronetUser } from '../resources/pronet-people.ts';

const term = (about: string) => z.string().default('').describe(about);
const names = (subject: UrnSubject, about: string) => z.array(urnOrName(subject)).nullish().describe(about);

export const pronetSearchUsers = endpoint({
  name: 'pronet.search.users',
  about: 'People of the professional network who match words, companies, places, industries and schools.',
  method: 'POST',
  path: '/api/pronet/search/users',
  request: z.strictObject({
    count: count(1000),
    timeout,
    keywords: term('Free keyword; it returns few results without other filters.'),
    first_name: term('Exact first name.'),
    last_name: term('Exact last name.'),
    title: term('Exact word in the title.'),
    company_keywords: term('Exact word in the company’s name.'),
    school_keywords: term('Exact word in the school’s name.'),
    current_company: names('organization', 'Current companies: URNs or names.'),
    past_company: names('organization', 'Former companies: URNs or names.'),
    location: names('place', 'Places: URNs or names.'),
    industry: names('industry', 'Industries: URNs or names.'),
    education: names('organization', 'Schools: URNs or names.'),
  }),
  facets: ['current_company', 'past_company', 'location', 'industry', 'education'],
  shorthands: {
    industry: { word: 'top_level', about: 'every top-level industry', values: TOP_LEVEL_INDUSTRIES },
  },
  returns: pronetUser,
  paging: cappedByCount,
  bridge: {
    table: 'pronet_user_search_hits',
    about: 'People returned by each search of each sync, with their position.',
    questionColumns: {
      sync: { about: 'The sync that searched.', from: ({ sync }) => sync },
      request_key: {
        about: 'SHA-256, in hex, that identifies the search.',
        personal: 'identifier',
        from: ({ requestKey }) => requestKey,
      },
    },
    to: () => pronetUser,
    prefix: 'user',
    lists: true,
  },
  price: { points: 1, per: 10 },
});
