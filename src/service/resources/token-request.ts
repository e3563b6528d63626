/** Rows of the service’s own request log. */
import { boolean, integer, timestamp, number, required, text, uuid, personal } from '../field.ts';
import { resource } from '../resource.ts';
import { LOG_TABLE } from '../request-log/request-log.ts';

export const tokenRequest = resource({
  name: 'TokenRequest',
  tag: '@token_request',
  table: LOG_TABLE,
  noun: 'request',
  topic: 'Costs',
  about: 'Cost of each request to the service: one row per request in the service’s log.',
  key: ['id'],
  filters: ['started_at', 'response_request_id'],
  // Assumed: the service writes a row when its request starts and completes it when the request ends. If a log has
  // neither a status nor a duration for ended requests, this is wrong.
  finishedBy: ['response_status_code', 'duration'],
  fields: {
    id: required(uuid('Identifier of the logged request.')),
    cost: required(integer('Price of the request, in points.')),
    is_paid: required(boolean('Whether the points were charged.')),
    endpoint: required(text('Path of the requested endpoint.')),
    plan: required(text('Plan of the token when the request was made.')),
    started_at: required(timestamp('Start time of the request.')),
    points_left: integer('Balance after the request, in points.'),
    token_id: uuid('Identifier of the token.'),
    duration: number('Duration of the request, in seconds; null while it runs.'),
    response_status_code: integer('HTTP status of the answer; null while the request runs.'),
    response_error_text: personal(text('Error text of the answer.')),
    response_count: integer('Number of items in the answer.'),
    response_execution_time: number('Duration of the extraction, in seconds.'),
    response_request_id: text('Request identifier in the service’s records.'),
    timeout: integer('Maximum time for the request, in seconds.'),
    is_token_expired: boolean('Whether the token had expired.'),
    is_points_run_out: boolean('Whether the points had run out.'),
  },
});
