/** Views of the results of checks, for readers without a right to the operations tables. */
import { sync, run_id } from './sync-columns.ts';
import { numeric, personal, text, timestamp, view } from './view.ts';

const columns = {
  sync,
  check_name: text('Name of the check in its sync.'),
  kind: text('Kind of the check: sql, rows, fresh, complete, nulls or cost.'),
  severity: text('Severity: error if a failure ends the run with exit code 4, otherwise warn.'),
  status: text(
    'Result: pass, fail, error if the check could not run, or skipped if the run does not allow a result, for example because it is a sample.',
  ),
  found: numeric(
    'Number found: rows for sql, items for rows, seconds for fresh, incomplete requests for complete, a share from 0 to 1 for nulls, points for each row for cost; null if there is none.',
  ),
  allowed: text('Description of what is allowed.'),
  message: personal(text('Description of what was found, or the reason why the check could not run.')),
  at: timestamp('Time of the result.'),
};

export const checkViews = [
  view(
    'check_results',
    'Results of the checks of syncs: one row per run and check.',
    ['run_id', 'check_name'],
    { run_id, ...columns },
    `
    select
      c.run_id, c.sync, c.name as "check_name", c.kind, c.severity, c.status, c.found, c.allowed, c.message, c.at
    from "checks" c`,
  ),
  view(
    'check_status',
    'Current checks of each sync, which are those of its newest run that ended complete or partial: one row per check. Each row is the newest result that is not skipped, if there is one.',
    ['sync', 'check_name'],
    { ...columns, run_id },
    `
    select distinct on (c.sync, c.name)
      c.sync, c.name as "check_name", c.kind, c.severity, c.status, c.found, c.allowed, c.message, c.at, c.run_id
    from (
      select distinct on (sync) id from "runs" where state in ('complete', 'partial') order by sync, id desc
    ) n
    join "checks" k on k.run_id = n.id
    join "checks" c on c.sync = k.sync and c.name = k.name
    order by c.sync, c.name, c.status = 'skipped', c.run_id desc`,
  ),
];
