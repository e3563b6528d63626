import { sql } from 'kysely';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/config/values/secret.ts';
import { TransientError, UsageError } from '../../src/errors.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/connect/connect.ts';
import { readOnlyQuery } from '../../src/warehouse/connect/query.ts';
import { firstWord, withoutEnd } from '../../src/warehouse/connect/statement-text.ts';
import { type QueryPart, readInParts } from '../../src/warehouse/connect/query-parts.ts';
import { retryTransient } from '../../src/warehouse/connect/retry-transient.ts';
import { startProxy } from '../reliability/proxy.ts';
import { eachWarehouse, realEffects } from '../support/warehouse.ts';

/** Functions of Postgres that take a text or a name and do not run it. The database refuses those that write. */
const RUN_NO_TEXT =
  /^(?:binary_upgrade_|brin_|gin_|pg_(?:clear|copy|create|drop|logical|restore|sequence|stat)_|(?:curr|next|set)val$|currtid2?$|pg_(?:extension_config_dump|get_sequence_data|get_viewdef|nextoid|notify|replication_slot_advance)$)/;

/** The parts of a result. */
async function inParts(warehouse: Warehouse, statement: string, mostRows?: number): Promise<QueryPart[]> {
  const parts: QueryPart[] = [];
  await readInParts(warehouse, statement, {
    ...(mostRows !== undefined && { mostRows }),
    onPart: (it) => void parts.push(it),
  });
  return parts;
}

