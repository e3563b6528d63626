/** Endpoint: one profile of the photo-sharing network. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { singlePage } from '../paging.ts';
import { timeout } from '../request.ts';
import { photoshareUser, photoshareUserPosts } from '../resources/photoshare.ts';

export const photoshareUserProfile = endpoint({
  name: 'photoshare.user',
  about: 'One profile of the photo-sharing network, with its recent posts if requested.',
  method: 'POST',
  path: '/api/photoshare/user',
  request: z.strictObject({
    user: z.string().min(1).describe('Identifier, alias or address of the profile.'),
    timeout,
    with_creation_date: z.boolean().default(false).describe('Include when the profile was opened.'),
    with_similar_users: z
      .boolean()
      .default(true)
      .describe('Include profiles that the network suggests beside this one.'),
    with_posts: z.boolean().default(false).describe('Include recent posts.'),
  }),
  returns: photoshareUser,
  naming: { field: 'user', resource: () => photoshareUser, kinds: ['id', 'alias', 'url'] },
  paging: singlePage,
  bridge: { ...photoshareUserPosts, via: 'posts', lists: false },
  price: { points: 1 },
});
