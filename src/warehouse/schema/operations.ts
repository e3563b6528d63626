/** The tables of the machinery, declared: what they hold, their columns with types and meaning, keys and indexes. */
import type { RequestBody } from '../../service/request-body.ts';
import {
  bigint,
  bytea,
  date,
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
  zero,
} from './column-types.ts';
import type { DdlTable } from './ddl.ts';
import { alertTables } from './operations-alerts.ts';
import { chunkTables, SPOOLS } from './operations-chunks.ts';
import { erasureTables } from './operations-erasure.ts';
import { rebuildTables } from './operations-rebuilds.ts';
import { tokenTables } from './operations-token.ts';

const counter = (about: string) => zero(bigint(about));

const sync = text('Name of the sync in the config.');
const endpoint = text('Name of the endpoint: its path with dots.');
const requestKey = text('SHA-256, in hex, of the endpoint and the canonical body.');

/** Every table of the machinery, in an order in which they can be created. */
export const operations = {
  runs: table(
    'One run of one sync, from its plan to its end.',
    {
      id: identity('The run.'),
      sync,
      endpoint,
      definition_hash: text('Digest of what shapes the sync’s requests; only the same definition continues a run.'),
      state: oneOf('How it stands or ended.', [
        'running',
        'complete',
        'partial',
        'out_of_points',
        'failed',
        'interrupted',
        'abandoned',
      ]),
      exit_code: nullable(bigint('Exit code that the run’s outcome gives; null while it runs.')),
      today: date('The UTC day that the plan takes for today; frozen at the start.'),
      started_at: timestamp('When it started.'),
      ended_at: nullable(timestamp('When it ended; null while it runs or when its process was killed.')),
      holder: nullable(text('The process that runs it: host, process id and a random part.')),
      planned: counter('Requests in the plan, those that paging and splitting added included.'),
      fresh: counter('Requests that a stored answer served, so that nothing was sent.'),
      asked: counter('Requests sent, each counted once however often it was tried.'),
      stored: counter('Answers stored.'),
      received: counter('Items in the loaded answers; the sum of the next four.'),
      loaded: counter('Items that made or changed rows.'),
      changed: nullable(bigint('Of the loaded items, those whose rows were there and said something else.')),
      unchanged: counter('Items that said what the rows already said.'),
      superseded: counter(
        'Items that came again later in their answer, or that a newer answer had already spoken for.',
      ),
      quarantined: counter('Items that could not be loaded and are kept in quarantine.'),
      failed: counter('Requests that ended without a usable answer.'),
      missing: counter('Requests whose entity the service does not know.'),
      truncated: counter('Slices that came back full and could not be cut further, so that more may exist.'),
      points: nullable(numeric('Points spent, by the service’s own count where it told one, else by the price list.')),
      error: nullable(text('Why the run ended early.')),
      quote: nullable(json<unknown>('What the plan was quoted at, in points, before anything was sent.')),
      summary: nullable(json<unknown>('What the run printed at its end.')),
      unreadable: counter('Requests whose answer could not be read, those no longer asked included.'),
      spools: nullable(json<unknown>(SPOOLS)),
    },
    { key: ['id'], indexes: [{ columns: ['sync', 'started_at'] }] },
  ),
  requests: table(
    'The ledger: every request of every run, written down before it is sent.',
    {
      id: identity('The ledger’s row.'),
      run_id: bigint('The run that planned it.'),
      sync,
      endpoint,
      request_key: requestKey,
      body: json<RequestBody>('Canonical body: defaults filled in, without the timeout.'),
      sent_body: nullable(json<RequestBody>('The body as sent.')),
      input: json<RequestBody>('The fields that the sync’s input brought; {} without for_each.'),
      depth: counter('How many times the question was cut to make this slice.'),
      parent_id: nullable(bigint('The request whose answer led to this one, by paging or splitting.')),
      state: oneOf('How it stands or ended.', [
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
      attempts: counter('How many times it was sent.'),
      points: nullable(
        numeric('Points that its attempts may have cost, by the price list; the request log has the true figure.'),
      ),
      charged: nullable(numeric('Points that its rows in the request log cost; null until they are known.')),
      x_request_id: nullable(uuid('The id sent with every attempt, for finding the request in the service’s log.')),
      planned_at: timestamp('When it entered the plan.'),
      sent_at: nullable(timestamp('When it was last sent.')),
      finished_at: nullable(timestamp('When its state became final.')),
      answer_id: nullable(bigint('The stored answer; of a fresh request, the older answer that serves it.')),
      status: nullable(bigint('HTTP status of the last answer.')),
      failure_class: nullable(text('The kind of failure, for counting.')),
      error: nullable(text('What went wrong, in words.')),
      next: nullable(text('What to do about it.')),
      chunk: nullable(
        bigint('The chunk of a shared run that it belongs to; null of a run that one process does alone.'),
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
        // None holds what a request's way through its states changes: each move would cost an entry in every index.
        // In the order of the rows but for a few, and a block's range costs an update next to nothing.
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
    'The vault: every answer that was paid for, as received. Ids rise in the order of storing.',
    {
      id: identity('The answer; rows of the analyst tables name it as _answer_id.'),
      request_id: bigint('The request that was sent for it.'),
      run_id: bigint('The run that sent it.'),
      sync,
      endpoint,
      request_key: requestKey,
      received_at: timestamp('When its last byte came in; every time kept about its content is this one.'),
      took_ms: bigint('Milliseconds from sending to the last byte.'),
      status: bigint('HTTP status.'),
      headers: json<Readonly<Record<string, string>>>('Answer headers by lower-case name, without cookies.'),
      body: {
        ...nullable(bytea('The body, compressed as encoding says; null when it was pruned or erased.')),
        storage: 'external',
      },
      encoding: text('How the body is compressed here: identity or the name of the compression.'),
      sha256: text('SHA-256, in hex, of the body before compression; of a pruned one, what it was.'),
      bytes: bigint('Size of the body before compression, in bytes.'),
      asked: nullable(bigint('Most items that were asked for; null when the request has no limit.')),
      received: nullable(bigint('Items in it: the sum of the next four. Null until loaded.')),
      loaded: nullable(bigint('Items that made or changed rows.')),
      changed: nullable(bigint('Of the loaded items, those whose rows were there and said something else.')),
      unchanged: nullable(bigint('Items that said what the rows already said.')),
      superseded: nullable(bigint('Items that came again later in it, or that a newer answer had already spoken for.')),
      quarantined: nullable(bigint('Items that could not be loaded.')),
      loaded_at: nullable(timestamp('When its rows were last loaded; null while they wait.')),
      pruned_at: nullable(timestamp('When its body and headers were dropped for their age; null while they are kept.')),
      redacted_at: nullable(
        timestamp(
          'When a forgotten entity was last taken out of its body; null while it is as received. Size and digest are those of what is kept.',
        ),
      ),
      unreadable: unset(boolean('True of a loaded answer that is quarantined whole; it serves no request.')),
    },
    {
      key: ['id'],
      indexes: [
        { columns: ['request_key', 'received_at'] },
        { columns: ['request_id'] },
        { columns: ['id'], where: 'loaded_at IS NULL', named: 'waiting' },
        { columns: ['request_key', 'received_at'], where: 'unreadable', named: 'unreadable' },
      ],
    },
  ),
  quarantine: table(
    'What could not be understood: whole answers and single items, with the reason.',
    {
      id: identity('The entry.'),
      answer_id: bigint('The answer that holds it.'),
      sync,
      endpoint,
      resource: text('The contract’s name of the thing expected.'),
      position: nullable(bigint('Place in the answer, from 0; null when the whole answer is rejected.')),
      pointer: text('RFC 6901 pointer into the answer.'),
      reason: text('Why it could not be loaded.'),
      created_at: timestamp('When it was put here.'),
      resolved_at: nullable(timestamp('When a later load took it; null while it is open.')),
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
    'Each slice that was asked, with what it asked for, what came, and whether that is all there is.',
    {
      id: identity('The slice.'),
      request_id: bigint('The request that asked it.'),
      run_id: bigint('The run that asked it.'),
      sync,
      endpoint,
      request_key: requestKey,
      filters: json<RequestBody>('The fields that narrow the question.'),
      asked: nullable(bigint('Most items that were asked for; null when the request has no limit.')),
      returned: bigint('Items that came.'),
      depth: bigint('How many times the question was cut to make this slice.'),
      complete: boolean('True when this is all there is; false when it is a lower bound.'),
      reason: nullable(text('Why it is a lower bound.')),
      as_of: timestamp('Receipt of the answer.'),
      unreadable: unset(boolean('True when the answer could not be read, so that nothing is known of the slice.')),
    },
    {
      key: ['id'],
      indexes: [
        { columns: ['sync', 'as_of'] },
        { columns: ['request_id'] },
        { columns: ['run_id'] },
        { columns: ['sync', 'request_key', 'id'] },
        { columns: ['request_key'], where: 'unreadable', named: 'unreadable' },
      ],
    },
  ),
  drift: table(
    'How answers differ from the contract, counted.',
    {
      resource: text('The contract’s name of the thing.'),
      path: text('Field names joined by dots, without positions.'),
      kind: text('The difference: unknown field, missing, wrong type or other @type.'),
      count: bigint('How often it was seen.'),
      first_seen_at: timestamp('Receipt of the first answer with it.'),
      last_seen_at: timestamp('Receipt of the last answer with it.'),
      sample_type: text('A JSON type that was found; never a value.'),
    },
    { key: ['resource', 'path', 'kind'] },
  ),
  marks: table(
    'How far each sync has read, by name of the mark.',
    {
      sync,
      name: text('What the mark is about.'),
      value: text('How far: a day or an instant, as the sync writes it.'),
      updated_at: timestamp('When it moved last.'),
    },
    { key: ['sync', 'name'] },
  ),
  leases: table(
    'Who is at work on what: at most one holder a name until it expires.',
    {
      name: text('What is held.'),
      holder: text('The process that holds it: host, process id and a random part.'),
      token: bigint('Rises with each new holder; a write with an older token is refused.'),
      acquired_at: timestamp('When the holder got it.'),
      expires_at: timestamp('Until when it is held unless renewed.'),
    },
    { key: ['name'] },
  ),
  ...tokenTables,
  ...alertTables,
  ...erasureTables,
  ...rebuildTables,
};

/** The rows of the machinery's tables, as Kysely takes them. */
export type OperationsTables = { [T in keyof typeof operations]: RowOf<(typeof operations)[T]> };

/** The tables of the machinery, in an order in which they can be created. */
export const operationsTables: readonly DdlTable[] = Object.entries(operations).map(([name, it]) => ddlTable(name, it));
