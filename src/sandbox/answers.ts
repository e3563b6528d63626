/** The world's answers to the requests of each endpoint. */
import type { RequestBody } from '../service/request-body.ts';
import type { Endpoint } from '../service/endpoint.ts';
import type { Urn } from '../service/names/urn.ts';
import type { ParseOptions } from './parser/parse-page.ts';
import { parsePage } from './parser/parse-page.ts';
import { SelectorError } from './parser/select.ts';
import { noSuchEntity, notAPage, type SandboxRefusal, unprocessable } from './refusal.ts';
import type { FilingQuery } from './world/filings.ts';
import { sampledItems } from './sample.ts';
import { type Sign, signing } from './world/images.ts';
import type { PeopleQuery } from './world/people-search.ts';
import type { Person } from './world/people.ts';
import type { ProfileSwitches } from './world/photoshare.ts';
import type { Wire } from './wire.ts';
import type { World } from './world/world.ts';

export type Answer = { readonly items: Wire[] } | { readonly refusal: SandboxRefusal };

/** A request to a world, valid by the contract. `number` is the answer's number, which signs its pictures. */
interface Question<Body> {
  readonly world: World;
  readonly request: Body;
  readonly sign: Sign;
  readonly number: number;
}
type Answerer<Body> = (question: Question<Body>) => Answer;

/**
 * The world's answer to a valid request of the endpoint. If the world does not support the endpoint, the items are
 * generated from its declaration. So a new endpoint can be tried before the world supports it.
 */
export function answerOf(world: World, endpoint: Endpoint, request: RequestBody, number: number): Answer {
  const answerer = Object.hasOwn(ANSWERERS, endpoint.name) ? ANSWERERS[endpoint.name] : undefined;
  return answerer
    ? answerer({ world, request, number, sign: signing(world.seed, number) })
    : { items: sampledItems(endpoint.returns, request) };
}

/** Requests are already validated, so each answerer gets the request type of its endpoint. */
const forRequest = <Body>(answerer: Answerer<Body>): Answerer<RequestBody> => answerer as Answerer<RequestBody>;

const ANSWERERS: Readonly<Record<string, Answerer<RequestBody>>> = {
  'webparser.parse': forRequest<ParseOptions & { readonly url: string }>(({ world, request }) => {
    const fetched = world.pages.fetch(request.url);
    if (fetched.kind === 'not-a-page') return { refusal: notAPage };
    if (fetched.kind === 'nothing') return missing(request.url);
    return parsed(() => parsePage(fetched.html, fetched.url, request));
  }),

  'sec.search.companies': forRequest<FilingQuery>(({ world, request }) => ({
    items: world.filings.search(request).items,
  })),

  'pronet.post.reposts': forRequest<{ readonly urn: Urn; readonly count: number }>(({ world, request, sign }) => {
    const post = world.posts.find(request.urn);
    return post === undefined
      ? missing(urnText(request.urn))
      : { items: world.posts.reposts(post, request.count, sign) };
  }),

  'pronet.search.users': forRequest<PeopleQuery>(({ world, request, sign }) => ({
    items: world.searchPeople(request).indexes.map((index) => personItem(world.people.at(index), sign)),
  })),

  'pronet.user.education': forRequest<{ readonly urn: Urn; readonly count: number }>(({ world, request, sign }) => {
    const person = world.people.byUrn(request.urn);
    return person === undefined
      ? missing(urnText(request.urn))
      : { items: world.educations(person, request.count, sign) };
  }),

  'pronet.group': forRequest<{ readonly group: string }>(({ world, request, sign }) => {
    const index = world.groups.find(request.group);
    return index === undefined ? missing(request.group) : { items: [world.groups.item(index, sign)] };
  }),

  'microblog.user': forRequest<{ readonly user: string }>(({ world, request, sign }) => {
    const index = world.microblog.find(request.user);
    return index === undefined ? missing(request.user) : { items: [world.microblog.item(index, sign)] };
  }),

  'photoshare.user': forRequest<ProfileSwitches & { readonly user: string }>(({ world, request, sign, number }) => {
    const index = world.photoshare.find(request.user);
    return index === undefined
      ? missing(request.user)
      : { items: [world.photoshare.item(index, request, sign, number)] };
  }),

  'photoshare.user.posts': forRequest<{ readonly user: string; readonly count: number }>(({ world, request, sign }) => {
    const index = world.photoshare.find(request.user);
    return index === undefined ? missing(request.user) : { items: world.photoshare.posts(index, request.count, sign) };
  }),
};

const missing = (what: string): Answer => ({ refusal: noSuchEntity(JSON.stringify(what)) });

const urnText = ({ type, value }: Urn): string => `urn:li:${type}:${value}`;

function parsed(parse: () => Wire): Answer {
  try {
    return { items: [parse()] };
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return {
      refusal: unprocessable([{ loc: ['body', error.option, error.at], msg: error.message, type: 'value_error' }]),
    };
  }
}

const personItem = (person: Person, sign: Sign): Wire => ({
  '@type': '@pronet_search_user',
  internal_id: person.internalId,
  urn: person.urn,
  name: person.name,
  alias: person.alias,
  url: person.url,
  image: person.portrait === null ? null : sign(person.portrait),
  headline: person.headline,
  location: person.location,
  open_to_work: person.openToWork,
});
