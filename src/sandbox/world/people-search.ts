/** Finds people. Each filter becomes flags on small tables, and people are scanned until enough match. */
import type { Urn } from '../../service/names/urn.ts';
import { marks, named, type Organizations } from './organizations.ts';
import type { People } from './people.ts';
import { INDUSTRIES } from './words/industries.ts';
import { FIRST_NAMES, LAST_NAMES, TITLES } from './words/people.ts';
import { PLACES } from './words/places.ts';
import { holdsWords, wordsOf } from './words/prose.ts';

type Wanted = readonly (Urn | string)[] | null | undefined;

/** The parameters of a search, as in the contract. Empty texts and absent lists do not filter. */
export interface PeopleQuery {
  readonly count: number;
  readonly keywords: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly title: string;
  readonly company_keywords: string;
  readonly school_keywords: string;
  readonly current_company?: Wanted;
  readonly past_company?: Wanted;
  readonly location?: Wanted;
  readonly industry?: Wanted;
  readonly education?: Wanted;
}

export interface PeopleFound {
  readonly indexes: readonly number[];
  /** The number of people examined. */
  readonly looked: number;
}

/** The maximum number of hits for a free keyword without other filters. */
const KEYWORD_ONLY = 10;

export type PeopleSearch = (query: PeopleQuery) => PeopleFound;

type Test = (index: number) => boolean;

export const peopleSearch =
  (people: People, companies: Organizations, schools: Organizations): PeopleSearch =>
  (query) => {
    const narrowing = testsOf(query, people, companies, schools);
    const free = keywordTests(query.keywords, people, companies);
    const most = narrowing.length === 0 && free.length > 0 ? Math.min(KEYWORD_ONLY, query.count) : query.count;
    return scan(people.count, [...narrowing, ...free], most);
  };

function scan(count: number, tests: readonly Test[], most: number): PeopleFound {
  const indexes: number[] = [];
  let index = 0;
  for (; index < count && indexes.length < most; index++) {
    const at = index;
    if (tests.every((test) => test(at))) indexes.push(index);
  }
  return { indexes, looked: index };
}

function testsOf(query: PeopleQuery, people: People, companies: Organizations, schools: Organizations): Test[] {
  const tests: Test[] = [];
  const word = (text: string, toTest: (words: readonly string[]) => Test): void => {
    const words = wordsOf(text);
    if (text.trim() !== '') tests.push(words.length === 0 ? () => false : toTest(words));
  };
  const list = (wanted: Wanted, toTest: (wanted: readonly (Urn | string)[]) => Test): void => {
    if (wanted != null && wanted.length > 0) tests.push(toTest(wanted));
  };
  const visible =
    (test: Test): Test =>
    (index) =>
      test(index) && !people.isMasked(index);

  word(query.title, (words) =>
    marked(
      textMarks(
        TITLES.map(([name]) => name),
        words,
      ),
      people.title,
    ),
  );
  word(query.first_name, () => visible(marked(sameMarks(FIRST_NAMES, query.first_name), people.first)));
  word(query.last_name, () => visible(marked(sameMarks(LAST_NAMES, query.last_name), people.last)));
  list(query.location, (wanted) => marked(placeMarks(wanted), people.place));
  word(query.company_keywords, (words) => marked(nameMarks(companies, words), people.company));
  list(query.current_company, (wanted) => marked(named(companies, wanted), people.company));
  list(query.industry, (wanted) => marked(industryMarks(companies, wanted), people.company));
  list(query.past_company, (wanted) => anyMarked(named(companies, wanted), people.pastCompanies));
  list(query.education, (wanted) => anyMarked(named(schools, wanted), people.schools));
  word(query.school_keywords, (words) => anyMarked(nameMarks(schools, words), people.schools));
  return tests;
}

/** Each word of a free keyword must occur on the profile: in the name, title, company or place. */
function keywordTests(keywords: string, people: People, companies: Organizations): Test[] {
  const words = wordsOf(keywords);
  if (words.length === 0) return keywords.trim() === '' ? [] : [() => false];
  return words.map((word) => {
    const places = marks(PLACES.length, (at) => holdsWords(placeText(at), [word]));
    const title = marked(
      textMarks(
        TITLES.map(([name]) => name),
        [word],
      ),
      people.title,
    );
    const company = marked(nameMarks(companies, [word]), people.company);
    const place = marked(places, people.place);
    const first = marked(textMarks(FIRST_NAMES, [word]), people.first);
    const last = marked(textMarks(LAST_NAMES, [word]), people.last);
    const named = (index: number): boolean => !people.isMasked(index) && (first(index) || last(index));
    return (index) => title(index) || place(index) || company(index) || named(index);
  });
}

const marked =
  (marks: Uint8Array, of: (index: number) => number): Test =>
  (index) =>
    marks[of(index)] === 1;

const anyMarked =
  (marks: Uint8Array, of: (index: number) => readonly number[]): Test =>
  (index) =>
    of(index).some((at) => marks[at] === 1);

const placeText = (at: number): string => {
  const { city, country } = PLACES[at] as (typeof PLACES)[number];
  return `${city}, ${country}`;
};

const textMarks = (texts: readonly string[], words: readonly string[]): Uint8Array =>
  marks(texts.length, (at) => holdsWords(texts[at] as string, words));

const sameMarks = (texts: readonly string[], wanted: string): Uint8Array =>
  marks(texts.length, (at) => (texts[at] as string).toLowerCase() === wanted.trim().toLowerCase());

const nameMarks = (organizations: Organizations, words: readonly string[]): Uint8Array =>
  marks(organizations.count, (at) => holdsWords(organizations.name(at), words));

/** Matches a city, a country or both, as written on a profile, or the URN of a city. */
function placeMarks(wanted: readonly (Urn | string)[]): Uint8Array {
  const names = new Set(wanted.filter((it) => typeof it === 'string').map((it) => it.trim().toLowerCase()));
  const values = new Set(wanted.filter((it) => typeof it !== 'string').map((it) => it.value));
  return marks(PLACES.length, (at) => {
    const { city, country, geo } = PLACES[at] as (typeof PLACES)[number];
    return values.has(geo) || [city, country, `${city}, ${country}`].some((name) => names.has(name.toLowerCase()));
  });
}

/** Companies in an industry or in a subordinate one. */
function industryMarks(companies: Organizations, wanted: readonly (Urn | string)[]): Uint8Array {
  const names = new Set(wanted.filter((it) => typeof it === 'string').map((it) => it.trim().toLowerCase()));
  const values = new Set(wanted.filter((it) => typeof it !== 'string').map((it) => it.value));
  for (const { name, number } of INDUSTRIES) if (values.has(number)) names.add(name.toLowerCase());
  return marks(companies.count, (at) => {
    const { name, top } = companies.industry(at);
    return names.has(name.toLowerCase()) || names.has(top.toLowerCase());
  });
}
