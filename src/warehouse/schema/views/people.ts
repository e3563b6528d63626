/** Views of the people, schools and groups of the professional network. */
import { bigint, boolean, columnFrom, columnsFrom, integer, personal, selection, since, text } from './view.ts';

const school = (column: string, sql: string) => columnFrom('pronet_user_educations', column, sql);
const person = (column: string, sql: string) => columnFrom('pronet_users', column, sql);

/** The first and the last year in the interval of an education: numbers of four digits from 1900 to 2099. */
const YEARS = `cross join lateral (
        select min(word::integer) as "first", max(word::integer) as "last"
        from string_to_table(regexp_replace(e."interval", '[^0-9]+', ' ', 'g'), ' ') as word
        where length(word) = 4 and left(word, 2) in ('19', '20')
      ) y`;

/** Orders educations, latest first: one that continues, then by the last year, then as listed. */
const LATEST = `coalesce(e."interval" ~* 'present|current|today', false) desc, y."last" desc nulls last, e.position`;

export const peopleViews = [
  selection(
    'pronet_user_overview',
    'People of the professional network with their latest school: one row per person.',
    ['urn_type', 'urn_value'],
    {
      ...columnsFrom('u', 'pronet_users', 'urn_type', 'urn_value', 'name', 'alias', 'url', 'headline', 'location'),
      ...columnsFrom('u', 'pronet_users', 'open_to_work'),
      school_count: bigint(
        'Number of schools that the person lists; 0 also if they were never requested.',
        'coalesce(s.school_count, 0)',
      ),
      school_name: text(
        'Name of the latest school: the one with the latest year, or the first listed of several.',
        's.company_name',
      ),
      school_urn_type: school('company_urn_type', 's.company_urn_type'),
      school_urn_value: school('company_urn_value', 's.company_urn_value'),
      school_industry: text('Industry of the latest school.', 's.company_industry_full_name'),
      school_major: personal(text('Degree and field of study at the latest school, as written.', 's.major')),
      school_interval: personal(text('Years at the latest school, as written.', 's."interval"')),
      school_end_year: personal(
        integer('Latest year in the interval of the latest school; null if unknown.', 's.end_year'),
      ),
      group_count: bigint(
        'Number of loaded groups that show the person as a member.',
        `(select count(*) from "pronet_group_members" m
        where m.user_urn_type = u.urn_type and m.user_urn_value = u.urn_value)`,
      ),
      search_count: bigint(
        'Number of searches that returned the person. A search of several syncs counts once.',
        `(select count(distinct h.request_key) from "pronet_user_search_hits" h
        where h.user_urn_type = u.urn_type and h.user_urn_value = u.urn_value)`,
      ),
      detail: text('Highest detail of any observation of the person so far: reference, preview or full.', 'u._detail'),
      ...since('u'),
    },
    `
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
  selection(
    'pronet_user_school_overview',
    'Schools that people list, with the person and the school: one row per listed school.',
    ['user_urn_type', 'user_urn_value', 'position'],
    {
      ...columnsFrom('e', 'pronet_user_educations', 'user_urn_type', 'user_urn_value', 'position'),
      user_name: person('name', 'u.name'),
      user_headline: person('headline', 'u.headline'),
      user_location: person('location', 'u.location'),
      is_latest: boolean(
        'Whether it is the person’s latest school.',
        `row_number() over (partition by e.user_urn_type, e.user_urn_value order by ${LATEST}) = 1`,
      ),
      school_urn_type: school('company_urn_type', 'e.company_urn_type'),
      school_urn_value: school('company_urn_value', 'e.company_urn_value'),
      school_name: school('company_name', 'e.company_name'),
      school_url: school('company_url', 'coalesce(e.company_url, c.url)'),
      school_industry: text('Industry of the school.', 'coalesce(e.company_industry_full_name, c.industry_full_name)'),
      school_employee_range: school('company_employee_range', 'coalesce(e.company_employee_range, c.employee_range)'),
      major: school('major', 'e.major'),
      interval: school('interval', 'e."interval"'),
      start_year: personal(integer('Earliest year in the interval; null if unknown.', 'y."first"')),
      end_year: personal(integer('Latest year in the interval; null if unknown.', 'y."last"')),
    },
    `
    from "pronet_user_educations" e
    ${YEARS}
    left join "pronet_users" u on u.urn_type = e.user_urn_type and u.urn_value = e.user_urn_value
    left join "pronet_companies" c on c.urn_type = e.company_urn_type and c.urn_value = e.company_urn_value`,
  ),
  selection(
    'pronet_user_search_hit_overview',
    'People that searches returned, by sync: one row per search and person.',
    ['sync', 'request_key', 'user_urn_type', 'user_urn_value'],
    {
      ...columnsFrom('h', 'pronet_user_search_hits', 'sync', 'request_key', 'position', 'user_urn_type'),
      ...columnsFrom('h', 'pronet_user_search_hits', 'user_urn_value'),
      user_name: person('name', 'u.name'),
      user_alias: person('alias', 'u.alias'),
      user_url: person('url', 'u.url'),
      user_headline: person('headline', 'u.headline'),
      user_location: person('location', 'u.location'),
      user_open_to_work: person('open_to_work', 'u.open_to_work'),
    },
    `
    from "pronet_user_search_hits" h
    join "pronet_users" u on u.urn_type = h.user_urn_type and u.urn_value = h.user_urn_value`,
  ),
  selection(
    'pronet_group_overview',
    'Groups of the professional network with their visible content: one row per group.',
    ['urn_type', 'urn_value'],
    {
      ...columnsFrom('g', 'pronet_groups', 'urn_type', 'urn_value', 'name', 'url', 'description', 'member_count'),
      shown_member_count: bigint('Number of members on the group’s page; null if not reported.', 'g.members_count'),
      owner_count: bigint(
        'Number of shown members with the role owner.',
        'case when g.members_count is not null then o.owners end',
      ),
      owners: personal(text('Names of shown members with the role owner, separated by semicolons.', 'o.names')),
      industries: text(
        'Names of the group’s industries, or their URNs without a name, separated by semicolons.',
        `(select string_agg(coalesce(i.name, l.type || ':' || l.value), '; ' order by l.type, l.value)
        from "pronet_group_industries" l
        left join "pronet_industries" i on i.urn_type = l.type and i.urn_value = l.value
        where l.group_urn_type = g.urn_type and l.group_urn_value = g.urn_value)`,
      ),
      ...columnsFrom('g', 'pronet_groups', 'created_at', 'geo_type', 'geo_value'),
      ...since('g'),
    },
    `
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
  selection(
    'pronet_group_member_overview',
    'Members that groups show, with the group and the person: one row per group and person.',
    ['group_urn_type', 'group_urn_value', 'user_urn_type', 'user_urn_value'],
    {
      ...columnsFrom('m', 'pronet_group_members', 'group_urn_type', 'group_urn_value'),
      group_name: columnFrom('pronet_groups', 'name', 'g.name'),
      group_url: columnFrom('pronet_groups', 'url', 'g.url'),
      group_member_count: columnFrom('pronet_groups', 'member_count', 'g.member_count'),
      ...columnsFrom('m', 'pronet_group_members', 'user_urn_type', 'user_urn_value'),
      user_name: person('name', 'coalesce(m.user_name, u.name)'),
      user_alias: person('alias', 'coalesce(m.user_alias, u.alias)'),
      user_url: person('url', 'coalesce(m.user_url, u.url)'),
      user_headline: person('headline', 'coalesce(m.user_headline, u.headline)'),
      user_location: person('location', 'u.location'),
      ...columnsFrom('m', 'pronet_group_members', 'role', 'joined_at'),
    },
    `
    from "pronet_group_members" m
    join "pronet_groups" g on g.urn_type = m.group_urn_type and g.urn_value = m.group_urn_value
    left join "pronet_users" u on u.urn_type = m.user_urn_type and u.urn_value = m.user_urn_value`,
  ),
];
