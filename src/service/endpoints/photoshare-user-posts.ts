/** Endpoint: the posts of one profile of the photo-sharing network. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { cappedByCount } from '../paging.ts';
import { count, timeout } from '../request.ts';
import { photosharePost, photoshareUser, photoshareUserPosts } from '../resources/photoshare.ts';

export const photoshareUserPostList = endpoint({
  name: 'photoshare.user.posts',
  about: 'Posts of one profile of the photo-sharing network.',
  method: 'POST',
  path: '/api/photoshare/user/posts',
  request: z.strictObject({
    user: z.string().min(1).describe('Identifier, alias or address of the profile.'),
    count: count(),
    timeout,
  }),
  returns: photosharePost,
  naming: { field: 'user', resource: () => photoshareUser, kinds: ['id', 'alias', 'url'] },
  paging: cappedByCount,
  bridge: { ...photoshareUserPosts, lists: true },
  price: { points: 1, per: 12 },
});
