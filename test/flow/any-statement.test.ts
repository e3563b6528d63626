/** The database is away at any statement of a run of several syncs. */
import { expect, it } from 'vitest';
import { postgresWarehouses } from '../support/warehouse.ts';
import { PATIENT, sweep } from './any-statement.ts';
import { service } from './scene.ts';

const open = postgresWarehouses();

it(
  'a run of syncs that page, look up fresh answers and read the log ends as if nothing was, wherever the database is away',
  PATIENT,
  async () => {
    const config = `${service()}
budget: { per_day: 1000000 }
syncs:
  filings:
    endpoint: sec.search.companies
    request: { count: 20 }
    window: { from: 2026-02-02, to: 2026-02-04 }
  users:
    endpoint: microblog.user
    max_age: 1s
    for_each: { user: { query: "select 'acme_labs' as user" } }
  log: { endpoint: token.requests }
`;
    const { statements, unborne } = await sweep(await open(), (scene, disturbed) =>
      scene.sync(config, { warehouse: disturbed }),
    );
    expect(unborne).toEqual([]);
    expect(statements).toBeGreaterThan(150);
  },
);
