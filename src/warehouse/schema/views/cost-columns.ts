/** Columns that several views of costs share, and the tables that endpoints fill. */
import { catalog } from '../../../service/catalog.ts';
import { bigint, date, numeric, text, uuid } from './view.ts';

export const log_id = uuid('Row of the log; joins fact_request_costs.id.');
export const endpoint = text(
  'Name of the endpoint as in syncs: its path with dots; `(not reported)` if the log has none. Joins dim_endpoint.',
);
export const plan = text('Plan of the token at the time; `(not reported)` if the log has none. Joins dim_plan.');
export const sync = text(
  'Sync of the request, including its lookups of lost answers; `(other programs)` without a request in this warehouse’s ledger; `(ambiguous)` if it may be one of several. Joins dim_sync.',
);
export const ownSync = text('Name of the sync in the config. The cost of lookups of its lost answers is included.');
export const started_on = date(
  'UTC day of the start of the request; if the log has no start, the day its row was first read. Joins dim_date.',
);
export const run_id = bigint('Run that sent the request; null if not certain. Joins sync_runs.');
export const request_id = bigint('Request in the ledger; null if not certain.');
export const points = numeric(
  'Points charged by the request log: the cost of rows that are marked as paid, or that have no mark but a cost.',
);
export const requests = bigint('Number of rows in the request log.');
export const failed_requests = bigint(
  'Number of these requests that failed by their status or error, without those for unknown entities.',
);
export const failed_points = numeric('Points charged for failed requests.');

/** Each endpoint with the table of its items. Rows of other tables, such as authors, are not what was requested. */
export const filledTables = catalog.map(({ name, returns }) => ({ endpoint: name, table: returns.table }));
