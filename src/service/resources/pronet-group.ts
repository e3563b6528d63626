/** Groups of the professional network, with the members that they show. */
import { epoch, integer, object, objects, required, text, urn, volatile, identifier, personal } from '../field.ts';
import { resource } from '../resource.ts';
import { industryReference, personSeen } from './pronet-people.ts';

const user = object(
  'The member.',
  {
    urn: identifier(urn('The member’s URN.', 'fsd_profile')),
    name: personal(text('Name of the member.')),
    alias: personal(text('Public handle of the member.')),
    url: personal(text('Address of the member’s profile.')),
    headline: personal(text('The line under the member’s name.')),
  },
  { tag: '@pronet_group_user', observation: personSeen('preview') },
);

export const pronetGroup = resource({
  name: 'PronetGroup',
  tag: '@pronet_group',
  table: 'pronet_groups',
  noun: 'group',
  topic: 'Professional network',
  about: 'Groups of the professional network.',
  key: ['urn_type', 'urn_value'],
  identifiedBy: { url: 'name', name: 'text' },
  names: { urn: 'urn', urn_value: 'id', url: 'url' },
  measures: ['member_count'],
  fields: {
    urn: required(urn('The group’s URN.', 'group')),
    name: required(text('Name of the group.')),
    url: required(text('Address of the group.')),
    member_count: required(integer('Number of members that the group reports.')),
    image: volatile(text('Address of the group’s picture; signed and short-lived.')),
    created_at: epoch('Time when the group was founded.'),
    description: text('Description of the group.'),
    rules: text('Rules of the group.'),
    geo: urn('URN of the place that the group belongs to.', 'geo'),
    industries: objects(
      'Industries of the group.',
      { type: text('URN type of the industry.'), value: text('URN value of the industry.') },
      { key: ['type', 'value'], observation: industryReference },
    ),
    members: objects(
      'Members that the group shows.',
      {
        user,
        role: text('Role in the group, such as owner.'),
        joined_at: epoch('Time when the member joined.'),
      },
      { tag: '@pronet_group_member', key: ['user_urn_type', 'user_urn_value'] },
    ),
  },
});
