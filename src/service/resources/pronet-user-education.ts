/** Schools that people of the professional network list. */
import { fromRequest, object, required, text, identifier, personal } from '../field.ts';
import { resource } from '../resource.ts';
import { companySeen, educationCompanyFields, pronetCompany } from './pronet-people.ts';

const requestedUrn = (request: Readonly<Record<string, unknown>>, part: 'type' | 'value'): unknown =>
  (request['urn'] as Readonly<Record<string, unknown>> | undefined)?.[part];

export const pronetUserEducation = resource({
  name: 'PronetUserEducation',
  tag: '@pronet_user_education',
  table: 'pronet_user_educations',
  noun: 'education',
  topic: 'Professional network',
  about: 'Schools that a person lists, in the person’s order.',
  key: ['user_urn_type', 'user_urn_value', 'position'],
  owner: ['user_urn_type', 'user_urn_value'],
  fields: {
    user_urn_type: fromRequest('text', 'URN type of the requested person.', ({ request }) =>
      requestedUrn(request, 'type'),
    ),
    user_urn_value: identifier(
      fromRequest('text', 'URN value of the requested person.', ({ request }) => requestedUrn(request, 'value')),
    ),
    position: fromRequest('integer', 'Position in the person’s list, from 0.', (_, position) => position),
    company: required(
      object('The school.', educationCompanyFields, { tag: pronetCompany.tag, observation: companySeen('full') }),
    ),
    major: personal(text('Degree and field of study, as written.')),
    interval: personal(text('Years attended, as written.')),
    description: personal(text('The person’s description of the education.')),
  },
});
