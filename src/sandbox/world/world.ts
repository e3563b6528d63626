/**
 * The world behind a sandbox's answers. It is a function of seed and size: entities are computed on request, are
 * consistent with each other, and are not stored.
 */
import { drawing } from './draw.ts';
import { type Educations, educationsOf } from './education.ts';
import { filersOf } from './filers.ts';
import { type Filings, filingsOf } from './filings.ts';
import { type Groups, groupsOf } from './groups.ts';
import { type Microblog, microblogOf } from './microblog.ts';
import { companiesOf, type Organizations, schoolsOf } from './organizations.ts';
import { type Pages, pagesOf } from './pages.ts';
import { type People, peopleOf } from './people.ts';
import { type PeopleSearch, peopleSearch } from './people-search.ts';
import { type Photoshare, photoshareOf } from './photoshare.ts';
import { type Posts, postsOf } from './posts.ts';
import type { Size } from './size.ts';

export interface World {
  readonly seed: number;
  readonly size: Size;
  readonly companies: Organizations;
  readonly schools: Organizations;
  readonly filings: Filings;
  readonly people: People;
  readonly searchPeople: PeopleSearch;
  readonly educations: Educations;
  readonly groups: Groups;
  readonly posts: Posts;
  readonly microblog: Microblog;
  readonly photoshare: Photoshare;
  readonly pages: Pages;
}

/** The world of a seed and a size; `now` decides which filings exist. */
export function worldOf(seed: number, size: Size, now: () => Date): World {
  const draw = drawing(seed);
  const companies = companiesOf(draw, size.companies);
  const schools = schoolsOf(draw);
  const people = peopleOf(draw, size.people, companies, schools);
  return {
    seed,
    size,
    companies,
    schools,
    people,
    filings: filingsOf(draw, size.filings, filersOf(draw, companies), now),
    searchPeople: peopleSearch(people, companies, schools),
    educations: educationsOf(draw, people, schools),
    groups: groupsOf(draw, size.groups, people),
    posts: postsOf(draw, size.posts, people, companies),
    microblog: microblogOf(draw, size.microblogUsers),
    photoshare: photoshareOf(draw, size.photoshareUsers),
    pages: pagesOf(draw, size.pages),
  };
}
