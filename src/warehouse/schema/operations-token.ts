/**
 * The operations tables of a token and its points: the limiter, shared budgets, lost answers, the request log, names.
 */
import { bigint, boolean, timestamp, nullable, numeric, oneOf, table, text, uuid, zero } from './column-types.ts';

const sync = text('Name of the sync in the config.');
const endpoint = text('Name of the endpoint: its path with dots.');

/** The tables in the order of creation, after the ledger. */
export const tokenTables = {
  limiter_slots: table(
    'Slots of the limiter for concurrent requests with a token, across all processes: one row per slot.',
    {
      token_digest: text('Digest of the service and the token.'),
      number: bigint('Number of the slot, from 1.'),
      holder: text('Process that holds the slot, or held it last.'),
      expires_at: timestamp(
        'Time until which the slot is taken unless it is renewed; in the past if the slot is free.',
      ),
    },
    { key: ['token_digest', 'number'] },
  ),
  limiter_paces: table(
    'Rate limit of requests with a token, across all processes: one row per token.',
    {
      token_digest: text('Digest of the service and the token.'),
      next_at: timestamp('Earliest start of the next request.'),
      wanted_at: nullable(timestamp('Time at which a process last found too few slots; null if that never happened.')),
      wanted_by: nullable(text('Process that last found too few slots; null if none did.')),
    },
    { key: ['token_digest'] },
  ),
  spending: table(
    'Points that count against limits that several processes share: one row per limit.',
    {
      name: text(
        'Name of the limit: a day or a month, with the tag of the syncs that count if there is one; or a balance without the points to keep.',
      ),
      points: numeric('Points spent or reserved.'),
      updated_at: timestamp('Time of the last change.'),
    },
    { key: ['name'] },
  ),
  balances: table(
    'Balances by the request log, as a run with a limit in points last read them: one row per token.',
    {
      token_digest: text('Digest of the service and the token.'),
      points: numeric('Points left, minus those charged for later rows without a balance.'),
      logged_at: timestamp('Start of the logged request that reports the balance, by the clock of the service.'),
      read_at: timestamp('Time of the read of the log.'),
      token_id: nullable(
        uuid('Identifier of the token in the log; null until a row certainly belongs to a request of this warehouse.'),
      ),
    },
    { key: ['token_digest'] },
  ),
  lost_answers: table(
    'Attempts whose answers were lost, with their outcome by the request log: one row per attempt.',
    {
      request_id: bigint('Id of the request.'),
      attempt: bigint('Number of the attempt, from 1.'),
      run_id: bigint('Run that made the attempt.'),
      sync,
      endpoint,
      sent_at: timestamp('Time of sending.'),
      noticed_at: timestamp('Time at which the loss was noticed.'),
      reason: text('Reason for the loss of the answer.'),
      verdict: nullable(
        oneOf('Outcome by the log; null until it was looked up.', [
          'paid_and_lost',
          'not_charged',
          'not_sent',
          'unknown',
        ]),
      ),
      log_id: nullable(uuid('Row of the log that shows the attempt; null if there is none.')),
      points: nullable(numeric('Points charged for the attempt by the log; null until known.')),
      settled_at: nullable(timestamp('Time at which the outcome was found; null until then.')),
      lost_invocations: zero(
        bigint(
          'Number of failed invocations that the attempt counts for: 1 for the last attempt of an invocation, 3 for an answer above the size limit, otherwise 0. --refresh resets it to 0.',
        ),
      ),
    },
    {
      key: ['request_id', 'attempt'],
      indexes: [{ columns: ['run_id'] }, { columns: ['sync', 'noticed_at'] }],
      foreignKeys: [{ columns: ['request_id'], table: 'requests', references: ['id'], onDelete: 'cascade' }],
    },
  ),
  request_cost_matches: table(
    'Matches between requests of the ledger and rows of the service’s request log: one row per match.',
    {
      request_id: bigint('Id of the request in the ledger.'),
      log_id: uuid('Row of the log: fact_request_costs.id.'),
      match_kind: oneOf(
        'Kind of match: the identifier that was sent, the only candidate, the order in time among equally many rows and requests, or one of several candidates.',
        ['identifier', 'only_candidate', 'in_order', 'ambiguous'],
      ),
      matched_at: timestamp('Time of the match.'),
    },
    {
      key: ['request_id', 'log_id'],
      // Grouped by log row from the index alone, since the ids of log rows are in no order.
      indexes: [{ columns: ['log_id', 'request_id', 'match_kind'] }],
      foreignKeys: [{ columns: ['request_id'], table: 'requests', references: ['id'], onDelete: 'cascade' }],
    },
  ),
  identities: table(
    'Names of entities in answers: ids, aliases, addresses and URNs, one row per name and entity.',
    {
      resource: text('Name of the resource in the contract.'),
      kind: oneOf('Kind of the name.', ['id', 'alias', 'url', 'urn']),
      name: text('Name as requests contain it.'),
      entity: text('Primary key of the entity: its parts as a JSON array.'),
      first_seen_at: timestamp('Receipt of the first answer that showed the entity with this name.'),
      last_seen_at: timestamp('Receipt of the last answer that showed the entity with this name.'),
      answer_id: bigint('Id of that last answer.'),
      asked: boolean('Whether a request by this name returned the entity; false if other answers only mention it.'),
    },
    {
      key: ['resource', 'kind', 'name', 'entity'],
      indexes: [{ columns: ['resource', 'entity', 'kind'] }],
    },
  ),
};
