/** Company filings in any number, each computed on request. */
import { between, type Drawing, happens, pick } from './draw.ts';
import type { Filer, Filers } from './filers.ts';
import { DAY_MS, dayNumber, FIRST_DAY, filingCalendar, isoDay } from './filing-calendar.ts';
import { FORMS, formAt, formMarks } from './filing-forms.ts';
import { filingSlots } from './filing-slots.ts';
import type { Wire } from '../wire.ts';
import { LISTED } from './words/companies.ts';
import { FIRST_NAMES, LAST_NAMES } from './words/people.ts';
import { slugOf } from './words/prose.ts';

/** The parameters of a search, as in the contract. */
export interface FilingQuery {
  readonly count: number;
  readonly entity_name: string;
  readonly forms?: readonly string[] | null | undefined;
  readonly location_codes?: readonly string[] | null | undefined;
  readonly date_from?: string | null | undefined;
  readonly date_to?: string | null | undefined;
}

export interface FoundFilings {
  readonly items: Wire[];
  /** The number of filings examined. */
  readonly looked: number;
}

export interface Filings {
  /** Matching documents, newest first, at most `count`. Filings after today do not exist yet. */
  readonly search: (query: FilingQuery) => FoundFilings;
  /** The number of filings until today. */
  readonly made: () => number;
}

export function filingsOf(draw: Drawing, filings: number, filers: Filers, now: () => Date): Filings {
  const calendar = filingCalendar(draw, filings);
  const slots = filingSlots(draw, filers.count, LISTED.length);
  const formDraw = draw('filing form');
  const rest = draw('filing rest');
  const today = (): number => Math.floor(now().getTime() / DAY_MS);
  const formOf = (filing: number, day: number): number =>
    formAt(formDraw(filing), new Date(day * DAY_MS).getUTCMonth() + 1);

  const search = (query: FilingQuery): FoundFilings => {
    const forms = formMarks(query.forms ?? []);
    const companies = filers.matching(query.entity_name, query.location_codes ?? []);
    const first = query.date_from == null ? FIRST_DAY : dayNumber(query.date_from);
    const last = Math.min(query.date_to == null ? today() : dayNumber(query.date_to), today());
    const [from, to] = calendar.range(first, last);
    const items: Wire[] = [];
    let looked = 0;
    if (forms?.every((mark) => mark === 0) === true) return { items, looked };
    for (const filing of slots.newestFirst(companies, from, to)) {
      looked++;
      const day = calendar.dayOf(filing);
      const form = formOf(filing, day);
      if (forms !== undefined && forms[form] !== 1) continue;
      items.push(...documents(filing, day, form).slice(0, query.count - items.length));
      if (items.length >= query.count) break;
    }
    return { items, looked };
  };

  /** The documents of one filing, as items of an answer. */
  function documents(filing: number, day: number, form: number): Wire[] {
    const { type, documents: all } = FORMS[form] as (typeof FORMS)[number];
    const filer = filers.at(slots.companyOf(filing));
    const facts = factsOf(filing, day, type, filer);
    const many = type === '10-K' ? all.length : between(rest(filing), 1, all.length);
    return all.slice(0, many).map(([file, description]) => {
      const name = file.replace('*', (filer.ticker ?? slugOf(filer.name).slice(0, 6)).toLowerCase());
      const folder = facts.accession_number.replaceAll('-', '');
      return {
        '@type': '@sec_filing',
        file_name: name,
        document_url: `https://filings.example/data/${Number(filer.cik)}/${folder}/${name}`,
        file_description: description,
        ...facts,
      };
    });
  }

  function factsOf(filing: number, day: number, type: string, filer: Filer): Wire & { accession_number: string } {
    const year = new Date(day * DAY_MS).getUTCFullYear();
    const [firstOfYear] = calendar.range(Date.UTC(year, 0, 1) / DAY_MS, day);
    const agent = happens(rest(filing, 1), 0.6) ? filer.cik : pick(AGENTS, rest(filing, 2));
    const number = String(filing - firstOfYear + 1).padStart(6, '0');
    return {
      accession_number: `${agent}-${String(year).slice(2)}-${number}`,
      filing_type: type,
      file_date: isoDay(day),
      period_ending: periodEnding(day, type, rest(filing, 3)),
      ...partiesOf(type, filer, rest(filing, 4)),
      items: type.startsWith('8-K') ? itemsOf(rest(filing, 5)) : NO_ITEMS.has(type) ? null : [],
    };
  }

  return {
    search,
    made: () => calendar.range(FIRST_DAY, today())[1],
  };
}

/** Agents that file for other companies. */
const AGENTS = ['0000950170', '0001193125', '0001628280', '0001213900'];

const OWNERSHIP = new Set(['3', '4', '4/A']);
const NO_ITEMS = new Set(['3', '4', '4/A', '424B2']);
const PERIODLESS = new Set(['S-1', 'S-1/A', 'S-8', '424B2', 'SC 13G', 'SC 13D']);

/**
 * The filers of a filing. Keys and names have the same order; the other lists do not. An ownership form lists the owner
 * first, with an empty location and without state and code.
 */
function partiesOf(type: string, filer: Filer, drawn: number): Wire {
  const named = `${filer.name}  ${filer.ticker === null ? '' : `(${filer.ticker})  `}(CIK ${filer.cik})`;
  const place = `${filer.city}, ${filer.state}`;
  const company = {
    biz_states: [filer.state],
    inc_states: filer.incorporatedIn === null ? (drawn % 2 === 0 ? null : []) : [filer.incorporatedIn],
    sics: filer.sic === null ? (drawn % 2 === 0 ? null : []) : [filer.sic],
  };
  if (!OWNERSHIP.has(type)) return { ciks: [filer.cik], display_names: [named], biz_locations: [place], ...company };
  const cik = String(1_500_000 + (drawn % 400_000)).padStart(10, '0');
  const owner = `${pick(LAST_NAMES, drawn >>> 3)} ${pick(FIRST_NAMES, drawn >>> 11)}  (CIK ${cik})`;
  return { ciks: [cik, filer.cik], display_names: [owner, named], biz_locations: ['', place], ...company };
}

const REPORTED = ['1.01', '2.02', '2.03', '3.02', '4.01', '5.02', '5.07', '7.01', '8.01'];

function itemsOf(drawn: number): string[] {
  const first = drawn % REPORTED.length;
  const second = (drawn >>> 8) % REPORTED.length;
  const items = [REPORTED[Math.min(first, second)] as string, REPORTED[Math.max(first, second)] as string, '9.01'];
  return [...new Set(items)];
}

/** The reported period: the previous quarter for reports, the event for other forms, none for some forms. */
function periodEnding(day: number, type: string, drawn: number): string | null {
  if (PERIODLESS.has(type) || happens(drawn, 0.03)) return null;
  if (!type.startsWith('10-') && type !== '20-F') return isoDay(day - (drawn % 4));
  const date = new Date(day * DAY_MS);
  const quarter = type.startsWith('10-Q') ? Math.floor(date.getUTCMonth() / 3) * 3 : 0;
  return new Date(Date.UTC(date.getUTCFullYear(), quarter, 0)).toISOString().slice(0, 10);
}
