/** Detects the URN of a forgotten entity; pure. */
import type { Forgotten } from '../../service/names/forgotten.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import type { JsonObject } from '../scope.ts';

const URN_TABLES = rootTables.filter(({ key }) => key.join() === 'urn_type,urn_value').map(({ name }) => name);

/** True if the object is the URN of a forgotten entity. */
export function isUrnOfForgotten(value: JsonObject, { isKey }: Forgotten): boolean {
  const { type, value: id } = value;
  return typeof type === 'string' && typeof id === 'string' && URN_TABLES.some((table) => isKey(table, [type, id]));
}
