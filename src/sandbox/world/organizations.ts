/** Companies and schools of the professional network; the same companies also make filings. */
import type { Urn } from '../../service/names/urn.ts';
import { type Drawing, pick, weighted } from './draw.ts';
import { EMPLOYEE_RANGES, FIRST_PARTS, LEGAL_FORMS, LISTED, SECOND_PARTS } from './words/companies.ts';
import { HIGHER_EDUCATION, INDUSTRIES, type IndustryName } from './words/industries.ts';
import { PLACES } from './words/places.ts';
import { slugOf } from './words/prose.ts';

export interface Organization {
  readonly urn: Urn;
  readonly internalId: Urn;
  readonly name: string;
  readonly alias: string;
  readonly url: string;
  readonly industry: IndustryName;
  readonly employeeRange: string;
  readonly headline: string;
  /** Path of the logo in the picture store. */
  readonly logo: string;
}

/** One kind of organization: the number of them, and each by its index. */
export interface Organizations {
  readonly count: number;
  readonly name: (index: number) => string;
  readonly urnValue: (index: number) => string;
  readonly industry: (index: number) => IndustryName;
  readonly at: (index: number) => Organization;
}

const FIRST_COMPANY = 10_000;
const FIRST_SCHOOL = 20_000_000;

/** The companies of the world; those with a well-known ticker are first. */
export function companiesOf(draw: Drawing, count: number): Organizations {
  const nameOf = companyNames(draw('company name')(0));
  const industryOf = draw('company industry');
  const sizeOf = draw('company size');
  const industry = (index: number): IndustryName => pick(INDUSTRIES, industryOf(index));
  return organizationsOf({
    count,
    firstId: FIRST_COMPANY,
    path: 'company',
    name: nameOf,
    industry,
    employeeRange: (index) => pick(EMPLOYEE_RANGES, sizeOf(index)),
  });
}

/** The schools of the world: the same for every size, four per city. */
export function schoolsOf(draw: Drawing): Organizations {
  const patterns = [
    (city: string) => `University of ${city}`,
    (city: string) => `Technical University of ${city}`,
    (city: string) => `${city} Business School`,
    (city: string) => `${city} Institute of Arts`,
  ];
  const range = weighted(EMPLOYEE_RANGES.map((_, at) => at));
  const sizeOf = draw('school size');
  const nameOf = (index: number): string =>
    (patterns[index % patterns.length] as (city: string) => string)(
      pick(PLACES, Math.floor(index / patterns.length)).city,
    );
  return organizationsOf({
    count: PLACES.length * patterns.length,
    firstId: FIRST_SCHOOL,
    path: 'school',
    name: nameOf,
    industry: () => HIGHER_EDUCATION,
    employeeRange: (index) => EMPLOYEE_RANGES[range(sizeOf(index))] as string,
  });
}

interface OrganizationKind extends Pick<Organizations, 'count' | 'name' | 'industry'> {
  readonly firstId: number;
  /** The first part of the path of its pages. */
  readonly path: 'company' | 'school';
  readonly employeeRange: (index: number) => string;
}

function organizationsOf({ count, firstId, path, name, industry, employeeRange }: OrganizationKind): Organizations {
  const urnValue = (index: number): string => String(firstId + index);
  const at = (index: number): Organization => {
    const named = name(index);
    const alias = slugOf(named);
    return {
      urn: { type: 'fsd_company', value: urnValue(index) },
      internalId: { type: 'company', value: urnValue(index) },
      name: named,
      alias,
      url: `https://pronet.example/${path}/${alias}/`,
      industry: industry(index),
      employeeRange: employeeRange(index),
      headline: `${(index * 7919) % 90_000} followers`,
      logo: `pronet/logo/${urnValue(index)}.png`,
    };
  };
  return { count, name, urnValue, industry, at };
}

/** Each generated name is used once before names get numbers. */
function companyNames(offset: number): (index: number) => string {
  const many = FIRST_PARTS.length * SECOND_PARTS.length * LEGAL_FORMS.length;
  return (index) => {
    const known = LISTED[index];
    if (known) return known.name;
    const nth = index - LISTED.length;
    // The stride is a prime above the number of parts, so it reaches every combination.
    const combination = (nth * 7919 + (offset % many)) % many;
    const [form, rest] = [combination % LEGAL_FORMS.length, Math.floor(combination / LEGAL_FORMS.length)];
    const again = Math.floor(nth / many);
    const number = again === 0 ? '' : ` ${again + 1}`;
    return `${pick(FIRST_PARTS, rest)} ${pick(SECOND_PARTS, Math.floor(rest / FIRST_PARTS.length))}${number} ${LEGAL_FORMS[form] as string}`;
  };
}

/** A flag by index for the organizations with these URNs or names. */
export function named(organizations: Organizations, wanted: readonly (Urn | string)[]): Uint8Array {
  const names = new Set(wanted.filter((it) => typeof it === 'string').map((it) => it.trim().toLowerCase()));
  const values = new Set(wanted.filter((it) => typeof it !== 'string').map((it) => it.value));
  return marks(
    organizations.count,
    (index) => names.has(organizations.name(index).toLowerCase()) || values.has(organizations.urnValue(index)),
  );
}

/** A flag for each index, set if the index passes. */
export function marks(count: number, passes: (index: number) => boolean): Uint8Array {
  const marked = new Uint8Array(count);
  for (let index = 0; index < count; index++) if (passes(index)) marked[index] = 1;
  return marked;
}
