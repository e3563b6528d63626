/** The files of an export hold exactly what the tables hold. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { sql } from 'kysely';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { exportToFolder } from '../../src/export/export.ts';
import type { ExportFormat } from '../../src/export/formats.ts';
import type { Warehouse } from '../../src/warehouse/connect/connect.ts';
import { temporaryFolder } from '../cli/program-run.ts';
import { eachWarehouse } from '../support/warehouse.ts';
import { createOddTables, ODD_TEXT } from './odd-values.ts';

const { signal } = new AbortController();

const COLUMNS = 'id,large,amount,flag,name,at,local_at,day,uid,doc,exact,names';

eachWarehouse('an exported file', (open) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
    await createOddTables(warehouse);
  });

  /** The path of the table's file. */
  async function exported(table: string, format: ExportFormat): Promise<string> {
    const folder = await temporaryFolder();
    onTestFinished(folder.remove);
    await exportToFolder(warehouse, folder.path, { names: [table], format, isMasked: false }, { signal });
    return join(folder.path, `${table}.${format}`);
  }

  it('in CSV has exact values, and tells null from an empty text', async () => {
    expect(await readFile(await exported('odd', 'csv'), 'utf8')).toBe(
      [
        COLUMNS,
        `1,9223372036854775807,NaN,true,"",2024-02-28T23:02:03.456789Z,2024-02-28T01:02:03.000001,2024-02-29,0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f,"{""f"": 0.12345678901234567891, ""n"": 12345678901234567890}",12345678901234567890.5,"[""a"",""b,c""]"`,
        `2,9007199254740993,-Infinity,false,"${ODD_TEXT.replaceAll('"', '""')}",1969-12-31T23:59:59.999999Z,,0044-03-15 BC,,null,1.50,`,
        '3,-1,-0,,,,,,,,,',
        '',
      ].join('\n'),
    );
  });

  it('in JSON lines has exact values, and only characters that a terminal does not interpret', async () => {
    const text = await readFile(await exported('odd', 'jsonl'), 'utf8');
    const [first = '', second = '', third = '', end] = text.split('\n');
    expect(end).toBe('');
    expect(first).toBe(
      '{"id":1,"large":"9223372036854775807","amount":"NaN","flag":true,"name":"","at":"2024-02-28T23:02:03.456789Z","local_at":"2024-02-28T01:02:03.000001","day":"2024-02-29","uid":"0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f","doc":{"f": 0.12345678901234567891, "n": 12345678901234567890},"exact":"12345678901234567890.5","names":["a","b,c"]}',
    );
    expect(JSON.parse(second)).toMatchObject({
      large: '9007199254740993',
      amount: '-Infinity',
      name: ODD_TEXT,
      doc: null,
    });
    expect(second).not.toContain('\u2028');
    expect(third).toBe(
      '{"id":3,"large":-1,"amount":-0,"flag":null,"name":null,"at":null,"local_at":null,"day":null,"uid":null,"doc":null,"exact":null,"names":null}',
    );
  });

  it('in Parquet has the types of the columns', async () => {
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(await exported('odd', 'parquet')));
    const types = schema
      .slice(1)
      .map(({ name, type, converted_type: older, logical_type: logical }) => [name, type, older, logical]);
    const text = ['BYTE_ARRAY', 'UTF8', { type: 'STRING' }];
    expect(types).toEqual([
      ['id', 'INT32', undefined, undefined],
      ['large', 'INT64', undefined, undefined],
      ['amount', 'DOUBLE', undefined, undefined],
      ['flag', 'BOOLEAN', undefined, undefined],
      ['name', ...text],
      ['at', 'INT64', 'TIMESTAMP_MICROS', { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' }],
      ['local_at', 'INT64', undefined, { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MICROS' }],
      ['day', 'INT32', 'DATE', { type: 'DATE' }],
      ['uid', 'FIXED_LEN_BYTE_ARRAY', undefined, { type: 'UUID' }],
      ['doc', 'BYTE_ARRAY', 'JSON', { type: 'JSON' }],
      ['exact', ...text],
      ['names', ...text],
    ]);
  });

  it('in Parquet has exact values', async () => {
    const decoder = new TextDecoder();
    const rows = await parquetReadObjects({
      file: await asyncBufferFromFile(await exported('odd', 'parquet')),
      // Instants as microseconds, days as numbers, and JSON as text: what the file holds.
      parsers: {
        timestampFromMicroseconds: (micros: bigint) => micros,
        dateFromDays: (days: number) => days,
        jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
      },
    });
    expect(rows).toEqual([
      {
        id: 1,
        large: 9223372036854775807n,
        amount: Number.NaN,
        flag: true,
        name: '',
        at: 1709161323456789n,
        local_at: 1709082123000001n,
        day: 19782,
        uid: '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f',
        doc: '{"f": 0.12345678901234567891, "n": 12345678901234567890}',
        exact: '12345678901234567890.5',
        names: '["a","b,c"]',
      },
      {
        id: 2,
        large: 9007199254740993n,
        amount: Number.NEGATIVE_INFINITY,
        flag: false,
        name: ODD_TEXT,
        at: -1n,
        local_at: null,
        day: -735160,
        uid: null,
        doc: 'null',
        exact: '1.50',
        names: null,
      },
      expect.objectContaining({ id: 3, large: -1n, amount: -0, flag: null, name: null, at: null, doc: null }),
    ]);
  });

  it('of a table without rows is valid and has its columns', async () => {
    expect(await readFile(await exported('empty', 'csv'), 'utf8')).toBe(`${COLUMNS}\n`);
    expect(await readFile(await exported('empty', 'jsonl'), 'utf8')).toBe('');
    const file = await asyncBufferFromFile(await exported('empty', 'parquet'));
    const { schema, num_rows: rows } = await parquetMetadataAsync(file);
    expect([
      rows,
      schema
        .slice(1)
        .map(({ name }) => name)
        .join(','),
    ]).toEqual([0n, COLUMNS]);
    expect(await parquetReadObjects({ file })).toEqual([]);
  });

  it('has all rows of a table that takes several fetches and row groups', async () => {
    await sql`create table sluice.many as select g as id, repeat('x', 10000) || g as body from generate_series(1, 2001) g`.execute(
      warehouse.db,
    );
    const file = await asyncBufferFromFile(await exported('many', 'parquet'));
    const { row_groups: groups } = await parquetMetadataAsync(file);
    expect(groups.length).toBeGreaterThan(1);
    const rows = await parquetReadObjects({ file });
    expect(rows.map(({ id, body }) => body === `${'x'.repeat(10_000)}${String(id)}` && id)).toEqual(
      Array.from({ length: 2001 }, (_, index) => index + 1),
    );
    const lines = (await readFile(await exported('many', 'csv'), 'utf8')).split('\n');
    expect([lines.length, lines[2001]]).toEqual([2003, `2001,${'x'.repeat(10_000)}2001`]);
  });

  it.each(["'infinity'::timestamptz", "'-infinity'::date"])(
    'in Parquet has no approximation of %s: the export is refused, and the other formats have it',
    async (value) => {
      await sql`create view sluice.endless as select ${sql.raw(value)} as "until"`.execute(warehouse.db);
      const refused = exported('endless', 'parquet');
      await expect(refused).rejects.toThrow(UsageError);
      await expect(refused).rejects.toThrow(
        /^export: endless\.until contains -?infinity, which a Parquet file cannot represent/,
      );
      expect(await readFile(await exported('endless', 'csv'), 'utf8')).toMatch(/^until\n-?infinity\n$/);
      await sql`drop view sluice.endless`.execute(warehouse.db);
    },
  );
});
