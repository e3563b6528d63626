/** Declares the operations tables: columns with types and comments, keys and indexes. */
import type { RequestBody } from '../../service/request-body.ts';
import {
  bigint,
  counter,
  bytea,
  ddlTable,
  boolean,
  identity,
  json,
  timestamp,
  nullable,
  numeric,
  oneOf,
  type RowOf,
  table,
  text,
  unset,
  uuid,
} from './column-types.ts';
import type { DdlTable } from './ddl.ts';
import { alertTables } from './operations-alerts.ts';
import { erasureTables } from './operations-erasure.ts';
import { forecastTables } from './operations-forecasts.ts';
import { qualityTables } from './operations-quality.ts';
import { presenceTables } from './operations-presence.ts';
import { tokenTables } from './operations-token.ts';
import { runTables } from './operations-runs.ts';
import { chunkTables, leaseTables, rebuildTables } from './operations-work.ts';
import { questionHash } from './question-hash.ts';

const sync = text('Name of the sync in the config.');
const endpoint = text('Name of the endpoint: its path with dots.');
const requestKey = text('SHA-256 of the endpoint and the canonical body, in hex.');

/** An attempt that was answered with an error. The request log may have charged it. */
export interface FailedAttempt {
  readonly sent_at: string;
  readonly answered_at: string;
  readonly status: number;
  /** The identifier that the service sent with the answer. */
  readonly x_request_id: string | null;
  /** What the log charged for all attempts until the next one was sent, and its rows; absent if it was not known. */
  readonly charged_so_far?: { readonly points: number; readonly log_ids: readonly string[] };
}

