/** Endpoint: one profile of the microblogging network. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { singlePage } from '../paging.ts';
import { timeout } from '../request.ts';
import { microblogUser } from '../resources/microblog-user.ts';

export const microblogUserProfile = endpoint({
  name: 'microblog.user',
  about: 'One profile of the microblogging network.',
  method: 'POST',
  path: '/api/microblog/user',
  request: z.strictObject({ user: z.string().min(1).describe('Alias or address of the profile.'), timeout }),
  returns: microblogUser,
  naming: { field: 'user', resource: () => microblogUser, kinds: ['alias', 'url'] },
  paging: singlePage,
  price: { points: 1 },
});
