/** A minimal valid request for each endpoint: what its suites need to know beyond the declarations. */
import type { RequestBody } from '../../src/service/request-body.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import type { Fields } from '../../src/service/model.ts';

/** Requests by endpoint, each for the entity of that number. */
export const minimalRequests: Readonly<Record<string, (entity: number) => RequestBody>> = {
  'token.requests': () => ({}),
  'webparser.parse': (entity) => ({ url: `https://pages.example/${entity}` }),
  'sec.search.companies': () => ({ count: 100 }),
  'pronet.post.reposts': (entity) => ({ urn: { type: 'activity', value: `asked ${entity}` }, count: 100 }),
  'pronet.search.users': (entity) => ({ title: `title ${entity}`, count: 100 }),
  'pronet.user.education': (entity) => ({ urn: { type: 'fsd_profile', value: `asked ${entity}` }, count: 100 }),
  'pronet.group': (entity) => ({ group: `group ${entity}` }),
  'microblog.user': (entity) => ({ user: `user ${entity}` }),
  'photoshare.user': (entity) => ({ user: `user ${entity}` }),
  'photoshare.user.posts': (entity) => ({ user: `user ${entity}`, count: 100 }),
};

/** A request for everything that the endpoint can report: each switch that a field depends on is on. */
export function fullRequest(endpoint: Endpoint, entity: number): RequestBody {
  const minimal = minimalRequests[endpoint.name];
  if (!minimal) throw new Error(`no minimal request for ${endpoint.name}: add one to test/support/requests.ts`);
  return { ...Object.fromEntries(switchesOf(endpoint.returns.fields).map((name) => [name, true])), ...minimal(entity) };
}

const switchesOf = (fields: Fields): string[] =>
  Object.values(fields).flatMap((field) => (field.shape === 'given' ? [] : [...field.switchedBy]));
