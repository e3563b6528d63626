/** Endpoint: one group of the professional network. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { singlePage } from '../paging.ts';
import { timeout } from '../request.ts';
import { pronetGroup } from '../resources/pronet-group.ts';

export const pronetGroupProfile = endpoint({
  name: 'pronet.group',
  about: 'One group of the professional network, with the members that it shows.',
  method: 'POST',
  path: '/api/pronet/group',
  request: z.strictObject({ group: z.string().min(1).describe('URN or address of the group.'), timeout }),
  returns: pronetGroup,
  // Assumed: the service also accepts the number of a group's URN alone. A group that it returns with another URN would
  // disprove this.
  naming: { field: 'group', resource: () => pronetGroup, kinds: ['id', 'url', 'urn'] },
  paging: singlePage,
  price: { points: 1 },
});
