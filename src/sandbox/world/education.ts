/** The schools that a person lists, latest first. A search by school finds the person by the same schools. */
import { between, type Drawing, happens, pick } from './draw.ts';
import type { Sign } from './images.ts';
import type { Organization, Organizations } from './organizations.ts';
import type { People } from './people.ts';
import type { Wire } from '../wire.ts';
import type { IndustryName } from './words/industries.ts';
import { DEGREES, MAJORS } from './words/people.ts';
import { sentence } from './words/prose.ts';

export type Educations = (person: number, count: number, sign: Sign) => Wire[];

export function educationsOf(draw: Drawing, people: People, schools: Organizations): Educations {
  const detail = draw('education detail');
  const prose = draw('education prose');
  return (person, count, sign) =>
    people
      .schools(person)
      .slice(0, count)
      .map((school, position) => {
        const drawn = (slot: number): number => detail(person, position * 8 + slot);
        const end = 2024 - 5 * position - (drawn(0) % 12);
        const degree = `${pick(DEGREES, drawn(1))}, ${pick(MAJORS, drawn(2))}`;
        return {
          '@type': '@pronet_user_education',
          company: schoolItem(schools.at(school), happens(drawn(3), 0.06), happens(drawn(4), 0.1), sign),
          major: happens(drawn(5), 0.1) ? null : degree,
          interval: happens(drawn(6), 0.1) ? null : `${end - between(drawn(0), 2, 5)} - ${end}`,
          description: happens(drawn(7), 0.6) ? null : sentence(prose, person, position),
        };
      });
}

/** A school that was entered by hand has only a name. */
function schoolItem(school: Organization, byHand: boolean, sparse: boolean, sign: Sign): Wire {
  const tag = { '@type': '@pronet_user_education_company', name: school.name };
  if (byHand) return tag;
  const page = { ...tag, urn: school.urn, url: school.url, alias: school.alias };
  if (sparse) return page;
  return {
    ...page,
    industry: industryUrn(school.industry),
    industry_full: industryItem(school.industry),
    employee_range: school.employeeRange,
    logo_url: sign(school.logo),
  };
}

/** An industry's URN, as answers contain it. */
export const industryUrn = ({ number }: IndustryName): Wire => ({ type: 'industry', value: number });

const industryItem = (industry: IndustryName): Wire => ({
  '@type': '@pronet_industry',
  urn: industryUrn(industry),
  name: industry.name,
  hierarchy: industry.hierarchy,
  description: `Organizations whose main business is ${industry.name.toLowerCase()}.`,
});
