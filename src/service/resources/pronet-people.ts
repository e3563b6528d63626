/** People, organizations and industries of the professional network: dimensions that each observation updates. */
import { fallback, boolean, object, required, text, urn, volatile, identifier, personal } from '../field.ts';
import type { Detail, ObservationSpec, Resource } from '../model.ts';
import { resource } from '../resource.ts';
import { COMPANY_URN_TYPES } from '../names/urn.ts';

export const pronetUser = resource({
  name: 'PronetSearchUser',
  tag: '@pronet_search_user',
  table: 'pronet_users',
  noun: 'user',
  topic: 'Professional network',
  about: 'People of the professional network: one row per person, from searches, authorship, mentions and memberships.',
  key: ['urn_type', 'urn_value'],
  shared: true,
  filters: ['alias'],
  identifiedBy: { internal_id: 'permanent', alias: 'name', url: 'name', name: 'text' },
  fields: {
    internal_id: identifier(required(urn('The network’s internal identifier of the person.', 'member'))),
    urn: identifier(required(urn('The person’s URN.', 'fsd_profile'))),
    name: personal(required(text('Name displayed on the profile.'))),
    alias: personal(
      required(text('Public handle in the profile’s address; it can change hands, so it is not an identifier.')),
    ),
    url: personal(required(text('Address of the profile.'))),
    image: personal(volatile(text('Address of the portrait; signed and short-lived.'))),
    headline: personal(text('The line under the name.')),
    location: personal(text('Place as written on the profile.')),
    open_to_work: fallback(boolean('Whether the person states that they look for work.'), false),
  },
});

const pronetIndustry = resource({
  name: 'Industry',
  tag: '@pronet_industry',
  table: 'pronet_industries',
  noun: 'industry',
  topic: 'Professional network',
  about: 'Industries of the professional network’s taxonomy.',
  key: ['urn_type', 'urn_value'],
  shared: true,
  fields: {
    urn: urn('The industry’s URN.', 'industry'),
    name: text('Name of the industry.'),
    hierarchy: text('Path from the top-level industry down to this one.'),
    description: text('Description of the industry.'),
  },
});

/** An observation of an entity of one resource. */
const observed = (resource: Resource, detail: Detail): ObservationSpec => ({
  detail,
  resourceOf: () => resource,
  resources: () => [resource],
});
const seenIndustry = (detail: Detail): ObservationSpec => observed(pronetIndustry, detail);
export const industryReference: ObservationSpec = { ...seenIndustry('reference'), bare: true };

const industryFull = object(
  'The organization’s industry in full.',
  { ...pronetIndustry.fields },
  { tag: pronetIndustry.tag, observation: seenIndustry('full') },
);
const industry = { ...urn('The organization’s industry.', 'industry'), observation: industryReference };

/** The fields of a school in an education. */
export const educationCompanyFields = {
  name: required(text('Name of the organization.')),
  urn: urn('The organization’s URN.', 'fsd_company'),
  url: text('Address of the organization’s page.'),
  alias: text('Public handle in the page’s address; it can change hands, so it is not an identifier.'),
  industry,
  industry_full: industryFull,
  employee_range: text('Size class by number of employees, as written.'),
  logo_url: volatile(text('Address of the logo; signed and short-lived.')),
};

export const pronetCompany = resource({
  name: 'EducationCompany',
  tag: '@pronet_user_education_company',
  table: 'pronet_companies',
  noun: 'company',
  topic: 'Professional network',
  about: 'Organizations of the professional network (companies and schools), from educations, authorship and mentions.',
  key: ['urn_type', 'urn_value'],
  shared: true,
  filters: ['alias'],
  identifiedBy: { internal_id: 'permanent', alias: 'name', url: 'name', name: 'text' },
  fields: {
    internal_id: urn('The network’s internal identifier of the organization.', 'company'),
    ...educationCompanyFields,
    headline: text('The line under the name.'),
    image: volatile(text('Address of the picture shown beside its posts; signed and short-lived.')),
  },
});

/** A person or an organization, distinguished by the type of the URN. */
export const partySeen = (detail: Detail): ObservationSpec => ({
  detail,
  resourceOf: (urnType) => (COMPANY_URN_TYPES.includes(urnType) ? pronetCompany : pronetUser),
  resources: () => [pronetUser, pronetCompany],
});
export const personSeen = (detail: Detail): ObservationSpec => observed(pronetUser, detail);
export const companySeen = (detail: Detail): ObservationSpec => observed(pronetCompany, detail);
