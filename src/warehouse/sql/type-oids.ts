/** The object identifiers (OIDs) of built-in Postgres types. They never change. */
export const TYPE = {
  bool: 16,
  bytea: 17,
  char: 18,
  name: 19,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  bpchar: 1042,
  varchar: 1043,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
} as const;

/** The element type of each array type. */
const ELEMENTS: ReadonlyMap<number, number> = new Map<number, number>([
  [199, TYPE.json],
  [1000, TYPE.bool],
  [1001, TYPE.bytea],
  [1002, TYPE.char],
  [1003, TYPE.name],
  [1005, TYPE.int2],
  [1007, TYPE.int4],
  [1009, TYPE.text],
  [1014, TYPE.bpchar],
  [1015, TYPE.varchar],
  [1016, TYPE.int8],
  [1021, TYPE.float4],
  [1022, TYPE.float8],
  [1028, TYPE.oid],
  [1115, TYPE.timestamp],
  [1182, TYPE.date],
  [1185, TYPE.timestamptz],
  [1231, TYPE.numeric],
  [2951, TYPE.uuid],
  [3807, TYPE.jsonb],
]);

/** The element type of an array type; undefined for other types. */
export const elementTypeOf = (oid: number): number | undefined => ELEMENTS.get(oid);
