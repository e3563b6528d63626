/** Views of stored answers and what could not be loaded from them. They contain no headers and bodies. */
import { sync, endpoint, request_key, run_id, items } from './sync-columns.ts';
import { bigint, boolean, integer, personal, sameIn, selection, text, timestamp } from './view.ts';

export const answerViews = [
  selection(
    'paid_answers',
    'Paid answers without their content: one row per answer. Rows of tables refer to their answer as _answer_id.',
    ['answer_id'],
    {
      answer_id: bigint('Id of the answer; ids increase in the order of storing.', 'a.id'),
      ...sameIn('a', {
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
      }),
    },
    `
    from "answers" a`,
  ),
  selection(
    'quarantined_items',
    'Items and answers that could not be loaded, without their content: one row per item or complete answer.',
    ['entry_id'],
    {
      entry_id: bigint('Id of the entry, for sluice quarantine show.', 'i.id'),
      answer_id: bigint('Answer that contains it; joins paid_answers.', 'i.answer_id'),
      ...sameIn('i', { sync, endpoint }),
      resource: text('Name of the expected resource in the contract.', 'i.resource'),
      position: bigint('Index in the answer, from 0; null if the complete answer is rejected.', 'i.position'),
      reason: personal(text('Reason why it could not be loaded.', 'i.reason')),
      created_at: timestamp('Creation of the entry.', 'i.created_at'),
      resolved_at: timestamp(
        'Time at which a later load accepted it or a later answer replaced it; null while it is open.',
        'i.resolved_at',
      ),
      is_open: boolean('Whether it is still in quarantine.', 'i.resolved_at is null'),
    },
    `
    from "quarantine" i`,
  ),
  selection(
    'contract_drift',
    'Differences between answers and the service’s contract: one row per difference, with its count.',
    ['resource', 'path', 'kind'],
    {
      resource: text('Name of the resource in the contract.', 'd.resource'),
      path: personal(text('Field names joined by dots, without list positions.', 'd.path')),
      kind: text('Kind of difference: unknown field, missing, wrong type or other @type.', 'd.kind'),
      seen: bigint('Number of occurrences.', 'd.count'),
      sample_type: text('Example of a JSON type that was found; never a value.', 'd.sample_type'),
      first_seen_at: timestamp('Receipt of the first answer with the difference.', 'd.first_seen_at'),
      last_seen_at: timestamp('Receipt of the last answer with the difference.', 'd.last_seen_at'),
      days_seen: integer(
        'Number of days from the first to the last, including both.',
        `(d.last_seen_at at time zone 'UTC')::date - (d.first_seen_at at time zone 'UTC')::date + 1`,
      ),
    },
    `
    from "drift" d`,
  ),
];
