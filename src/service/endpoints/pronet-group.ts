/** The question for one group of the professional network. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { singlePage } from '../paging.ts';
import { timeout } from '../request.ts';
import { pronetGroup } from '../resources/pronet-group.ts';

export const pronetGroupProfile = endpoint({
  name: 'pronet.group',
  about: 'One group of the professional network, with the members it shows.',
  method: 'POST',
  path: '/api/pronet/group',
  request: z.strictObject({ group: z.string().min(1).describe('URN or address of the group.'), timeout }),
  returns: pronetGroup,
  // Assumed: the number of a group's URN is understood alone too. A group found under it by another URN would show this wrong.
  naming: { field: 'group', resource: () => pronetGroup, kinds: ['id', 'url', 'urn'] },
  paging: singlePage,
  price: { points: 1 },
});
