/** Endpoint: the content of one web page. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { singlePage } from '../paging.ts';
import { pageUrl, timeout } from '../request.ts';
import { webPage } from '../resources/web-page.ts';
import { contentOptions } from '../content-options.ts';

export const webparserParse = endpoint({
  name: 'webparser.parse',
  about: 'The content of one web page, cleaned, with its links and contacts if requested.',
  method: 'POST',
  path: '/api/webparser/parse',
  request: z.strictObject({
    url: pageUrl.describe('Address of the page to parse.'),
    timeout,
    ...contentOptions,
  }),
  sets: ['include_tags', 'exclude_tags'],
  returns: webPage,
  paging: singlePage,
  price: { points: 1 },
});
