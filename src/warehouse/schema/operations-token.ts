/** The machinery's tables about the token and its money: the gate, shared limits, lost answers, the request log, names. */
import { bigint, boolean, timestamp, nullable, numeric, oneOf, table, text, uuid, zero } from './column-types.ts';

const sync = text('Name of the sync in the config.');
const endpoint = text('Name of the endpoint: its path with dots.');

/** In an order in which they can be created, after the ledger. */
export const tokenTables = {
  gate_slots: table(
    'Calls that may be under way at once with one token, over every process: one row a call.',
    {
      gate: text('Which token of which service, as a digest.'),
      number: bigint('The slot, from 1.'),
      holder: text('The process that has it, or had it last.'),
      expires_at: timestamp('Until when it is taken unless renewed; past when it is free.'),
    },
    { key: ['gate', 'number'] },
  ),
  gate_paces: table(
    'How fast requests may start with one token, over every process.',
    {
      gate: text('Which token of which service, as a digest.'),
      next_at: timestamp('When the next request may start.'),
      wanted_at: nullable(timestamp('When a process last found too few slots.')),
      wanted_by: nullable(text('That process.')),
    },
    { key: ['gate'] },
  ),
  spending: table(
    'What counts against a limit in points that several processes share.',
    {
      name: text('The limit: a day, or a balance less what is to be kept.'),
      points: numeric('Points spent or set aside.'),
      updated_at: timestamp('When it changed last.'),
    },
    { key: ['name'] },
  ),
  balances: table(
    'Points left by the request log when a run with a limit in points last read it: one row a token.',
    {
      gate: text('Which token of which service, as a digest.'),
      points: numeric('Points left, without those charged for later rows that do not show a balance.'),
      logged_at: timestamp('Start of the logged request that shows the balance, by the clock of the service.'),
      read_at: timestamp('When the log was read.'),
      token_id: nullable(uuid('Identifier of the token in the log; null until a row is surely a request of ours.')),
    },
    { key: ['gate'] },
  ),
  doubts: table(
    'Each attempt whose answer was lost, and what the request log says became of it.',
    {
      request_id: bigint('The request.'),
      attempt: bigint('Which attempt at it, from 1.'),
      run_id: bigint('The run that made the attempt.'),
      sync,
      endpoint,
      sent_at: timestamp('When it was sent.'),
      noticed_at: timestamp('When its loss was noticed.'),
      reason: text('How the answer was lost.'),
      verdict: nullable(
        oneOf('What the log says; null until it was looked at.', [
          'paid_and_lost',
          'not_charged',
          'not_sent',
          'unknown',
        ]),
      ),
      log_id: nullable(uuid('The row of the log that shows the attempt.')),
      points: nullable(numeric('What the attempt cost by the log.')),
      settled_at: nullable(timestamp('When the verdict was found.')),
      lost_invocations: zero(
        bigint(
          'Invocations without an answer that it stands for: 1 for the last attempt of an invocation, 3 for an answer larger than is taken, 0 for any other; --refresh sets it back to 0.',
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
    'Which request of the ledger is which row of the service’s request log, and how sure that is.',
    {
      request_id: bigint('The request of the ledger.'),
      log_id: uuid('The row of the log: fact_request_costs.id.'),
      sure: oneOf(
        'How sure it is: by the identifier sent, by being the only candidate, by the order of time among as many rows as requests, or one of several candidates.',
        ['identifier', 'only_candidate', 'in_order', 'ambiguous'],
      ),
      matched_at: timestamp('When the two were brought together.'),
    },
    {
      key: ['request_id', 'log_id'],
      indexes: [{ columns: ['log_id'] }],
      foreignKeys: [{ columns: ['request_id'], table: 'requests', references: ['id'], onDelete: 'cascade' }],
    },
  ),
  identities: table(
    'Names under which answers showed one entity, and when: ids, aliases, addresses and URNs.',
    {
      resource: text('The contract’s name of the thing.'),
      kind: oneOf('What kind of name it is.', ['id', 'alias', 'url', 'urn']),
      name: text('The name, as requests write it.'),
      entity: text('The key of the entity: the parts of its primary key as a JSON array.'),
      first_seen_at: timestamp('Receipt of the first answer that showed it so.'),
      last_seen_at: timestamp('Receipt of the last answer that showed it so.'),
      answer_id: bigint('That last answer.'),
      asked: boolean('True when a request by this name was answered with the entity; false when answers only show it.'),
    },
    {
      key: ['resource', 'kind', 'name', 'entity'],
      indexes: [{ columns: ['resource', 'entity', 'kind'] }],
    },
  ),
};
