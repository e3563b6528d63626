/** Detects requests for a forgotten entity, and removes the entity's names from them; pure. */
import type { RequestBody } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import { isInKey, isKeyedByQuestion } from '../../service/resource.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { isObject } from '../scope.ts';
import { cleanText } from './clean.ts';
import { isUrnOfForgotten } from './forgotten-urn.ts';

const ALL_TABLES = rootTables.map(({ name }) => name);

/** True if a value of the request names a forgotten entity. */
export function asksForForgotten(endpoint: Endpoint, request: RequestBody, forgotten: Forgotten): boolean {
  const isName = nameTest(endpoint, request, forgotten);
  return Object.entries(request).some(([field, value]) => [value].flat().some((it) => isName(field, it)));
}

/** True if a new request would bring a name of a forgotten entity back to the ledger, in any of its texts. */
export const mentionsForgotten = (endpoint: Endpoint, request: RequestBody, forgotten: Forgotten): boolean =>
  asksForForgotten(endpoint, request, forgotten) ||
  Object.values(request)
    .flat()
    .some((it) => typeof it === 'string' && cleanText(it, { forgotten }) !== it);

/**
 * A part of a request for the entity, with a pseudonym for each value that names it, and with texts without its names.
 * Beside the entity, a short name in any field is the entity's. Beside its URN, so is any alias: tables and answers may
 * not have it.
 */
export function redactRequest(
  endpoint: Endpoint,
  request: RequestBody,
  forgotten: Forgotten,
  part: RequestBody,
): RequestBody {
  const isByUrn = Object.values(request).some((it) => isUrnOfForgotten(it, forgotten));
  const isNameIn = nameTest(endpoint, request, forgotten);
  const isName = (field: string, value: unknown): boolean =>
    isNameIn(field, value) || (isByUrn && field === 'alias' && typeof value === 'string');
  const redacted = (field: string, value: unknown): unknown => {
    if (isName(field, value)) {
      const pseudonym = forgotten.pseudonymFor(String(isObject(value) ? value['value'] : value));
      return isObject(value) ? { ...value, value: pseudonym } : pseudonym;
    }
    return typeof value === 'string' ? cleanText(value, { forgotten, tables: ALL_TABLES }) : value;
  };
  return Object.fromEntries(
    Object.entries(part).map(([field, value]) => [
      field,
      Array.isArray(value) ? value.map((it: unknown) => redacted(field, it)) : redacted(field, value),
    ]),
  );
}

/**
 * A test of whether a value of a field of the request is a name of a forgotten entity. A bare word is a name only in the
 * field that the contract declares. An address or a URN is a name in any field. A text that contains a name counts too if
 * it is part of the key of the rows: without the name it would be the key of other rows.
 */
const nameTest =
  ({ naming, returns }: Endpoint, request: RequestBody, forgotten: Forgotten) =>
  (field: string, value: unknown): boolean => {
    if (isUrnOfForgotten(value, forgotten)) return true;
    if (typeof value !== 'string') return false;
    if (naming?.field === field && forgotten.isName(naming.resource().table, value)) return true;
    if (value.includes('/') && ALL_TABLES.some((table) => forgotten.isName(table, value))) return true;
    return isKeyedByQuestion(returns) && cleanText(value, { forgotten }) !== value && isInKey(returns, request, field);
  };
