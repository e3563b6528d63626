/** Detects requests for a forgotten entity, and removes the entity's names from them; pure. */
import type { RequestBody } from '../../service/request-body.ts';
import type { Endpoint } from '../../service/endpoint.ts';
import type { Forgotten } from '../../service/names/forgotten.ts';
import { urnOf } from '../../service/names/urn.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { isObject, type JsonObject } from '../scope.ts';

const URN_TABLES = rootTables.filter(({ key }) => key.join() === 'urn_type,urn_value').map(({ name }) => name);
const ALL_TABLES = rootTables.map(({ name }) => name);

/** True if the object is the URN of a forgotten entity. */
export function isUrnOfForgotten(value: JsonObject, forgotten: Forgotten): boolean {
  const { type, value: id } = value;
  return typeof type === 'string' && typeof id === 'string' && isUrn(type, id, forgotten);
}

const isUrn = (type: string, value: string, { isKey }: Forgotten): boolean =>
  URN_TABLES.some((table) => isKey(table, [type, value]));

/** True if a value of the request names a forgotten entity. */
export const asksForForgotten = (endpoint: Endpoint, request: RequestBody, forgotten: Forgotten): boolean =>
  Object.entries(request).some(([field, value]) =>
    (Array.isArray(value) ? value : [value]).some((it: unknown) => names(endpoint, field, it, forgotten)),
  );

/** The request with a pseudonym for each value that names the entity, and with texts without its names. */
export const redactRequest = (endpoint: Endpoint, request: RequestBody, forgotten: Forgotten): RequestBody =>
  Object.fromEntries(
    Object.entries(request).map(([field, value]) => [
      field,
      Array.isArray(value)
        ? value.map((it: unknown) => redacted(endpoint, field, it, forgotten))
        : redacted(endpoint, field, value, forgotten),
    ]),
  );

function redacted(endpoint: Endpoint, field: string, value: unknown, forgotten: Forgotten): unknown {
  const { pseudonym, scrub } = forgotten;
  if (!names(endpoint, field, value, forgotten)) return typeof value === 'string' ? scrub(value) : value;
  return isObject(value) ? { ...value, value: pseudonym } : pseudonym;
}

/** A bare word is a name only in the field that the contract declares. An address or a URN is a name in any field. */
function names({ naming }: Endpoint, field: string, value: unknown, forgotten: Forgotten): boolean {
  if (isObject(value)) return isUrnOfForgotten(value, forgotten);
  if (typeof value !== 'string') return false;
  if (naming?.field === field && forgotten.isName(naming.resource().table, value)) return true;
  const urn = urnOf(value);
  if (urn && isUrn(urn.type, urn.value, forgotten)) return true;
  return value.includes('/') && ALL_TABLES.some((table) => forgotten.isName(table, value));
}
