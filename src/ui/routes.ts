/** The pages by their paths. */
import { costsPage } from './pages/costs.ts';
import { coveragePage } from './pages/coverage.ts';
import { overviewPage } from './pages/overview.ts';
import { planPage } from './pages/plan.ts';
import { quarantineEntryPage, quarantinePage } from './pages/quarantine.ts';
import { requestPage } from './pages/request.ts';
import { requestsPage } from './pages/requests.ts';
import { runPage, runsPage } from './pages/runs.ts';
import { tablePage, tablesPage } from './pages/tables.ts';
import type { PageOf } from './view.ts';

export interface Route {
  readonly page: PageOf;
  /** The part of the path after the name of the page; empty without one. */
  readonly id: string;
  /** True if the page runs statements of users, which need the warehouse outside of a transaction. */
  readonly runsStatements: boolean;
}

/** Each page with the page of one of its rows. */
const PAGES: Readonly<Record<string, { readonly all: PageOf; readonly one?: PageOf }>> = {
  '': { all: overviewPage },
  runs: { all: runsPage, one: runPage },
  requests: { all: requestsPage, one: requestPage },
  costs: { all: costsPage },
  coverage: { all: coveragePage },
  quarantine: { all: quarantinePage, one: quarantineEntryPage },
  tables: { all: tablesPage, one: tablePage },
  plan: { all: planPage },
};

/** The page of a path; undefined if there is none. */
export function routeOf(path: string): Route | undefined {
  const [, name = '', id, ...rest] = path.split('/');
  const pages = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
  const page = id === undefined ? pages?.all : pages?.one;
  if (!page || rest.length > 0 || id === '') return undefined;
  try {
    return { page, id: decodeURIComponent(id ?? ''), runsStatements: name === 'plan' };
  } catch {
    return undefined;
  }
}
