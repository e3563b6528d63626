/** The authors and mentioned entities of posts: a person or a company. */
import type { Urn } from '../../service/names/urn.ts';
import { happens } from './draw.ts';
import type { Organizations } from './organizations.ts';
import type { People } from './people.ts';

export interface Party {
  readonly kind: 'person' | 'company';
  readonly urn: Urn;
  readonly internalId: Urn;
  readonly name: string;
  readonly alias: string;
  readonly url: string;
  readonly headline: string | null;
  readonly picture: string | null;
}

export interface Parties {
  /** A party from two draws: its kind, and its index among that kind. */
  readonly at: (kind: number, who: number) => Party;
  /** A party other than `than`. */
  readonly other: (than: Party, kind: number, who: number) => Party;
}

const COMPANY_SHARE = 0.2;

export function partiesOf(people: People, companies: Organizations): Parties {
  const at = (kind: number, who: number): Party => (happens(kind, COMPANY_SHARE) ? company(who) : person(who));
  const person = (who: number): Party => {
    const { portrait, ...rest } = people.at(who % people.count);
    return { kind: 'person', ...rest, picture: portrait };
  };
  const company = (who: number): Party => {
    const { logo, ...rest } = companies.at(who % companies.count);
    return { kind: 'company', ...rest, picture: logo };
  };
  return {
    at,
    other: (than, kind, who) => {
      const first = at(kind, who);
      return first.urn.value === than.urn.value ? at(kind, who + 1) : first;
    },
  };
}
