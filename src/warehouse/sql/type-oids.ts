/** The object identifiers (OIDs) of built-in Postgres types. They never change. */
import { types } from 'pg';

/** The identifiers by name, from the driver. */
export const TYPE: Readonly<Record<keyof typeof types.builtins, number>> = types.builtins;

/** The driver has no name for it. */
const NAME = 19;

/** The element type of each array type, which the driver does not list. */
const ELEMENTS: ReadonlyMap<number, number> = new Map<number, number>([
  [199, TYPE.JSON],
  [1000, TYPE.BOOL],
  [1001, TYPE.BYTEA],
  [1002, TYPE.CHAR],
  [1003, NAME],
  [1005, TYPE.INT2],
  [1007, TYPE.INT4],
  [1009, TYPE.TEXT],
  [1014, TYPE.BPCHAR],
  [1015, TYPE.VARCHAR],
  [1016, TYPE.INT8],
  [1021, TYPE.FLOAT4],
  [1022, TYPE.FLOAT8],
  [1028, TYPE.OID],
  [1115, TYPE.TIMESTAMP],
  [1182, TYPE.DATE],
  [1185, TYPE.TIMESTAMPTZ],
  [1231, TYPE.NUMERIC],
  [2951, TYPE.UUID],
  [3807, TYPE.JSONB],
]);

/** The element type of an array type; undefined for other types. */
export const elementTypeOf = (oid: number): number | undefined => ELEMENTS.get(oid);
