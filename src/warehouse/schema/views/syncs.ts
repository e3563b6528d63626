/**
 * Views of the operations tables for readers without a right to them. They contain no headers and bodies of answers.
 */
import { bigint, boolean, integer, timestamp, numeric, ratio, text, view } from './view.ts';

const sync = text('Name of the sync in the config.');
const endpoint = text('Name of the endpoint: its path with dots.');
const request_key = text('SHA-256 of the endpoint and the canonical body, in hex.');
const run_id = bigint('Id of the run; tables refer to it as _run_id.');

const items = {
  received: bigint('Number of items in the loaded answers: the sum of loaded, unchanged, superseded and quarantined.'),
  loaded: bigint('Number of items that created or changed rows.'),
  unchanged: bigint('Number of items equal to their stored rows.'),
  superseded: bigint('Number of items that occur again later in their answer, or that a newer loaded answer replaces.'),
  quarantined: bigint('Number of items that could not be loaded and are in quarantine.'),
};

export const syncViews = [
  view(
    'sync_inputs',
    'Last outcome of each input of each sync: one row per sync and request. Split windows are replaced by their parts. Reads of the request log for other syncs are not included.',
    ['sync', 'request_key'],
    {
      sync,
      endpoint,
      request_key,
      input: text('Request fields from the input of the sync, as JSON; {} without for_each.'),
      outcome: text(
        'Outcome: loaded, unchanged, empty, missing, quarantined, failed or skipped; planned, sent, stored or in_doubt if it has not ended; abandoned if it was given up.',
      ),
      at: timestamp(
        'Receipt of the answer; without one, the time at which the request ended, was sent or was planned.',
      ),
      answer_id: bigint('Paid answer; joins paid_answers. Null without one.'),
      error: text('Description of the error; null if there was none.'),
      next: text('Next step for the user; null if there is none.'),
      input_value: text('Values of the input without their names, separated by commas; a URN as type:value.'),
      received: bigint('Number of items in the answer; null without one.'),
      run_id: bigint('Run that last contained the request.'),
      question: text('Canonical request body, as JSON. It distinguishes the parts of a window.'),
      depth: bigint('Number of splits that led to this request; 0 for a request of the plan.'),
      part_of: text(
        'request_key of the split request or the previous page that led to this request; null for a request of the plan, including a slice that a later run requested again.',
      ),
    },
  ),
  view('sync_runs', 'Runs of syncs with state and results: one row per run.', ['run_id'], {
    run_id,
    sync,
    endpoint,
    state: text(
      'State of the run: running, complete, partial, out_of_points, failed, interrupted or abandoned. It is also interrupted if its process died and its lease expired.',
    ),
    exit_code: bigint('Exit code of the run; null while it runs.'),
    started_at: timestamp('Start of the run.'),
    ended_at: timestamp('End of the run; null while it runs or if its process was killed.'),
    duration_s: ratio(
      'Seconds from start to end, including pauses of a continued run; null while it runs, or if its times come from different clocks.',
    ),
    planned: bigint('Number of planned requests, including those that paging and splitting added.'),
    fresh: bigint('Number of requests that a stored answer served without sending.'),
    asked: bigint('Number of requests sent, each counted once, even with several attempts.'),
    stored: bigint('Number of stored answers.'),
    ...items,
    failed: bigint('Number of requests that ended without a usable answer.'),
    missing: bigint('Number of requests for an entity that the service does not know.'),
    truncated: bigint('Number of full slices that could not be split further, so more items may exist.'),
    points: numeric('Points spent: as charged by the service if known, otherwise by the price list.'),
    error: text('Reason why the run ended early; null if it did not.'),
    changed: bigint('Number of loaded items that changed existing rows; null if not counted.'),
    unreadable: bigint('Number of requests with an unreadable answer, including those that are no longer sent.'),
  }),
  view('sync_freshness', 'Freshness of each sync’s rows: one row per sync.', ['sync'], {
    sync,
    endpoint,
    last_run_id: bigint('Id of the newest run.'),
    last_state: text('State of the newest run, as in sync_runs.'),
    last_exit_code: bigint('Exit code of the newest run; null while it runs.'),
    last_started_at: timestamp('Start of the newest run.'),
    last_ended_at: timestamp('End of the newest run; null while it runs or if its process was killed.'),
    last_error: text('Reason why the newest run ended early; null if it did not.'),
    refreshed_at: timestamp(
      'End of the newest run that finished its plan and could read every answer: complete, or partial because of rejects. Ends in the database’s future do not count. Null if there is none.',
    ),
    completed_at: timestamp('End of the newest complete run, by the same rule; null if there is none.'),
    answered_at: timestamp(
      'Receipt of the newest answer, including answers of other syncs that serve this one; null without one.',
    ),
    loaded_at: timestamp('Time of the last load of an answer; null if there is none.'),
    hours_since_refresh: ratio('Hours from refreshed_at to the time of the query; null if there is no such run.'),
    open_requests: bigint('Number of requests that are planned, sent or in doubt.'),
    in_doubt_requests: bigint('Number of requests whose answer was lost in transit.'),
    waiting_answers: bigint('Number of stored answers that are not loaded yet.'),
  }),
  view(
    'sync_slices',
    'Newest answer to each requested slice of a sync, with its coverage: one row per slice.',
    ['slice_id'],
    {
      slice_id: bigint('Id of the slice.'),
      sync,
      endpoint,
      request_key,
      run_id: bigint('Run that requested the slice.'),
      filters: text('Request fields that define the slice, as JSON.'),
      asked: bigint('Limit of items in the request; null if it has no limit.'),
      returned: bigint('Number of returned items.'),
      depth: bigint('Number of splits that led to this slice; 0 if it was not split.'),
      extent: text(
        'Extent: complete if the answer has all items; lower_bound if more may exist or the answer is unreadable; open if its parts were requested or its last day had not ended.',
      ),
      reason: text('Reason why it is a lower bound; null if it is not.'),
      as_of: timestamp('Receipt of the answer.'),
    },
  ),
  view(
    'sync_coverage',
    'Coverage of the requested slices of each sync: one row per sync and endpoint with slices.',
    ['sync', 'endpoint'],
    {
      sync,
      endpoint,
      slices: bigint('Number of requested slices, each with its newest answer.'),
      complete_slices: bigint('Number of slices with all items.'),
      lower_bound_slices: bigint('Number of slices that may have more items than were returned.'),
      open_slices: bigint('Number of slices that were split, or whose last day had not ended.'),
      complete_share: ratio(
        'Share of complete slices in those that are complete or lower bounds, from 0 to 1; null if there are none.',
      ),
      returned: bigint('Number of returned items over all these slices. An item may be in several.'),
      oldest_as_of: timestamp('Receipt of the oldest of these answers.'),
      newest_as_of: timestamp('Receipt of the newest of these answers.'),
    },
  ),
  view(
    'sync_quality',
    'Data quality of each sync, over all its answers and of its newest run: one row per sync.',
    ['sync'],
    {
      sync,
      endpoint,
      answers: bigint('Number of stored answers.'),
      ...items,
      quarantined_share: ratio(
        'Share of quarantined items in those received, from 0 to 1; null if none were received.',
      ),
      open_quarantine: bigint('Number of items and complete answers that are still in quarantine.'),
      last_quarantined_at: timestamp('Creation of the newest quarantine entry; null if there is none.'),
      last_run_failed: bigint('Number of requests of the newest run that ended without a usable answer.'),
      last_run_missing: bigint('Number of requests of the newest run for an entity that the service does not know.'),
      last_run_truncated: bigint('Number of slices of the newest run that may have more items.'),
    },
  ),
  view(
    'paid_answers',
    'Paid answers without their content: one row per answer. Rows of tables refer to their answer as _answer_id.',
    ['answer_id'],
    {
      answer_id: bigint('Id of the answer; ids increase in the order of storing.'),
      run_id,
      sync,
      endpoint,
      request_key,
      received_at: timestamp('Receipt of its last byte. All times of its content in other tables are this time.'),
      took_ms: bigint('Time from sending to the last byte, in milliseconds.'),
      status: bigint('HTTP status of the answer.'),
      bytes: bigint('Size of the body, in bytes.'),
      asked: bigint('Limit of items in the request; null if it has no limit.'),
      ...items,
      loaded_at: timestamp('Last load of its rows; null while it waits.'),
    },
  ),
  view(
    'quarantined_items',
    'Items and answers that could not be loaded, without their content: one row per item or complete answer.',
    ['entry_id'],
    {
      entry_id: bigint('Id of the entry, for sluice quarantine show.'),
      answer_id: bigint('Answer that contains it; joins paid_answers.'),
      sync,
      endpoint,
      resource: text('Name of the expected resource in the contract.'),
      position: bigint('Index in the answer, from 0; null if the complete answer is rejected.'),
      reason: text('Reason why it could not be loaded.'),
      created_at: timestamp('Creation of the entry.'),
      resolved_at: timestamp('Time at which a later load accepted it; null while it is open.'),
      is_open: boolean('Whether it is still in quarantine.'),
    },
  ),
  view(
    'contract_drift',
    'Differences between answers and the service’s contract: one row per difference, with its count.',
    ['resource', 'path', 'kind'],
    {
      resource: text('Name of the resource in the contract.'),
      path: text('Field names joined by dots, without list positions.'),
      kind: text('Kind of difference: unknown field, missing, wrong type or other @type.'),
      seen: bigint('Number of occurrences.'),
      sample_type: text('Example of a JSON type that was found; never a value.'),
      first_seen_at: timestamp('Receipt of the first answer with the difference.'),
      last_seen_at: timestamp('Receipt of the last answer with the difference.'),
      days_seen: integer('Number of days from the first to the last, including both.'),
    },
  ),
];
