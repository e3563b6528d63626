/** Schools that people of the professional network list. */
import { fromRequest, object, required, text } from '../field.ts';
import { resource } from '../resource.ts';
import { companySeen, educationCompanyFields, pronetCompany } from './pronet-people.ts';

const askedUrn = (request: Readonly<Record<string, unknown>>, part: 'type' | 'value'): unknown =>
  (request['urn'] as Readonly<Record<string, unknown>> | undefined)?.[part];

export const pronetUserEducation = resource({
  name: 'PronetUserEducation',
  tag: '@pronet_user_education',
  table: 'pronet_user_educations',
  noun: 'education',
  about: 'Schools that a person lists, in the person’s order.',
  key: ['user_urn_type', 'user_urn_value', 'position'],
  owner: ['user_urn_type', 'user_urn_value'],
  fields: {
    user_urn_type: fromRequest('text', 'URN type of the person asked about.', ({ request }) =>
      askedUrn(request, 'type'),
    ),
    user_urn_value: fromRequest('text', 'URN value of the person asked about.', ({ request }) =>
      askedUrn(request, 'value'),
    ),
    position: fromRequest('integer', 'Place in the person’s list, from 0.', (_, position) => position),
    company: required(
      object('The school.', educationCompanyFields, { tag: pronetCompany.tag, observation: companySeen('full') }),
    ),
    major: text('Degree and field of study, as written.'),
    interval: text('Years attended, as written.'),
    description: text('What the person says about it.'),
  },
});
