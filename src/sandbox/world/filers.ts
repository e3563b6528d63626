/** The companies of the world as filers: their keys, states and codes, and the companies that match a search. */
import { type Drawing, happens, pick, weighted } from './draw.ts';
import type { Organizations } from './organizations.ts';
import { INCORPORATED_IN, LISTED, SICS } from './words/companies.ts';
import { STATES } from './words/places.ts';

export interface Filer {
  readonly name: string;
  readonly ticker: string | null;
  /** Central index key: ten digits. */
  readonly cik: string;
  readonly sic: string | null;
  readonly state: string;
  readonly city: string;
  readonly incorporatedIn: string | null;
}

export interface Filers {
  readonly count: number;
  readonly at: (company: number) => Filer;
  /**
   * The indexes of the companies that match an entity name and state codes, ascending; undefined if all match. A name
   * is a ticker or any part of a company's name, in any letter case.
   */
  readonly matching: (entityName: string, states: readonly string[]) => readonly number[] | undefined;
}

const FIRST_CIK = 1_100_000;

export function filersOf(draw: Drawing, companies: Organizations): Filers {
  const rest = draw('filer rest');
  const stateAt = weighted(STATES.map(({ weight }) => weight));
  const stateOf = (company: number): (typeof STATES)[number] =>
    STATES[stateAt(rest(company))] as (typeof STATES)[number];
  const codeOf = (company: number): string => LISTED[company]?.state ?? stateOf(company).code;

  return {
    count: companies.count,
    at: (company) => {
      const name = companies.name(company);
      const known = LISTED[company];
      if (known) return known;
      const { code, city } = stateOf(company);
      return {
        name,
        ticker: happens(rest(company, 1), 0.5) ? tickerOf(name, company) : null,
        cik: String(FIRST_CIK + company * 37).padStart(10, '0'),
        sic: happens(rest(company, 2), 0.05) ? null : pick(SICS, rest(company, 3)),
        state: code,
        city,
        incorporatedIn: happens(rest(company, 4), 0.1) ? null : pick(INCORPORATED_IN, rest(company, 5)),
      };
    },
    matching: (entityName, states) => {
      const wanted = entityName.trim().toLowerCase();
      const codes = new Set(states.map((code) => code.trim().toUpperCase()));
      if (wanted === '' && codes.size === 0) return undefined;
      const found: number[] = [];
      for (let company = 0; company < companies.count; company++) {
        if (codes.size > 0 && !codes.has(codeOf(company))) continue;
        if (wanted === '' || answersTo(company, wanted)) found.push(company);
      }
      return found;
    },
  };

  function answersTo(company: number, wanted: string): boolean {
    const name = companies.name(company);
    if (name.toLowerCase().includes(wanted)) return true;
    const known = LISTED[company];
    const ticker = known ? known.ticker : happens(rest(company, 1), 0.5) ? tickerOf(name, company) : '';
    return ticker.toLowerCase() === wanted;
  }
}

/** Generated tickers end with the letters of a number, so they never equal a well-known one. */
const tickerOf = (name: string, company: number): string =>
  `${name
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
    .slice(0, 2)
    .toUpperCase()}${(company + 676).toString(26).replaceAll(/./g, (digit) => String.fromCharCode(65 + Number.parseInt(digit, 26)))}`;
