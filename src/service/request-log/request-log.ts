/** The names of the service's own request log. This file imports nothing, so that the help of commands stays fast. */

/** The name of its endpoint. */
export const LOG_ENDPOINT = 'token.requests';

/** The path of its endpoint. */
export const LOG_PATH = '/token/requests';

/** The table of its rows, in the schema for analysts. */
export const LOG_TABLE = 'fact_request_costs';
