/** The operations tables of presence: what the newest answer to each question contains, and what it no longer does. */
import { bigint, boolean, bytea, nullable, table, text, timestamp } from './column-types.ts';

const requestKey = text('SHA-256 of the endpoint and the canonical body, in hex; names the question.');

/** The tables in the order of creation. */
export const presenceTables = {
  question_contents: table(
    'Entities in the newest loaded answer to each question: one row per question, without those of the request log.',
    {
      request_key: requestKey,
      endpoint: text('Name of the endpoint: its path with dots.'),
      answer_id: bigint('Newest loaded and readable answer.'),
      received_at: timestamp('Receipt of this answer.'),
      is_complete: boolean('Whether this answer contains all items.'),
      was_complete: boolean('Whether any answer to the question contained all items.'),
      keys: bytea('Hashes of the entities in this answer, of 8 bytes each, in ascending order.'),
    },
    { key: ['request_key'] },
  ),
  left_entities: table(
    'Entities that an answer to a question contained, and its newest answer does not: one row per question and entity.',
    {
      request_key: requestKey,
      key: bytea('Hash of the entity.'),
      last_answer_id: bigint('Newest answer to the question that contained the entity.'),
      last_seen_at: timestamp('Receipt of this answer.'),
      gone_answer_id: nullable(
        bigint('First complete answer to the question after it; null if there is none, so that nothing is known.'),
      ),
      gone_at: nullable(
        timestamp(
          'Receipt of this complete answer; null if there is none, or if the requested alias or URL may have moved to the entity in it.',
        ),
      ),
    },
    { key: ['request_key', 'key'] },
  ),
};
