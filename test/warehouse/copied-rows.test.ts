/** Rows that are copied arrive as they are, whatever is in them; what the server refuses comes back as its error. */
import * as fc from 'fast-check';
import { CompiledQuery, sql } from 'kysely';
import { expect, it } from 'vitest';
import { copyInto, copyPrefix, copyText, type CopySet } from '../../src/warehouse/sql/copy.ts';
import { postgresWarehouses } from '../support/warehouse.ts';
import { errorCode } from '../../src/warehouse/sql/sql-states.ts';

const open = postgresWarehouses();
const NAMES = ['place', 'a "text"', 'is so', 'count'];

async function withTable() {
  const warehouse = await open();
  const { db, schema } = warehouse;
  await sql`create table ${sql.table(`${schema}.copied`)}
    ("place" integer primary key, "a ""text""" text, "is so" boolean, "count" bigint)`.execute(db);
  const copySets = (sets: readonly CopySet[]) =>
    db.executeQuery(CompiledQuery.raw(copyInto(schema, 'copied', NAMES), [copyText(sets)]));
  const copyAll = (rows: CopySet['rows']) => copySets([{ begin: '', rows }]);
  const all = async () =>
    (
      await sql<Record<string, unknown>>`
        select place::text, "a ""text""" as text, "is so"::text as flag, "count"::text as count
        from ${sql.table(`${schema}.copied`)} order by copied.place`.execute(db)
    ).rows;
  const empty = () => sql`truncate ${sql.table(`${schema}.copied`)}`.execute(db);
  return { warehouse, copySets, copyAll, all, empty };
}

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom('\\', '\t', '\n', '\r', 'N', '.', '"', '\v', '\u{feff}', 'é', '🙂'),
    maxLength: 6,
  }),
);
const anyRow = fc.tuple(
  fc.option(anyText),
  fc.option(fc.boolean()),
  fc.option(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n })),
);

it('copied rows arrive unchanged', async () => {
  const { copySets, all, empty } = await withTable();
  await fc.assert(
    fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 20 }), fc.nat({ max: 3 }), async (rows, inKey) => {
      const safe = rows.map(([text, flag, count]) => [text?.replaceAll('\0', '') ?? null, flag, count] as const);
      const expected = safe.map(([text, flag, count], place) => [
        place,
        text,
        flag,
        count === null ? null : String(count),
      ]);
      const { numAffectedRows } = await copySets(
        inKey === 0
          ? [{ begin: '', rows: expected }]
          : expected.map((row) => ({ begin: copyPrefix(row.slice(0, inKey)), rows: [row.slice(inKey)] })),
      );
      expect(numAffectedRows).toBe(BigInt(rows.length));
      expect(await all()).toEqual(
        safe.map(([text, flag, count], place) => ({
          place: String(place),
          text,
          flag: flag === null ? null : String(flag),
          count: count === null ? null : String(count),
        })),
      );
      await empty();
    }),
    { seed: 3, numRuns: 60 },
  );
});

it('copied rows that are refused report why, and leave the connection as it was', async () => {
  const { warehouse, copyAll, all } = await withTable();
  const refused = await copyAll([
    [1, 'a', true, 1],
    [1, 'b', true, 1],
  ]).catch((error: unknown) => error);
  expect(errorCode(refused)).toBe('23505');
  expect(errorCode(await copyAll([[1, 'a', true, 'many']]).catch((error: unknown) => error))).toBe('22P02');
  await warehouse.db.transaction().execute(async (tx) => {
    await tx.executeQuery(
      CompiledQuery.raw(copyInto(warehouse.schema, 'copied', NAMES), [
        copyText([{ begin: copyPrefix([2, 'c']), rows: [[null, 7]] }]),
      ]),
    );
    const { rows } = await sql<{
      n: string;
    }>`select count(*)::text as n from ${sql.table(`${warehouse.schema}.copied`)}`.execute(tx);
    expect(rows).toEqual([{ n: '1' }]);
  });
  expect(await all()).toEqual([{ place: '2', text: 'c', flag: null, count: '7' }]);
});

it('copied rows of many megabytes arrive', async () => {
  const { copyAll, all } = await withTable();
  const rows = Array.from({ length: 200 }, (_, place) => [place, 'x'.repeat(50_000), null, null]);
  await copyAll(rows);
  expect((await all()).map(({ text }) => String(text).length)).toEqual(rows.map(() => 50_000));
});

it('copied rows end with an error when the connection is lost meanwhile', async () => {
  const { warehouse, copyAll } = await withTable();
  const { db, schema } = warehouse;
  const holder = await db.startTransaction().execute();
  await sql`lock table ${sql.table(`${schema}.copied`)} in access exclusive mode`.execute(holder);
  const copying = copyAll([[1, 'a', true, 1]]).catch((error: unknown) => error);
  const waits = sql<{
    pid: number;
  }>`select pid from pg_stat_activity where datname = current_database() and query like 'copy %' and wait_event_type = 'Lock'`;
  let pid: number | undefined;
  while (pid === undefined) pid = (await waits.execute(db)).rows[0]?.pid;
  await sql`select pg_terminate_backend(${pid}::int)`.execute(db);
  expect(errorCode(await copying)).toBe('57P01');
  await holder.rollback().execute();
  await copyAll([[1, 'a', true, 1]]);
});
