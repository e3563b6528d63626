/** The question for people of the professional network who match. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { cappedByCount } from '../paging.ts';
import { count, timeout, urnOrName } from '../request.ts';
import { pronetUser } from '../resources/pronet-people.ts';

const word = (about: string) => z.string().default('').describe(about);
const places = (about: string) => z.array(urnOrName).nullish().describe(about);

export const pronetSearchUsers = endpoint({
  name: 'pronet.search.users',
  about: 'People of the professional network who match words, companies, places, industries and schools.',
  method: 'POST',
  path: '/api/pronet/search/users',
  request: z.strictObject({
    count: count(1000),
    timeout,
    keywords: word('Free keyword; alone it yields few results.'),
    first_name: word('Exact first name.'),
    last_name: word('Exact last name.'),
    title: word('Exact word in the title.'),
    company_keywords: word('Exact word in the company’s name.'),
    school_keywords: word('Exact word in the school’s name.'),
    current_company: places('Present companies: URNs or names.'),
    past_company: places('Former companies: URNs or names.'),
    location: places('Places: URNs or names.'),
    industry: places('Industries: URNs or names.'),
    education: places('Schools: URNs or names.'),
  }),
  facets: ['current_company', 'past_company', 'location', 'industry', 'education'],
  returns: pronetUser,
  paging: cappedByCount,
  bridge: {
    table: 'pronet_user_search_hits',
    about: 'Which search of which sync returned whom, and at which position.',
    questionColumns: {
      sync: { about: 'The sync that searched.', from: ({ sync }) => sync },
      request_key: { about: 'SHA-256, in hex, that identifies the search.', from: ({ requestKey }) => requestKey },
    },
    to: () => pronetUser,
    prefix: 'user',
    lists: true,
  },
  price: { points: 1, per: 10 },
});
