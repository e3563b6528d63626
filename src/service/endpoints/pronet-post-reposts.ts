/** Endpoint: the reposts of one post of the professional network. */
import * as z from 'zod';
import type { KeyedRequest } from '../request-body.ts';
import { endpoint } from '../endpoint.ts';
import { cappedByCount } from '../paging.ts';
import { count, timeout, urnOfType } from '../request.ts';
import { pronetPost } from '../resources/pronet-post.ts';

const requestedPost =
  (part: 'type' | 'value') =>
  ({ request }: KeyedRequest): string =>
    (request['urn'] as Readonly<Record<typeof part, string>>)[part];

export const pronetPostReposts = endpoint({
  name: 'pronet.post.reposts',
  about: 'Reposts of one post of the professional network.',
  method: 'POST',
  path: '/api/pronet/post/reposts',
  request: z.strictObject({ urn: urnOfType('activity'), count: count(), timeout }),
  urns: { urn: 'activity' },
  returns: pronetPost,
  paging: cappedByCount,
  bridge: {
    table: 'pronet_post_reposts',
    about: 'Reposts returned for each requested post.',
    questionColumns: {
      post_urn_type: { about: 'URN type of the requested post.', from: requestedPost('type') },
      post_urn_value: {
        about: 'URN value of the requested post.',
        personal: 'identifier',
        from: requestedPost('value'),
      },
    },
    to: () => pronetPost,
    prefix: 'repost',
    lists: true,
  },
  price: { points: 1, per: 10 },
});
