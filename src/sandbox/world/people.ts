/** The people of the professional network, each computed from an index. */
import type { Urn } from '../../service/names/urn.ts';
import { between, digestOf, type Drawing, happens, scramble, unscramble, weighted } from './draw.ts';
import { KNOWN_PEOPLE, KNOWN_PLACES, KNOWN_TITLE } from './known.ts';
import type { Organizations } from './organizations.ts';
import { FIRST_NAMES, LAST_NAMES, TITLES } from './words/people.ts';
import { PLACES } from './words/places.ts';
import { slugOf } from './words/prose.ts';

export interface Person {
  readonly index: number;
  readonly urn: Urn;
  readonly internalId: Urn;
  readonly name: string;
  readonly alias: string;
  readonly url: string;
  /** Path of the portrait in the picture store; null for people without one. */
  readonly portrait: string | null;
  readonly headline: string | null;
  readonly location: string | null;
  readonly openToWork: boolean;
}

/** Properties as numbers, so that a search can scan people without building them. */
export interface People {
  readonly count: number;
  readonly first: (index: number) => number;
  readonly last: (index: number) => number;
  readonly title: (index: number) => number;
  readonly place: (index: number) => number;
  readonly company: (index: number) => number;
  readonly pastCompanies: (index: number) => number[];
  /** Schools, latest first. */
  readonly schools: (index: number) => number[];
  /** True for people who hide their name from strangers. */
  readonly isMasked: (index: number) => boolean;
  readonly at: (index: number) => Person;
  /** The index of the person with this profile URN; undefined if there is none. */
  readonly byUrn: (urn: Urn) => number | undefined;
}

const MASKED = 'Network Member';
const PROFILE = 'fsd_profile';

export function peopleOf(draw: Drawing, count: number, companies: Organizations, schools: Organizations): People {
  const titleAt = weighted(TITLES.map(([, weight]) => weight));
  const placeAt = weighted(PLACES.map(({ weight }) => weight));
  const educationsAt = weighted([12, 35, 35, 13, 5]);
  const draws = {
    first: draw('person first name'),
    last: draw('person last name'),
    title: draw('person title'),
    place: draw('person place'),
    company: draw('person company'),
    past: draw('person past companies'),
    school: draw('person school'),
    rest: draw('person rest'),
  };
  const key = digestOf('profile') ^ draw('person urn')(0);
  const codeOf = (index: number): string =>
    scramble(index ^ key)
      .toString(36)
      .padStart(7, '0');
  const profileOf = (index: number): string => `ACoAA${codeOf(index)}`;

  const first = (index: number): number => draws.first(index) % FIRST_NAMES.length;
  const last = (index: number): number => draws.last(index) % LAST_NAMES.length;
  const title = (index: number): number => (index < KNOWN_PEOPLE ? KNOWN_TITLE_AT : titleAt(draws.title(index)));
  const place = (index: number): number =>
    index < KNOWN_PEOPLE ? (KNOWN_PLACES_AT[index % KNOWN_PLACES_AT.length] as number) : placeAt(draws.place(index));
  const company = (index: number): number => draws.company(index) % companies.count;
  const isMasked = (index: number): boolean => index >= KNOWN_PEOPLE && happens(draws.rest(index), 0.03);
  const several = (
    index: number,
    many: number,
    by: (index: number, slot: number) => number,
    below: number,
  ): number[] => [...new Set(Array.from({ length: many }, (_, slot) => by(index, 1 + slot) % below))];

  const at = (index: number): Person => {
    const masked = isMasked(index);
    const given = FIRST_NAMES[first(index)] as string;
    const family = LAST_NAMES[last(index)] as string;
    const alias = masked ? 'member' : `${slugOf(given)}-${slugOf(family)}-${codeOf(index)}`;
    const spot = PLACES[place(index)] as (typeof PLACES)[number];
    const bare = index >= KNOWN_PEOPLE && happens(draws.rest(index, 1), 0.02);
    return {
      index,
      urn: { type: PROFILE, value: profileOf(index) },
      internalId: { type: 'member', value: String(100_000_000 + index) },
      name: masked ? MASKED : `${given} ${family}`,
      alias,
      url: `https://pronet.example/in/${alias}/`,
      portrait: masked || happens(draws.rest(index, 2), 0.1) ? null : `pronet/portrait/${codeOf(index)}.jpg`,
      headline: bare
        ? null
        : `${(TITLES[title(index)] as (typeof TITLES)[number])[0]} at ${companies.name(company(index))}`,
      location: happens(draws.rest(index, 3), 0.02) && index >= KNOWN_PEOPLE ? null : `${spot.city}, ${spot.country}`,
      openToWork: happens(draws.rest(index, 4), 0.2),
    };
  };

  return {
    count,
    first,
    last,
    title,
    place,
    company,
    pastCompanies: (index) => several(index, between(draws.past(index), 0, 3), draws.past, companies.count),
    schools: (index) => several(index, educationsAt(draws.school(index)), draws.school, schools.count),
    isMasked,
    at,
    byUrn: ({ type, value }) => {
      const code = /^ACoAA([0-9a-z]{7})$/.exec(value)?.[1];
      if (type !== PROFILE || code === undefined) return undefined;
      const index = (unscramble(Number.parseInt(code, 36)) ^ key) >>> 0;
      return index < count && profileOf(index) === value ? index : undefined;
    },
  };
}

const KNOWN_TITLE_AT = TITLES.findIndex(([name]) => name === KNOWN_TITLE);
const KNOWN_PLACES_AT = KNOWN_PLACES.map((city) => PLACES.findIndex((place) => place.city === city));
