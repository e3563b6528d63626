/** The identity of a request: the endpoint and the body with its defaults, without order and timeout. */
import { canonicalJson, digestOf } from './canonical-json.ts';
import type { RequestBody } from './request-body.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * The body that identifies a request: defaults filled in, null omitted, sets sorted, `timeout` omitted. Throws a
 * ZodError if the body breaks the contract.
 */
export const canonicalRequest = (endpoint: Endpoint, body: RequestBody): RequestBody =>
  canonicalFields(endpoint, endpoint.request.parse(body));

/** Some fields of a body as they identify a request, without the defaults of the others. */
export const canonicalFields = ({ sets }: Pick<Endpoint, 'sets'>, fields: RequestBody): RequestBody =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => name !== 'timeout' && value !== null && value !== undefined)
      .map(([name, value]) => [name, sets.includes(name) && Array.isArray(value) ? setOf(value) : value]),
  );

const setOf = (values: readonly unknown[]): unknown[] =>
  [...new Set(values)].toSorted((a, b) => (String(a) < String(b) ? -1 : 1));

/** SHA-256, in hex, of an endpoint's name and a canonical body. */
export const requestKeyOf = (endpointName: string, canonical: RequestBody): string =>
  digestOf(canonicalJson([endpointName, canonical]));
