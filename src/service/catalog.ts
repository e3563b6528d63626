/** Every endpoint that the connector supports. A test reports each file in `endpoints/` that is missing here. */
import type { Endpoint } from './endpoint.ts';
import { microblogUserProfile } from './endpoints/microblog-user.ts';
import { photoshareUserPostList } from './endpoints/photoshare-user-posts.ts';
import { photoshareUserProfile } from './endpoints/photoshare-user.ts';
import { pronetGroupProfile } from './endpoints/pronet-group.ts';
import { pronetPostReposts } from './endpoints/pronet-post-reposts.ts';
import { pronetSearchUsers } from './endpoints/pronet-search-users.ts';
import { pronetUserEducationList } from './endpoints/pronet-user-education.ts';
import { secSearchCompanies } from './endpoints/sec-search-companies.ts';
import { tokenRequests } from './endpoints/token-requests.ts';
import { webparserParse } from './endpoints/webparser-parse.ts';

export const catalog: readonly Endpoint[] = [
  tokenRequests,
  webparserParse,
  secSearchCompanies,
  pronetPostReposts,
  pronetSearchUsers,
  pronetUserEducationList,
  pronetGroupProfile,
  microblogUserProfile,
  photoshareUserProfile,
  photoshareUserPostList,
];

/** The endpoint of that name, or undefined. */
export const endpointNamed = (name: string): Endpoint | undefined => catalog.find((it) => it.name === name);
