import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { parseJson } from '../../src/warehouse/sql/values.ts';
import { eachWarehouse } from '../support/warehouse.ts';

const LONG = '9007199254740993';

/** SQL, and the one JavaScript value that both kinds of warehouse make of it. */
const READ: readonly (readonly [string, unknown])[] = [
  ['true', true],
  ['false', false],
  ['null::int', null],
  ['1::int2', 1],
  ['(-2147483648)::int4', -2147483648],
  [`${LONG}::int8`, LONG],
  ['count(*)', '1'],
  ['1.50::numeric', '1.50'],
  [`${LONG}${LONG}::numeric`, LONG + LONG],
  ['0.1::float8', 0.1],
  ['1.5::float4', 1.5],
  [`'NaN'::float8`, Number.NaN],
  [`'-Infinity'::float8`, Number.NEGATIVE_INFINITY],
  [`'7'::oid`, 7],
  [`'text'::text`, 'text'],
  [`'varchar'::varchar(9)`, 'varchar'],
  [`'b '::char(3)`, 'b  '],
  [`'name'::name`, 'name'],
  [`'3b241101-e2bb-4255-8caf-4136c566a962'::uuid`, '3b241101-e2bb-4255-8caf-4136c566a962'],
  [`'2024-02-29'::date`, '2024-02-29'],
  [`'infinity'::date`, 'infinity'],
  [`'2024-02-29 01:02:03.456789'::timestamp`, '2024-02-29 01:02:03.456789'],
  [`'2024-02-29 01:02:03.456+02'::timestamptz`, new Date('2024-02-28T23:02:03.456Z')],
  [`'0044-03-15 00:00:00+00 BC'::timestamptz`, new Date(Date.UTC(-43, 2, 15))],
  [`'12:00'::time`, '12:00:00'],
  [`'1 day 02:00'::interval`, '1 day 02:00:00'],
  [`'\\x00ff'::bytea`, Buffer.from([0, 255])],
  [`'{"a": [1, null, "x"]}'::jsonb`, { a: [1, null, 'x'] }],
  [`'{"a": ${LONG}}'::jsonb`, { a: LONG }],
  [`'"null"'::json`, 'null'],
  [`'null'::json`, null],
  [`array[1, null, 3]`, [1, null, 3]],
  [
    `array[[1, 2], [3, 4]]`,
    [
      [1, 2],
      [3, 4],
    ],
  ],
  [`array[${LONG}]::int8[]`, [LONG]],
  [`array['a,b', '"', '\\', '', null, 'NULL']`, ['a,b', '"', '\\', '', null, 'NULL']],
  [`array[true, null]`, [true, null]],
  [`array['2024-02-29'::date]`, ['2024-02-29']],
  [`array['2024-02-29T00:00:00Z'::timestamptz]`, [new Date('2024-02-29T00:00:00Z')]],
  [`array['{"a": 1}'::jsonb, null]`, [{ a: 1 }, null]],
  [`array['\\x01'::bytea]`, [Buffer.from([1])]],
  [`'{}'::text[]`, []],
  [`'1.2.3.4'::inet`, '1.2.3.4'],
  [`'(1,2)'::point`, '(1,2)'],
  [`'[1,3)'::int4range`, '[1,3)'],
  [`row(1, 'a')`, '(1,a)'],
];

/** A parameter, the type it is sent as, and the text that Postgres has of it then. */
const SENT: readonly (readonly [unknown, string, string | null])[] = [
  ['text', 'text', 'text'],
  ['', 'text', ''],
  [null, 'text', null],
  [undefined, 'text', null],
  [7, 'int', '7'],
  ['7', 'int', '7'],
  [7, 'text', '7'],
  [9007199254740993n, 'bigint', LONG],
  [LONG, 'bigint', LONG],
  [1.5, 'numeric', '1.5'],
  [true, 'boolean', 'true'],
  ['t', 'boolean', 'true'],
  [new Date('2024-02-29T01:02:03.456Z'), 'timestamptz', '2024-02-29 01:02:03.456+00'],
  ['2024-02-29T01:02:03.456789Z', 'timestamptz', '2024-02-29 01:02:03.456789+00'],
  ['2024-02-29', 'date', '2024-02-29'],
  [Buffer.from([0, 255]), 'bytea', '\\x00ff'],
  [new Uint8Array([1, 2, 3]).subarray(1), 'bytea', '\\x0203'],
  [{ a: [1, 'x'] }, 'jsonb', '{"a": [1, "x"]}'],
  ['[1, "x"]', 'jsonb', '[1, "x"]'],
  [['a,b', '"\\', null, 'NULL', ''], 'text[]', '{"a,b","\\"\\\\",NULL,"NULL",""}'],
  [[1, null], 'bigint[]', '{1,NULL}'],
  [
    [
      [1, 2],
      [3, 4],
    ],
    'int[]',
    '{{1,2},{3,4}}',
  ],
  [[{ a: 1 }], 'jsonb[]', '{"{\\"a\\": 1}"}'],
  [[true, false], 'boolean[]', '{t,f}'],
  ['{1,2}', 'int[]', '{1,2}'],
];

eachWarehouse('values', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open({ migrated: false });
  });

  it.each(READ)('read %s', async (expression, value) => {
    const { rows } = await sql<{ value: unknown }>`select ${sql.raw(expression)} as value`.execute(warehouse.db);
    expect(rows).toEqual([{ value }]);
    expect(Buffer.isBuffer(rows[0]?.value)).toBe(Buffer.isBuffer(value));
  });

  it.each(SENT)('send %o as %s', async (value, type, text) => {
    const { rows } = await warehouse.db.transaction().execute(async (trx) => {
      await sql`set local timezone to 'UTC'`.execute(trx);
      return sql<{ text: string }>`select ${value}::${sql.raw(type)}::text as text`.execute(trx);
    });
    expect(rows).toEqual([{ text }]);
  });

  it('come back as they were sent, whatever is in a text', async () => {
    const texts = [
      '\u202eabc',
      'e\u0301',
      '\u2028',
      '\ufeff',
      '\u001b',
      '\\N',
      '\t',
      '\\.',
      `'); drop table x;--`,
      '$1',
      '😀',
    ];
    const { rows } = await sql<{ it: string[] }>`select ${texts}::text[] as it`.execute(warehouse.db);
    expect(rows[0]?.it).toEqual(texts);
  });
});

describe('JSON', () => {
  it.each([
    ['{"a":1.5,"b":[true,null,"9007199254740993"]}', { a: 1.5, b: [true, null, LONG] }],
    [LONG, LONG],
    ['-9007199254740993', '-9007199254740993'],
    ['[9007199254740991]', [9007199254740991]],
    ['[12e14, 1e16, 1e400]', [12e14, '1e16', '1e400']],
    ['{"text":"1234567890123456789"}', { text: '1234567890123456789' }],
    ['[0.1000000000000000055]', [0.1]],
  ])('%s keeps every digit of an integer', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it('has the keys that were sent, whatever was parsed before', () => {
    parseJson('{"!":[],"\\\\":0}');
    expect(parseJson('{"!":1,"\\"":2}')).toEqual({ '!': 1, '"': 2 });
  });

  it('may have a key that objects have already', () => {
    expect(JSON.stringify(parseJson('{"__proto__":{"a":9007199254740993}}'))).toBe(
      '{"__proto__":{"a":"9007199254740993"}}',
    );
  });
});
