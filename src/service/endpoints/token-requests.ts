/** Endpoint: the service’s own request log. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { instant } from '../request.ts';
import { tokenRequest } from '../resources/token-request.ts';
import { logWalk } from '../request-log/walk.ts';
import { LOG_ENDPOINT, LOG_PATH } from '../request-log/request-log.ts';

export const tokenRequests = endpoint({
  name: LOG_ENDPOINT,
  about: 'The service’s own log of the requests made with the token, with cost and outcome.',
  method: 'GET',
  path: LOG_PATH,
  request: z.strictObject({
    start_time: instant.nullish().describe('Earliest start to return.'),
    end_time: instant.nullish().describe('Latest start to return.'),
    limit: z.int().min(1).max(100).default(10).describe('Rows on a page.'),
    cursor: instant.nullish().describe('Start of the page: `started_at` of an earlier row.'),
  }),
  returns: tokenRequest,
  paging: logWalk,
  price: { points: 0 },
});
