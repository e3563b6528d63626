/** The requests of the benchmarks and their answers, from the world of the sandbox. */
import { type Sign, signing } from '../../src/sandbox/world/images.ts';
import type { Person } from '../../src/sandbox/world/people.ts';
import { sizeOf } from '../../src/sandbox/world/size.ts';
import { type World, worldOf } from '../../src/sandbox/world/world.ts';
import type { RequestBody } from '../../src/service/request-body.ts';

type Item = Readonly<Record<string, unknown>>;

/** Requests that differ in one field, with their answers. */
export interface Workload {
  readonly name: WorkloadName;
  readonly endpoint: string;
  /** The fields that all requests share. */
  readonly request: RequestBody;
  /** The field in which the requests differ. */
  readonly field: string;
  readonly answers: number;
  /** The n-th input, as a file of inputs holds it. */
  readonly input: (index: number) => string;
  /** The field's value on the wire for an input. */
  readonly wire: (input: string) => unknown;
  readonly items: (index: number) => readonly Item[];
  /** The flattened key columns of an item, for peers whose config needs them. */
  readonly key: readonly string[];
}

export type WorkloadName = 'filings' | 'posts' | 'groups' | 'photoshare' | 'profiles' | 'users';

/** One less than the requested count, because a full answer would be split. */
const FILINGS_IN_ANSWER = 99;
const MEMBERS_IN_GROUP = 1_000;
const USERS_IN_ANSWER = 1_000;
/** A search that returns every filing. */
const EVERYTHING = { count: Number.MAX_SAFE_INTEGER, entity_name: '' };
const SEED = 1;
const NOW = new Date('2026-01-02T12:00:00Z');

const numbered = (index: number): string => String(index + 1).padStart(7, '0');
const same = (input: string): unknown => input;

/**
 * A workload of so many answers. The service signs image addresses anew in each answer. With `sameSignatures` all answers
 * have the same signatures, so that two answers with the same author report the same about that author.
 */
export function workloadOf(name: WorkloadName, answers: number, sameSignatures = false): Workload {
  const signed = (index: number): Sign => signing(SEED, sameSignatures ? 1 : index + 1);
  const world = (more: Parameters<typeof sizeOf>[0]): World => worldOf(SEED, sizeOf(more), () => NOW);
  switch (name) {
    case 'filings': {
      const { filings } = world({ filings: answers * FILINGS_IN_ANSWER });
      const all = filings.search(EVERYTHING).items;
      return {
        name,
        answers,
        endpoint: 'sec.search.companies',
        field: 'entity_name',
        wire: same,
        request: { count: FILINGS_IN_ANSWER + 1 },
        key: ['accession_number', 'file_name'],
        input: (index) => `company ${numbered(index)}`,
        items: (index) => all.slice(index * FILINGS_IN_ANSWER, (index + 1) * FILINGS_IN_ANSWER),
      };
    }
    case 'posts': {
      const { posts } = world({ posts: answers });
      return {
        name,
        answers,
        endpoint: 'pronet.post.reposts',
        field: 'urn',
        request: { count: 1_000 },
        key: ['urn_type', 'urn_value'],
        input: (index) => `activity:${7_100_000_000_000_000_001n + BigInt(index)}`,
        wire: (input) => ({ type: 'activity', value: input.slice('activity:'.length) }),
        items: (index) => posts.reposts({ index }, 1_000, signed(index)),
      };
    }
    case 'groups': {
      const { groups, people } = world({ groups: answers, people: answers * MEMBERS_IN_GROUP });
      const members = (index: number): Item[] =>
        Array.from({ length: MEMBERS_IN_GROUP }, (_, at) => memberOf(people.at(index * MEMBERS_IN_GROUP + at), at));
      return {
        name,
        answers,
        endpoint: 'pronet.group',
        field: 'group',
        wire: same,
        request: {},
        key: ['urn_type', 'urn_value'],
        input: (index) => `urn:li:group:${1001 + index}`,
        items: (index) => [{ ...groups.item(index, signed(index)), members: members(index) }],
      };
    }
    case 'photoshare': {
      const { photoshare } = world({ photoshareUsers: answers });
      const switches = { with_posts: true, with_creation_date: true, with_similar_users: true };
      return {
        name,
        answers,
        endpoint: 'photoshare.user',
        field: 'user',
        wire: same,
        request: switches,
        key: ['id'],
        input: (index) => `profile_${numbered(index)}`,
        items: (index) => [photoshare.item(index, switches, signed(index), index + 1)],
      };
    }
    case 'profiles': {
      const { microblog } = world({ microblogUsers: answers });
      return {
        name,
        answers,
        endpoint: 'microblog.user',
        field: 'user',
        wire: same,
        request: {},
        key: ['rest_id'],
        input: (index) => `profile_${numbered(index)}`,
        items: (index) => [microblog.item(index, signed(index))],
      };
    }
    case 'users': {
      const { people } = world({ people: answers * USERS_IN_ANSWER });
      return {
        name,
        answers,
        endpoint: 'pronet.search.users',
        field: 'keywords',
        wire: same,
        request: { count: USERS_IN_ANSWER },
        key: ['urn_type', 'urn_value'],
        input: (index) => `word ${numbered(index)}`,
        items: (index) =>
          Array.from({ length: USERS_IN_ANSWER }, (_, at) => userOf(people.at(index * USERS_IN_ANSWER + at))),
      };
    }
  }
}

const memberOf = ({ urn, name, alias, url, headline }: Person, at: number): Item => ({
  '@type': '@pronet_group_member',
  user: { '@type': '@pronet_group_user', urn, name, alias, url, ...(headline !== null && { headline }) },
  role: at === 0 ? 'owner' : 'member',
  joined_at: 1_600_000_000_000 + at * 86_400_000,
});

const userOf = (person: Person): Item => ({
  '@type': '@pronet_search_user',
  internal_id: person.internalId,
  urn: person.urn,
  name: person.name,
  alias: person.alias,
  url: person.url,
  image: person.portrait,
  headline: person.headline,
  location: person.location,
  open_to_work: person.openToWork,
});

/**
 * The number of rows in the answers: one for each item, and one for each element of every list in it, at any depth. The
 * rates of all contestants use this number, whatever their tables are.
 */
export function rowsIn({ items, answers }: Pick<Workload, 'items' | 'answers'>): number {
  let rows = 0;
  for (let index = 0; index < answers; index += 1) rows += elementsOf(items(index));
  return rows;
}

function elementsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, it) => sum + 1 + elementsOf(it), 0);
  if (value === null || typeof value !== 'object') return 0;
  return Object.values(value).reduce<number>((sum, it) => sum + elementsOf(it), 0);
}
