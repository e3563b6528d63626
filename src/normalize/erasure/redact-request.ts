/** Detects requests for a forgotten entity, and removes the entity's names from them; pure. */
import type { RequestBody } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import { urnOf } from '../../service/names/urn.ts';
import { isInKey, isKeyedByQuestion } from '../../service/resource.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { isObject } from '../scope.ts';
import { cleanText } from './clean.ts';
import { isUrnOfForgotten } from './forgotten-urn.ts';

const ALL_TABLES = rootTables.map(({ name }) => name);

/** True if a value of the request names a forgotten entity. */
export const asksForForgotten = (endpoint: Endpoint, request: RequestBody, forgotten: Forgotten): boolean =>
  Object.entries(request).some(([field, value]) =>
    (Array.isArray(value) ? value : [value]).some((it: unknown) => names(endpoint, request, field, it, forgotten)),
  );

/**
 * A request for the entity, with a pseudonym for each value that names it, and with texts without its names. Beside the
 * entity, a short name in any field is the entity's.
 */
export const redactRequest = (endpoint: Endpoint, request: RequestBody, forgotten: Forgotten): RequestBody =>
  Object.fromEntries(
    Object.entries(request).map(([field, value]) => [
      field,
      Array.isArray(value)
        ? value.map((it: unknown) => redacted(endpoint, request, field, it, forgotten))
        : redacted(endpoint, request, field, value, forgotten),
    ]),
  );

function redacted(
  endpoint: Endpoint,
  request: RequestBody,
  field: string,
  value: unknown,
  forgotten: Forgotten,
): unknown {
  const { pseudonym } = forgotten;
  if (!names(endpoint, request, field, value, forgotten))
    return typeof value === 'string' ? cleanText(value, { forgotten, tables: ALL_TABLES }) : value;
  return isObject(value) ? { ...value, value: pseudonym } : pseudonym;
}

/**
 * A bare word is a name only in the field that the contract declares. An address or a URN is a name in any field. A text
 * that contains a name counts too if it is part of the key of the rows: without the name it would be the key of other rows.
 */
function names(
  { naming, returns }: Endpoint,
  request: RequestBody,
  field: string,
  value: unknown,
  forgotten: Forgotten,
): boolean {
  if (isObject(value)) return isUrnOfForgotten(value, forgotten);
  if (typeof value !== 'string') return false;
  if (naming?.field === field && forgotten.isName(naming.resource().table, value)) return true;
  const urn = urnOf(value);
  if (urn && isUrnOfForgotten({ ...urn }, forgotten)) return true;
  if (value.includes('/') && ALL_TABLES.some((table) => forgotten.isName(table, value))) return true;
  return isKeyedByQuestion(returns) && cleanText(value, { forgotten }) !== value && isInKey(returns, request, field);
}
