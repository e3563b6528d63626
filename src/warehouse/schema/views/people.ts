/** Views of the people, schools and groups of the professional network. */
import { columnFrom, bigint, boolean, integer, columnsOf, text, view, since, personal } from './view.ts';

const school = (column: string) => columnFrom('pronet_user_educations', column);
const person = (column: string) => columnFrom('pronet_users', column);

/** The first and the last year in the interval of an education: numbers of four digits from 1900 to 2099. */
const YEARS = `cross join lateral (
        select min(word::integer) as "first", max(word::integer) as "last"
        from string_to_table(regexp_replace(e."interval", '[^0-9]+', ' ', 'g'), ' ') as word
        where length(word) = 4 and left(word, 2) in ('19', '20')
      ) y`;

/** Orders educations, latest first: one that continues, then by the last year, then as listed. */
const LATEST = `coalesce(e."interval" ~* 'present|current|today', false) desc, y."last" desc nulls last, e.position`;

export const peopleViews = [
  view(
    'pronet_user_overview',
    'People of the professional network with their latest school: one row per person.',
    ['urn_type', 'urn_value'],
    {
      ...columnsOf(
        'pronet_users',
        'urn_type',
        'urn_value',
        'name',
        'alias',
        'url',
        'headline',
        'location',
        'open_to_work',
      ),
      school_count: bigint('Number of schools that the person lists; 0 also if they were never requested.'),
      school_name: text('Name of the latest school: the one with the latest year, or the first listed of several.'),
      school_urn_type: school('company_urn_type'),
      school_urn_value: school('company_urn_value'),
      school_industry: text('Industry of the latest school.'),
      school_major: personal(text('Degree and field of study at the latest school, as written.')),
      school_interval: personal(text('Years at the latest school, as written.')),
      school_end_year: personal(integer('Latest year in the interval of the latest school; null if unknown.')),
      group_count: bigint('Number of loaded groups that show the person as a member.'),
      search_count: bigint('Number of searches that returned the person. A search of several syncs counts once.'),
      detail: text('Highest detail of any observation of the person so far: reference, preview or full.'),
      ...since,
    },
    `
    select
      u.urn_type,
      u.urn_value,
      u.name,
      u.alias,
      u.url,
      u.headline,
      u.location,
      u.open_to_work,
      coalesce(s.school_count, 0) as "school_count",
      s.company_name as "school_name",
      s.company_urn_type as "school_urn_type",
      s.company_urn_value as "school_urn_value",
      s.company_industry_full_name as "school_industry",
      s.major as "school_major",
      s."interval" as "school_interval",
      s.end_year as "school_end_year",
      (select count(*) from "pronet_group_members" m
        where m.user_urn_type = u.urn_type and m.user_urn_value = u.urn_value) as "group_count",
      (select count(distinct h.request_key) from "pronet_user_search_hits" h
        where h.user_urn_type = u.urn_type and h.user_urn_value = u.urn_value) as "search_count",
      u._detail as "detail",
      u._first_seen_at as "first_seen_at",
      u._changed_at as "changed_at"
    from "pronet_users" u
    left join lateral (
      select e.company_name, e.company_urn_type, e.company_urn_value, e.company_industry_full_name, e.major, e."interval",
        y."last" as "end_year", count(*) over () as "school_count"
      from "pronet_user_educations" e
      ${YEARS}
      where e.user_urn_type = u.urn_type and e.user_urn_value = u.urn_value
      order by ${LATEST}
      limit 1
    ) s on true`,
  ),
  view(
    'pronet_user_school_overview',
    'Schools that people list, with the person and the school: one row per listed school.',
    ['user_urn_type', 'user_urn_value', 'position'],
    {
      ...columnsOf('pronet_user_educations', 'user_urn_type', 'user_urn_value', 'position'),
      user_name: person('name'),
      user_headline: person('headline'),
      user_location: person('location'),
      is_latest: boolean('Whether it is the person’s latest school.'),
      school_urn_type: school('company_urn_type'),
      school_urn_value: school('company_urn_value'),
      school_name: school('company_name'),
      school_url: school('company_url'),
      school_industry: text('Industry of the school.'),
      school_employee_range: school('company_employee_range'),
      major: school('major'),
      interval: school('interval'),
      start_year: personal(integer('Earliest year in the interval; null if unknown.')),
      end_year: personal(integer('Latest year in the interval; null if unknown.')),
    },
    `
    select
      e.user_urn_type,
      e.user_urn_value,
      e.position,
      u.name as "user_name",
      u.headline as "user_headline",
      u.location as "user_location",
      row_number() over (partition by e.user_urn_type, e.user_urn_value order by ${LATEST}) = 1 as "is_latest",
      e.company_urn_type as "school_urn_type",
      e.company_urn_value as "school_urn_value",
      e.company_name as "school_name",
      coalesce(e.company_url, c.url) as "school_url",
      coalesce(e.company_industry_full_name, c.industry_full_name) as "school_industry",
      coalesce(e.company_employee_range, c.employee_range) as "school_employee_range",
      e.major,
      e."interval",
      y."first" as "start_year",
      y."last" as "end_year"
    from "pronet_user_educations" e
    ${YEARS}
    left join "pronet_users" u on u.urn_type = e.user_urn_type and u.urn_value = e.user_urn_value
    left join "pronet_companies" c on c.urn_type = e.company_urn_type and c.urn_value = e.company_urn_value`,
  ),
  view(
    'pronet_user_search_hit_overview',
    'People that searches returned, by sync: one row per search and person.',
    ['sync', 'request_key', 'user_urn_type', 'user_urn_value'],
    {
      ...columnsOf('pronet_user_search_hits', 'sync', 'request_key', 'position', 'user_urn_type', 'user_urn_value'),
      user_name: person('name'),
      user_alias: person('alias'),
      user_url: person('url'),
      user_headline: person('headline'),
      user_location: person('location'),
      user_open_to_work: person('open_to_work'),
    },
    `
    select
      h.sync,
      h.request_key,
      h.position,
      h.user_urn_type,
      h.user_urn_value,
      u.name as "user_name",
      u.alias as "user_alias",
      u.url as "user_url",
      u.headline as "user_headline",
      u.location as "user_location",
      u.open_to_work as "user_open_to_work"
    from "pronet_user_search_hits" h
    join "pronet_users" u on u.urn_type = h.user_urn_type and u.urn_value = h.user_urn_value`,
  ),
  view(
    'pronet_group_overview',
    'Groups of the professional network with their visible content: one row per group.',
    ['urn_type', 'urn_value'],
    {
      ...columnsOf('pronet_groups', 'urn_type', 'urn_value', 'name', 'url', 'description', 'member_count'),
      shown_member_count: bigint('Number of members on the group’s page; null if not reported.'),
      owner_count: bigint('Number of shown members with the role owner.'),
      owners: personal(text('Names of shown members with the role owner, separated by semicolons.')),
      industries: text('Names of the group’s industries, or their URNs without a name, separated by semicolons.'),
      ...columnsOf('pronet_groups', 'created_at', 'geo_type', 'geo_value'),
      ...since,
    },
    `
    select
      g.urn_type,
      g.urn_value,
      g.name,
      g.url,
      g.description,
      g.member_count,
      g.members_count as "shown_member_count",
      case when g.members_count is not null then o.owners end as "owner_count",
      o.names as "owners",
      (select string_agg(coalesce(i.name, l.type || ':' || l.value), '; ' order by l.type, l.value)
        from "pronet_group_industries" l
        left join "pronet_industries" i on i.urn_type = l.type and i.urn_value = l.value
        where l.group_urn_type = g.urn_type and l.group_urn_value = g.urn_value) as "industries",
      g.created_at,
      g.geo_type,
      g.geo_value,
      g._first_seen_at as "first_seen_at",
      g._changed_at as "changed_at"
    from "pronet_groups" g
    cross join lateral (
      select
        count(*) as "owners",
        string_agg(coalesce(m.user_name, u.name), '; ' order by m.user_urn_type, m.user_urn_value) as "names"
      from "pronet_group_members" m
      left join "pronet_users" u on u.urn_type = m.user_urn_type and u.urn_value = m.user_urn_value
      where m.group_urn_type = g.urn_type and m.group_urn_value = g.urn_value and lower(m.role) = 'owner'
    ) o`,
  ),
  view(
    'pronet_group_member_overview',
    'Members that groups show, with the group and the person: one row per group and person.',
    ['group_urn_type', 'group_urn_value', 'user_urn_type', 'user_urn_value'],
    {
      ...columnsOf('pronet_group_members', 'group_urn_type', 'group_urn_value'),
      group_name: columnFrom('pronet_groups', 'name'),
      group_url: columnFrom('pronet_groups', 'url'),
      group_member_count: columnFrom('pronet_groups', 'member_count'),
      ...columnsOf('pronet_group_members', 'user_urn_type', 'user_urn_value'),
      user_name: person('name'),
      user_alias: person('alias'),
      user_url: person('url'),
      user_headline: person('headline'),
      user_location: person('location'),
      ...columnsOf('pronet_group_members', 'role', 'joined_at'),
    },
    `
    select
      m.group_urn_type,
      m.group_urn_value,
      g.name as "group_name",
      g.url as "group_url",
      g.member_count as "group_member_count",
      m.user_urn_type,
      m.user_urn_value,
      coalesce(m.user_name, u.name) as "user_name",
      coalesce(m.user_alias, u.alias) as "user_alias",
      coalesce(m.user_url, u.url) as "user_url",
      coalesce(m.user_headline, u.headline) as "user_headline",
      u.location as "user_location",
      m.role,
      m.joined_at
    from "pronet_group_members" m
    join "pronet_groups" g on g.urn_type = m.group_urn_type and g.urn_value = m.group_urn_value
    left join "pronet_users" u on u.urn_type = m.user_urn_type and u.urn_value = m.user_urn_value`,
  ),
];
