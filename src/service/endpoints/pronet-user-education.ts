/** Endpoint: the schools of one person of the professional network. */
import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { cappedByCount } from '../paging.ts';
import { count, timeout, urnOfType } from '../request.ts';
import { pronetUserEducation } from '../resources/pronet-user-education.ts';

export const pronetUserEducationList = endpoint({
  name: 'pronet.user.education',
  about: 'The schools that one person of the professional network lists.',
  method: 'POST',
  path: '/api/pronet/user/education',
  request: z.strictObject({
    urn: urnOfType('fsd_profile'),
    count: count(100),
    timeout,
    alias: z.string().nullish().describe('Public handle of the person; its effect is not documented.'),
  }),
  urns: { urn: 'fsd_profile' },
  returns: pronetUserEducation,
  paging: cappedByCount,
  price: { points: 1 },
});
