/** Rows of the service’s own log of requests. */
import { boolean, integer, timestamp, number, required, text, uuid } from '../field.ts';
import { resource } from '../resource.ts';

export const tokenRequest = resource({
  name: 'TokenRequest',
  tag: '@token_request',
  table: 'fact_request_costs',
  noun: 'request',
  about: 'What each request to the service cost: one row for each request that the service logged.',
  key: ['id'],
  filters: ['started_at', 'response_request_id'],
  // Assumed: a row is written when its request starts and completed when it ends. A log that sends neither a status
  // nor a duration for ended requests would show this wrong.
  unfinished: (row) => row['response_status_code'] === null && row['duration'] === null,
  fields: {
    id: required(uuid('Identifier of the logged request.')),
    cost: required(integer('Price of the request, in points.')),
    is_paid: required(boolean('Whether the points were charged.')),
    endpoint: required(text('Path of the endpoint asked.')),
    plan: required(text('Plan of the token at the time.')),
    started_at: required(timestamp('When the request started.')),
    points_left: integer('Points left after the request.'),
    token_id: uuid('Identifier of the token.'),
    duration: number('Time the request took, in seconds.'),
    response_status_code: integer('HTTP status of the answer.'),
    response_error_text: text('Error text of the answer.'),
    response_count: integer('Items in the answer.'),
    response_execution_time: number('Time the extraction took, in seconds.'),
    response_request_id: text('Request identifier that the service kept.'),
    timeout: integer('Longest time allowed for the request, in seconds.'),
    is_token_expired: boolean('Whether the token had expired.'),
    is_points_run_out: boolean('Whether the points had run out.'),
  },
});