eachWarehouse('a query', (open, kind) => {
  let warehouse: Warehouse;
  beforeAll(async () => {
    warehouse = await open();
    await sql`insert into sluice_ops.leases values ('kept', 'me', 1, now(), now())`.execute(warehouse.db);
    await sql`create function public.writing() returns int language sql volatile as
      $$ insert into sluice_ops.leases values ('written', 'me', 1, now(), now()) returning 1 $$`.execute(warehouse.db);
  });

  it('finds the tables of the warehouse with and without its schema', async () => {
    const both = 'select (select count(*) from sluice.sec_filings) as a, (select count(*) from sec_filings) as b';
    expect(await readOnlyQuery(warehouse, both)).toEqual({ columns: ['a', 'b'], rows: [{ a: 0, b: 0 }] });
  });

  it('returns the columns of an empty result', async () => {
    const { columns, rows } = await readOnlyQuery(warehouse, 'select sync, at from sync_inputs');
    expect({ columns, rows }).toEqual({ columns: ['sync', 'at'], rows: [] });
  });

  it.each([
    // The division by zero in the third row shows that only two rows are read.
    ['select 6 / (3 - g) as n from generate_series(1, 9) as g; -- all', [{ n: 3 }, { n: 6 }]],
    ['values (1), (2), (3)', [{ column1: 1 }, { column1: 2 }]],
    ['show server_encoding', [{ server_encoding: 'UTF8' }]],
    ['explain (costs off) select 1', [{ 'QUERY PLAN': 'Result' }]],
    ['select 1 as n where false', []],
  ])('reads at most as many rows as it may: %s', async (statement, rows) => {
    expect(await readOnlyQuery(warehouse, statement, { mostRows: 2 })).toMatchObject({ rows });
  });

  it.each([
    ['select 1; delete from sluice_ops.leases', 'The query contains several statements; allowed is one.'],
    [
      'with gone as (delete from sluice_ops.leases returning name) select * from gone',
      'The query would change data: it has a data-modifying statement in WITH.',
    ],
    ['select public.writing()', 'The query would change data: cannot execute INSERT in a read-only transaction.'],
  ])('that reads some rows changes nothing either: %s', async (statement, message) => {
    await expect(readOnlyQuery(warehouse, statement, { mostRows: 2 })).rejects.toMatchObject({ exitCode: 2, message });
  });

  it.each([{}, { mostRows: 2 }])('refuses a parameter, which nothing gives a value, with %j', async (options) => {
    await expect(readOnlyQuery(warehouse, 'select $1::int', options)).rejects.toMatchObject({
      exitCode: 2,
      message: 'The query has a parameter such as $1, to which nothing gives a value.',
    });
  });

  it('gives every column a name of its own, whatever it is called', async () => {
    const { columns, rows } = await readOnlyQuery(warehouse, 'select 1 as a, 2 as a, 3 as a_2, 4 as "__proto__"');
    expect(columns).toEqual(['a', 'a_2', 'a_2_2', '__proto__']);
    expect(JSON.stringify(rows)).toBe('[{"a":1,"a_2":2,"a_2_2":3,"__proto__":4}]');
  });

  it.each([
    ['9007199254740991::bigint', 9007199254740991],
    ['9007199254740993::bigint', '9007199254740993'],
    ['sum(9007199254740993)', '9007199254740993'],
    ['1.50::numeric', 1.5],
    ['123456789012345678.5::numeric', '123456789012345678.5'],
    ['-0.001::numeric', -0.001],
    ['0.00::numeric', 0],
    ['1e-400::numeric', `0.${'0'.repeat(399)}1`],
    [`'NaN'::numeric`, 'NaN'],
    ['0.1::float8', 0.1],
    [`'Infinity'::float8`, 'Infinity'],
    ['true', true],
    ['null', null],
    [`'2024-02-29 01:02:03.456789+02'::timestamptz`, '2024-02-28T23:02:03.456789Z'],
    [`'2024-02-29 01:02:03'::timestamp`, '2024-02-29T01:02:03'],
    [`'2024-02-29'::date`, '2024-02-29'],
    [`'{"a": 9007199254740993, "b": 1.5}'::jsonb`, { a: '9007199254740993', b: 1.5 }],
    [`array[1, null]::bigint[]`, [1, null]],
    [`array[array['a'], array['b']]`, [['a'], ['b']]],
    [`'\\x00ff'::bytea`, '\\x00ff'],
    [`'1 day'::interval`, '1 day'],
  ])('has %s as JSON can hold it', async (expression, value) => {
    expect((await readOnlyQuery(warehouse, `select ${expression} as value`)).rows).toEqual([{ value }]);
  });

  it.each([
    ['with a as (select 1 as one) select * from a', [{ one: 1 }]],
    [' -- one\n /* two /* three */ select */ ((select 1 as one)) ;', [{ one: 1 }]],
    ['VALUES (1)', [{ column1: 1 }]],
    ['table leases', 'relation "leases" does not exist'],
    ['show transaction_read_only', [{ transaction_read_only: 'on' }]],
  ])('may be %s', async (statement, result) => {
    const work = readOnlyQuery(warehouse, statement).then(({ rows }) => rows);
    if (typeof result === 'string') await expect(work).rejects.toThrow(result);
    else expect(await work).toEqual(result);
  });

  it('may explain', async () => {
    expect((await readOnlyQuery(warehouse, 'explain select 1')).columns).toEqual(['QUERY PLAN']);
  });

  const refusals = [
    '',
    '-- nothing',
    ';',
    `insert into sluice_ops.leases values ('written', 'me', 1, now(), now())`,
    'update sluice_ops.leases set token = 2',
    'delete from sluice_ops.leases',
    'truncate sluice_ops.leases',
    'drop table sluice_ops.leases',
    'with gone as (delete from sluice_ops.leases returning *) select * from gone',
    'select * into sluice_ops.copied from sluice_ops.leases',
    'create table sluice_ops.copied as select 1',
    'explain analyze delete from sluice_ops.leases',
    'explain (analyze) with gone as (delete from sluice_ops.leases returning *) select * from gone',
    'select public.writing()',
    `select set_config('transaction_read_only', 'off', true), public.writing()`,
    `select set_config('transaction_read_only', 'off', false)`,
    'select * from sluice_ops.leases for update',
    `select nextval('sluice_ops.runs_id_seq')`,
    'commit; drop table sluice_ops.leases',
    'select 1; drop table sluice_ops.leases',
    'select 1; commit; delete from sluice_ops.leases',
    'commit',
    'rollback',
    'begin',
    'end',
    'set transaction read write',
    'set session characteristics as transaction read write',
    'set role postgres',
    'reset role',
    `copy (select 1) to program 'touch /tmp/sluice-was-here'`,
    `copy sluice_ops.leases from program 'echo'`,
    `copy sluice_ops.leases to '/tmp/sluice-was-here'`,
    'do $$ begin delete from sluice_ops.leases; end $$',
    'call public.writing()',
    'prepare p as delete from sluice_ops.leases',
    'lock table sluice_ops.leases',
    'vacuum',
    'listen x',
    'grant all on sluice_ops.leases to public',
    '/* select */ delete from sluice_ops.leases',
    '/* /* */ select */ delete from sluice_ops.leases',
    '; delete from sluice_ops.leases',
    `select pg_read_file('/etc/passwd')`,
    `select pg_catalog."pg_read_file"('PG_VERSION')`,
    `select U&"pg\\005fread_file"('PG_VERSION')`,
    `select pg_read_binary_file('PG_VERSION')`,
    `select pg_ls_dir('.')`,
    `select lo_import('/etc/passwd')`,
    `select query_to_xml('select pg_read_file(''PG_VERSION'')', true, false, '')`,
    `select set_config('role', 'none', true), pg_read_file('PG_VERSION')`,
    `select ts_rewrite('a'::tsquery, $q$select case when pg_catalog.set_$q$ || $q$config('role','none',true) is null
       then 'x'::tsquery else 'a'::tsquery end, 'b'::tsquery$q$) as step1,
       ts_rewrite('a'::tsquery, $q$select 'a'::tsquery, quote_literal(pg_read_file('PG_VERSION'))::tsquery$q$) as step2`,
    `explain (analyze) update pg_settings set setting = 'none' where name = 'role'`,
    `select * from crosstab('select 1')`,
    `with up as (select U&"set\\005fconfig"('role', 'none', true)) select * from up, query_to_xml('select 1', true, false, '')`,
  ];
  it.each(refusals)('that is %j is refused', async (statement) => {
    await expect(readOnlyQuery(warehouse, statement)).rejects.toThrow(UsageError);
    await expect(inParts(warehouse, statement)).rejects.toThrow(UsageError);
    const { rows } = await sql`select name, token from sluice_ops.leases`.execute(warehouse.db);
    expect(rows).toEqual([{ name: 'kept', token: '1' }]);
    const left = await sql`select from pg_class where relname = 'copied'`.execute(warehouse.db);
    expect(left.rows).toEqual([]);
  });

  it("as a superuser may not use a function of Postgres that runs text, unless a person saw that it doesn't", async () => {
    // Functions that run statements are not safe in parallel.
    const { rows } = await sql<{ name: string }>`select distinct proname as name from pg_proc
      where pronamespace = 'pg_catalog'::regnamespace and prokind = 'f' and proparallel <> 's'
        and proargtypes::oid[] && array['text', 'name', 'regclass', 'refcursor', 'cstring']::regtype[]::oid[]
        and has_function_privilege('pg_read_all_data', oid, 'execute')`.execute(warehouse.db);
    const others: string[] = [];
    for (const { name } of rows)
      await readOnlyQuery(warehouse, `select 1 as ${name}`).then(
        () => RUN_NO_TEXT.test(name) || others.push(name),
        () => undefined,
      );
    expect(rows.length).toBeGreaterThan(20);
    expect(others).toEqual([]);
  });

  it('in parts has the same rows, few in a part, and ends after the most', async () => {
    const statement = 'select g as number, null as nothing from generate_series(1, 250) g -- all';
    const all = await inParts(warehouse, statement);
    expect(all.map(({ rows }) => rows.length)).toEqual([1, 100, 100, 49]);
    expect(all.flatMap(({ rows }) => rows)).toEqual(Array.from({ length: 250 }, (_, at) => [at + 1, null]));
    const some = await inParts(warehouse, statement, 120);
    expect(some.map(({ rows }) => rows.length)).toEqual([1, 100, 19]);
    expect(
      (await inParts(warehouse, 'select 1 as a, 2 as a where false;')).map(({ columns, rows }) => [columns, rows]),
    ).toEqual([[['a', 'a_2'], []]]);
    expect((await inParts(warehouse, 'explain select 1', 1)).map(({ rows }) => rows.length)).toEqual([1]);
    expect((await inParts(warehouse, 'show transaction_read_only'))[0]?.rows).toEqual([['on']]);
  });

  it('in parts reports errors with their position in the statement', async () => {
    await expect(inParts(warehouse, 'select 1,\n  nonsense')).rejects.toMatchObject({
      exitCode: 2,
      message: 'The database refuses the query: column "nonsense" does not exist (line 2, column 3 of the query).',
    });
    await expect(inParts(warehouse, 'select 1; select 2')).rejects.toThrow('The query contains several statements');
    await expect(inParts(warehouse, 'select 1 / (g - 150) from generate_series(1, 200) g')).rejects.toThrow(
      'division by zero',
    );
  });

  it('that is refused leaves the connection able to write', async () => {
    await readOnlyQuery(warehouse, 'select nonsense').catch(() => undefined);
    const { rows } =
      await sql`select current_setting('transaction_read_only') as read_only, current_setting('search_path') as path`.execute(
        warehouse.db,
      );
    expect(rows).toEqual([{ read_only: 'off', path: expect.not.stringContaining('sluice') }]);
  });

  it('that is wrong says what the database says of it', async () => {
    await expect(readOnlyQuery(warehouse, 'select nonsense')).rejects.toMatchObject({
      exitCode: 2,
      message: 'The database refuses the query: column "nonsense" does not exist.',
      next: expect.any(String),
    });
    await expect(readOnlyQuery(warehouse, 'insert into x values (1)')).rejects.toMatchObject({
      message: 'A query must not begin with INSERT.',
      next: 'Begin with one of SELECT, WITH, VALUES, TABLE, SHOW, EXPLAIN.',
    });
    await expect(readOnlyQuery(warehouse, 'select 1; select 2')).rejects.toThrow(
      'The query contains several statements; allowed is one.',
    );
  });

  it.each(['select 1 \0', "select '\0'"])('with a NUL character is refused: %j', async (statement) => {
    await expect(readOnlyQuery(warehouse, statement)).rejects.toMatchObject({
      exitCode: 2,
      message: 'The query contains a NUL character, which Postgres does not accept.',
    });
  });

  it.each(['select pg_terminate_backend(0)', 'select PG_CATALOG."pg_cancel_backend"(0)'])(
    'does not end the work of others: %s',
    async (statement) => {
      await expect(readOnlyQuery(warehouse, statement)).rejects.toThrow(
        /^A query may not use pg_(?:terminate|cancel)_/,
      );
    },
  );

  it('is not begun when it is already too late', async () => {
    await expect(
      readOnlyQuery(warehouse, 'select 1', { signal: AbortSignal.abort(new Error('late')) }),
    ).rejects.toThrow('late');
  });

  it('is not run when it is given up before its connection is there', async () => {
    const stop = new AbortController();
    const work = readOnlyQuery(warehouse, 'select count(*) from (select generate_series(1, 100000000000)) g', {
      signal: stop.signal,
    });
    stop.abort(new Error('enough'));
    await expect(work).rejects.toThrow('enough');
    expect((await readOnlyQuery(warehouse, 'select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  if (kind === 'postgres') {
    it('is stopped when its time is up', async () => {
      await expect(readOnlyQuery(warehouse, 'select pg_sleep(60)', { timeoutMs: 50 })).rejects.toMatchObject({
        exitCode: 5,
        message: 'The query was stopped after 0.05 s.',
      });
    });

    it('is stopped when it is given up', async () => {
      const stop = new AbortController();
      const work = readOnlyQuery(warehouse, 'select pg_sleep(60)', { signal: stop.signal });
      const sleeping = () =>
        sql`select from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active' and wait_event = 'PgSleep'`.execute(
          warehouse.db,
        );
      while ((await sleeping()).rows.length === 0);
      stop.abort(new Error('enough'));
      await expect(work).rejects.toThrow('enough');
      while ((await sleeping()).rows.length > 0);
    });
  }
});

describe.each(['reset', 'cut', 'swallow'] as const)('a query whose connection is lost (%s)', (kind) => {
  /** A warehouse whose connection is lost when it sends a query with this text. */
  async function losing(said: string): Promise<Warehouse> {
    const server = new URL(inject('postgresUrl'));
    const proxy = await startProxy(server.href);
    onTestFinished(() => proxy.close());
    server.port = String(proxy.port);
    const warehouse = await openWarehouse({ url: new Secret(server.href), schema: 'sluice' }, realEffects);
    onTestFinished(() => warehouse.close());
    proxy.strike({ kind, at: { said, nth: 1 } });
    return warehouse;
  }

  it('is not called wrong', async () => {
    const error: unknown = await readOnlyQuery(await losing('lost'), `select 'lost'`).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(TransientError);
    expect(error).toMatchObject({ message: expect.stringMatching(/^The database could not run the query: /) });
  });

  it('is repeated where database work is', async () => {
    const warehouse = await losing('again');
    const retry = { sleep: async () => undefined, random: () => 0 };
    const { rows } = await retryTransient(() => readOnlyQuery(warehouse, `select 'again' as it`), retry);
    expect(rows).toEqual([{ it: 'again' }]);
  });
});

describe('the first word', () => {
  it.each([
    ['SELECT 1', 'select'],
    ['  ( ( select 1', 'select'],
    ['--x\nselect', 'select'],
    ['--x', ''],
    ['/* a */ /* b /* c */ d */ with', 'with'],
    ['/* a', ''],
    [';select', ';'],
    ['"select" 1', '"'],
    ['select/**/1', 'select'],
    ['selection', 'selection'],
    ['/*/ select */ delete', 'delete'],
  ])('of %j is %j', (statement, word) => {
    expect(firstWord(statement)).toBe(word);
  });
});
describe('the end of a statement', () => {
  it.each([
    ['select 1', 'select 1'],
    ['select 1 ; -- a; note\n/* and; /* another */ */ ; ', 'select 1'],
    ['select 1 -- a note;', 'select 1'],
    ["select '; -- no note'", "select '; -- no note'"],
    [`select 1 as "; -- it''s";`, `select 1 as "; -- it''s"`],
    [String.raw`select e'it\'; -- is' ;--`, String.raw`select e'it\'; -- is'`],
    ['select $$; -- no $ note$$;', 'select $$; -- no $ note$$'],
    ['select $a$; $b$ -- no note$a$; --$a$', 'select $a$; $b$ -- no note$a$'],
    ['select a$b$ from c; --$b$', 'select a$b$ from c'],
    ['select 1; select 2;', 'select 1; select 2'],
    ["select 'open;", "select 'open"],
  ])('leaves out what follows the last word of %j', (statement, text) => {
    expect(withoutEnd(statement)).toBe(text);
  });
});
