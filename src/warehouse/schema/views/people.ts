/** Views of the people, schools and groups of the professional network. */
import { as, bigint, flag, integer, since, taken, text, view } from './view.ts';

const school = (column: string) => as('pronet_user_educations', column);
const person = (column: string) => as('pronet_users', column);

export const peopleViews = [
  view(
    'pronet_user_overview',
    'People of the professional network with their latest school: one row a person.',
    ['urn_type', 'urn_value'],
    {
      ...taken('pronet_users', 'urn_type', 'urn_value', 'name', 'alias', 'url', 'headline', 'location', 'open_to_work'),
      school_count: bigint('Schools that the person lists; 0 also while nobody asked for them.'),
      school_name: text('The latest school: that with the latest year, of several the one listed first.'),
      school_urn_type: school('company_urn_type'),
      school_urn_value: school('company_urn_value'),
      school_industry: text('Industry of the latest school.'),
      school_major: text('Degree and field of study at the latest school, as written.'),
      school_interval: text('Years at the latest school, as written.'),
      school_end_year: integer('The latest year in the interval of the latest school.'),
      group_count: bigint('Loaded groups that show the person as a member.'),
      search_count: bigint('Searches that returned the person.'),
      detail: text('The most that was ever seen of the person: reference, preview or full.'),
      ...since,
    },
  ),
  view(
    'pronet_user_school_overview',
    'Schools that people list, with the person and the school: one row for each of the two.',
    ['user_urn_type', 'user_urn_value', 'position'],
    {
      ...taken('pronet_user_educations', 'user_urn_type', 'user_urn_value', 'position'),
      user_name: person('name'),
      user_headline: person('headline'),
      user_location: person('location'),
      is_latest: flag('Whether it is the person’s latest school.'),
      school_urn_type: school('company_urn_type'),
      school_urn_value: school('company_urn_value'),
      school_name: school('company_name'),
      school_url: school('company_url'),
      school_industry: text('Industry of the school.'),
      school_employee_range: school('company_employee_range'),
      major: school('major'),
      interval: school('interval'),
      start_year: integer('The earliest year in the interval.'),
      end_year: integer('The latest year in the interval.'),
    },
  ),
  view(
    'pronet_user_search_hit_overview',
    'Whom the searches of which sync returned: one row for each search and person.',
    ['sync', 'request_key', 'user_urn_type', 'user_urn_value'],
    {
      ...taken('pronet_user_search_hits', 'sync', 'request_key', 'position', 'user_urn_type', 'user_urn_value'),
      user_name: person('name'),
      user_alias: person('alias'),
      user_url: person('url'),
      user_headline: person('headline'),
      user_location: person('location'),
      user_open_to_work: person('open_to_work'),
    },
  ),
  view(
    'pronet_group_overview',
    'Groups of the professional network with what they show: one row a group.',
    ['urn_type', 'urn_value'],
    {
      ...taken('pronet_groups', 'urn_type', 'urn_value', 'name', 'url', 'description', 'member_count'),
      shown_member_count: bigint('Members that the group’s page shows; null when not told.'),
      owner_count: bigint('Shown members whose role is owner.'),
      owners: text('Names of shown members whose role is owner, with semicolons between them.'),
      industries: text(
        'Names of the group’s industries, with semicolons between them; the URN where there is no name.',
      ),
      ...taken('pronet_groups', 'created_at', 'geo_type', 'geo_value'),
      ...since,
    },
  ),
  view(
    'pronet_group_member_overview',
    'Members that groups show, with the group and the person: one row for each of the two.',
    ['group_urn_type', 'group_urn_value', 'user_urn_type', 'user_urn_value'],
    {
      ...taken('pronet_group_members', 'group_urn_type', 'group_urn_value'),
      group_name: as('pronet_groups', 'name'),
      group_url: as('pronet_groups', 'url'),
      group_member_count: as('pronet_groups', 'member_count'),
      ...taken('pronet_group_members', 'user_urn_type', 'user_urn_value'),
      user_name: person('name'),
      user_alias: person('alias'),
      user_url: person('url'),
      user_headline: person('headline'),
      user_location: person('location'),
      ...taken('pronet_group_members', 'role', 'joined_at'),
    },
  ),
];
