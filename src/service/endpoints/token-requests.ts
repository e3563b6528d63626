/** The question for the service’s own log of requests. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../request.ts';
import { tokenRequest } from '../resources/token-request.ts';
import { logWalk } from '../request-log/walk.ts';

export const tokenRequests = endpoint({
  name: 'token.requests',
  about: 'The service’s own log of the requests made with the token, with cost and outcome.',
  method: 'GET',
  path: '/token/requests',
  request: z.strictObject({
    start_time: instant.nullish().describe('Oldest start to list.'),
    end_time: instant.nullish().describe('Newest start to list.'),
    limit: z.int().min(1).max(100).default(10).describe('Rows on a page.'),
    cursor: instant.nullish().describe('Where the page begins: the start of a row seen before.'),
  }),
  returns: tokenRequest,
  paging: logWalk,
  price: { points: 0 },
});
