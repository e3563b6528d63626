/** The pages by their paths, and their reading from the warehouse, in one read-only transaction. */
import { costsPage } from './pages/costs.ts';
import { coveragePage } from './pages/coverage.ts';
import { overviewPage } from './pages/overview.ts';
import { planPage } from './pages/plan.ts';
import { quarantineEntryPage, quarantinePage } from './pages/quarantine.ts';
import { requestPage } from './pages/request.ts';
import { requestsPage } from './pages/requests.ts';
import { runPage, runsPage } from './pages/runs.ts';
import { tablePage, tablesPage } from './pages/tables.ts';
import type { PageOf, Page, ConsoleView } from './view.ts';
import { sql } from 'kysely';
import { SchemaError } from '../errors.ts';
import { html } from '../report/markup.ts';
import { emptyState } from '../report/table.ts';
import type { Warehouse } from '../warehouse/connect/connect.ts';
import { inSnapshot } from '../warehouse/connect/in-snapshot.ts';
import { migrationStatus } from '../warehouse/migrate/migrate.ts';

interface Route {
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

/** The longest time for one statement of a page on a server. */
const STATEMENT_MS = 60_000;

type Given = Pick<ConsoleView, 'parameters' | 'redact' | 'syncs' | 'plan'>;

/** The page; undefined if it does not exist. An empty warehouse has a page that says what to run. */
export async function readPage(warehouse: Warehouse, route: Route, given: Given): Promise<Page | undefined> {
  if (!(await hasCurrentSchema(warehouse))) return EMPTY;
  const { redact, parameters, syncs, plan } = given;
  const { schema } = warehouse;
  const viewOf = (db: Warehouse['db']): ConsoleView => ({
    db,
    schema,
    warehouse: { ...warehouse, db },
    id: route.id,
    now: warehouse.clock.now(),
    redact,
    parameters,
    syncs,
    plan,
  });
  if (route.runsStatements) return route.page(viewOf(warehouse.db));
  return inSnapshot(warehouse.db, async (tx) => {
    await sql`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`.execute(tx);
    return route.page(viewOf(tx));
  });
}

const EMPTY: Page = {
  title: 'The warehouse is empty',
  body: emptyState(
    'No sync has run yet, so there is nothing to show.',
    html`Run <code>sluice check</code> to check the config, <code>sluice plan</code> to see what a sync would cost, and <code>sluice sync</code> to fill the warehouse. Then open this page again.`,
  ),
};

/** True for the schema of this version, false for an empty warehouse. Throws a SchemaError for another schema, which it leaves as it is. */
async function hasCurrentSchema(warehouse: Warehouse): Promise<boolean> {
  const { state } = await migrationStatus(warehouse);
  if (state === 'current' || state === 'empty') return state === 'current';
  throw new SchemaError(`The schema ${warehouse.schema} is ${state} than this version of Sluice.`, {
    next: state === 'older' ? 'Run sluice migrate.' : 'Update Sluice on this machine to the version that migrated it.',
  });
}
