/** Detects the URN of a forgotten entity; pure. */
import type { Forgotten } from '../../service/names/forgotten.ts';
import { urnOf } from '../../service/names/urn.ts';
import { rootTables } from '../../warehouse/schema/tables.ts';
import { isObject } from '../scope.ts';

const URN_TABLES = rootTables.filter(({ key }) => key.join() === 'urn_type,urn_value').map(({ name }) => name);

/** The URN that an object or a text may be. */
export function urnIn(value: unknown): { readonly type?: unknown; readonly value?: unknown } {
  return (typeof value === 'string' ? urnOf(value) : isObject(value) ? value : undefined) ?? {};
}

/** True if the object or text is the URN of a forgotten entity. */
export function isUrnOfForgotten(value: unknown, { isKey }: Forgotten): boolean {
  const { type, value: id } = urnIn(value);
  return typeof type === 'string' && typeof id === 'string' && URN_TABLES.some((table) => isKey(table, [type, id]));
}