/** Every operations table, in the order of creation. */
export const operations = {
  ...runTables,
  requests: table(
    'Ledger of requests: one row per request of a run, committed before the request is sent.',
    {
      id: identity('Id of the request.'),
      run_id: bigint('Run that planned the request.'),
      sync,
      endpoint,
      request_key: requestKey,
      body: json<RequestBody>('Canonical body: with defaults and without the timeout.'),
      sent_body: nullable(json<RequestBody>('Body as sent; null until it is sent.')),
      input: json<RequestBody>('Request fields from the input of the sync; {} without for_each.'),
      depth: counter('Number of splits that led to this slice; 0 if it was not split.'),
      parent_id: nullable(bigint('Request that led to this one by paging or splitting; null if planned.')),
      state: oneOf('State of the request.', [
        'planned',
        'fresh',
        'sent',
        'stored',
        'loaded',
        'quarantined',
        'empty',
        'missing',
        'failed',
        'in_doubt',
        'skipped',
        'abandoned',
      ]),
      attempts: counter('Number of attempts that were sent.'),
      points: nullable(
        numeric(
          'Points counted for its attempts: the maximum until their results are known, then their cost by the prices known at that time. The column charged has the true cost. Null if it was never sent.',
        ),
      ),
      charged: nullable(numeric('Points charged for its rows in the request log; null until known.')),
      x_request_id: nullable(uuid('Identifier that every attempt sends, to find it in the service’s log.')),
      planned_at: timestamp('Time at which it entered the plan.'),
      sent_at: nullable(timestamp('Time of its last attempt; null if it was never sent.')),
      finished_at: nullable(timestamp('Time at which its state became final; null until then.')),
      answer_id: nullable(bigint('Stored answer; for a fresh request, the one that serves it; null if none.')),
      status: nullable(bigint('HTTP status of the last answer; null without one.')),
      failure_class: nullable(text('Kind of failure, for counting; null if it did not fail.')),
      error: nullable(text('Description of the error; null if there was none.')),
      next: nullable(text('Next step for the user; null if there is none.')),
      chunk: nullable(bigint('Chunk of a shared run to which it belongs; null in a run of a single process.')),
      failed_attempts: nullable(
        json<readonly FailedAttempt[]>(
          'Attempts that were answered with an error before the last one: sent_at, answered_at, status and x_request_id of the answer, and the charge of all attempts so far; null without any.',
        ),
      ),
    },
    {
      key: ['id'],
      unique: [['run_id', 'request_key']],
      indexes: [
        { columns: ['run_id', 'id'] },
        { columns: ['run_id', 'chunk', 'id'], where: 'chunk IS NOT NULL' },
        { columns: ['request_key', 'sync', 'id'] },
        { columns: ['parent_id'] },
        // No index covers columns that change with the state, because each change would then write to every index.
        // sent_at is the exception: its values follow the order of the rows, and a block range index is cheap to
        // update.
        { columns: ['sent_at'], using: 'brin' },
      ],
      foreignKeys: [
        { columns: ['run_id'], table: 'runs', references: ['id'], onDelete: 'no action' },
        { columns: ['parent_id'], table: 'requests', references: ['id'], onDelete: 'set null' },
      ],
    },
  ),
  ...chunkTables,
  answers: table(
    'Answer store: one row per paid answer, as received. Ids increase in the order of storing.',
    {
      id: identity('Id of the answer; analyst tables refer to it as _answer_id.'),
      request_id: bigint('Request that returned the answer.'),
      run_id: bigint('Run that sent the request.'),
      sync,
      endpoint,
      request_key: requestKey,
      received_at: timestamp('Receipt of its last byte. All times of its content in other tables are this time.'),
      took_ms: bigint('Time from sending to the last byte, in milliseconds.'),
      status: bigint('HTTP status of the answer.'),
      headers: json<Readonly<Record<string, string>>>('Response headers by lower-case name, without cookies.'),
      body: {
        ...nullable(bytea('Body, compressed as encoding says; null if it was pruned or erased.')),
        storage: 'external',
      },
      encoding: text('Compression of the stored body: identity or the name of the compression.'),
      sha256: text('SHA-256 of the body before compression, in hex; it stays after pruning.'),
      bytes: bigint('Size of the body before compression, in bytes.'),
      asked: nullable(bigint('Limit of items in the request; null if it has no limit.')),
      received: nullable(bigint('Number of items: the sum of the next counts except changed; null until loaded.')),
      loaded: nullable(bigint('Number of items that created or changed rows; null until loaded.')),
      changed: nullable(bigint('Number of loaded items that changed existing rows; null if not counted.')),
      unchanged: nullable(bigint('Number of items equal to their stored rows; null until loaded.')),
      superseded: nullable(bigint('Number of items that a later item or a newer answer replaces; null until loaded.')),
      quarantined: nullable(bigint('Number of items that could not be loaded; null until loaded.')),
      loaded_at: nullable(timestamp('Last load of its rows; null while it waits.')),
      pruned_at: nullable(
        timestamp('Deletion of its body and its headers except x-request-id, for their age; null while kept.'),
      ),
      redacted_at: nullable(
        timestamp('Last removal of a forgotten entity from its body, which updates size and digest; null if none.'),
      ),
      unreadable: unset(
        boolean('Whether the loaded answer is unreadable and completely in quarantine, so that it serves no request.'),
      ),
    },
    {
      key: ['id'],
      indexes: [
        { columns: ['request_key', 'received_at'] },
        // The newest answers of a sync, and the durations of a period, from the index alone.
        { columns: ['sync', 'received_at', 'endpoint', 'took_ms'] },
        { columns: ['request_id'] },
        { columns: ['id'], where: 'loaded_at IS NULL', named: 'waiting' },
        { columns: ['request_key', 'received_at'], where: 'unreadable', named: 'unreadable' },
      ],
    },
  ),
  quarantine: table(
    'Quarantine of items and answers that could not be loaded: one row per item or complete answer.',
    {
      id: identity('Id of the entry.'),
      answer_id: bigint('Answer that contains it.'),
      sync,
      endpoint,
      resource: text('Name of the expected resource in the contract.'),
      position: nullable(bigint('Index in the answer, from 0; null if the complete answer is rejected.')),
      pointer: text('RFC 6901 pointer into the answer.'),
      reason: text('Reason why it could not be loaded.'),
      created_at: timestamp('Creation of the entry.'),
      resolved_at: nullable(
        timestamp('Time at which a later load accepted it or a later answer replaced it; null while it is open.'),
      ),
    },
    {
      key: ['id'],
      indexes: [
        {
          columns: ['answer_id', 'position'],
          expressions: ['answer_id', `COALESCE("position", '-1'::integer::bigint)`],
          unique: true,
        },
        { columns: ['id'], where: 'resolved_at IS NULL', named: 'open' },
      ],
      foreignKeys: [{ columns: ['answer_id'], table: 'answers', references: ['id'], onDelete: 'cascade' }],
    },
  ),
  coverage: table(
    'Coverage of requested slices: one row per answer to a slice, with whether it is complete.',
    {
      id: identity('Id of the slice.'),
      request_id: bigint('Request for the slice.'),
      run_id: bigint('Run that requested the slice.'),
      sync,
      endpoint,
      request_key: requestKey,
      filters: json<RequestBody>('Request fields that define the slice.'),
      asked: nullable(bigint('Limit of items in the request; null if it has no limit.')),
      returned: bigint('Number of returned items.'),
      depth: bigint('Number of splits that led to this slice; 0 if it was not split.'),
      complete: boolean('Whether the answer contains all items; false if it is a lower bound.'),
      reason: nullable(text('Reason why it is a lower bound; null if it is not.')),
      as_of: timestamp('Receipt of the answer.'),
      unreadable: unset(boolean('Whether the answer was unreadable, so that the content of the slice is unknown.')),
      former: nullable(
        boolean('True if the sync, as its newest run defines it, no longer requests the slice; else null.'),
      ),
    },
    {
      key: ['id'],
      indexes: [
        { columns: ['sync', 'as_of'] },
        { columns: ['request_id'] },
        { columns: ['run_id'] },
        { columns: ['sync', 'request_key', 'id'] },
        { columns: ['request_key'], where: 'unreadable', named: 'unreadable' },
        { columns: ['sync'], where: 'reason IS NOT NULL', named: 'bounds' },
        // A slice among the wider questions, and among its later answers. Filters are too long for an index.
        {
          columns: ['sync', 'filters'],
          expressions: ['sync', questionHash('filters', '::text'), 'jsonb_hash(filters)'],
          named: 'question',
        },
      ],
    },
  ),
  ...qualityTables,
  marks: table(
    'Watermarks: how far each sync has read, one row per sync and watermark.',
    {
      sync,
      name: text('Name of the watermark.'),
      value: text('Value of the watermark: a day or an instant, in the notation of the sync.'),
      updated_at: timestamp('Time of the last change.'),
    },
    { key: ['sync', 'name'] },
  ),
  ...leaseTables,
  ...tokenTables,
  ...alertTables,
  ...forecastTables,
  ...erasureTables,
  ...rebuildTables,
  ...presenceTables,
};

/** The row types of the operations tables for Kysely. */
export type OperationsTables = { [T in keyof typeof operations]: RowOf<(typeof operations)[T]> };

/** The operations tables in the order of creation. */
export const operationsTables: readonly DdlTable[] = Object.entries(operations).map(([name, it]) => ddlTable(name, it));
